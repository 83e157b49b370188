package io.sash.spark.slots

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  CodeGeneratorWithInterpretedFallback,
  SpecificInternalRow
}
import org.apache.spark.sql.types.LongType

import io.sash.core.slots.{Invertible, Keys, Selective, SlotCodec}
import io.sash.spark.memory.WindowMemory

/**
 * The slots of a [[SlotProgram]]: partial aggregates, order keys or a partition key. Each program
 * has a generated subclass, which implements only the operations of that program.
 */
private[sash] abstract class SlotColumns extends Invertible with Selective with Keys {
  import SlotColumns.ValueStep

  private[this] var memory: WindowMemory = WindowMemory.Unlimited
  private[this] var program: SlotProgram = _
  private[this] var slots = 0
  private[this] var called = 0L
  private[this] var values = 0L
  private[this] var granted = 0L // bytes granted for values and answers

  /** Accounts the slots' memory to `memory` from now on. Before, it is not accounted. */
  final def accountedBy(memory: WindowMemory, program: SlotProgram): this.type = {
    this.memory = memory
    this.program = program
    this
  }

  private[this] var states = Array.empty[RunningState]

  /** Running answer number `index`, which is kept beside the slots. */
  final def running(index: Int): RunningState = states(index)

  private[slots] final def answers: Array[RunningState] = states

  /** Gives the slots their running answers. Moving the slots does not change the answers. */
  private[spark] final def answeredBy(states: Array[RunningState]): this.type = {
    this.states = states
    this
  }

  private[this] var row: InternalRow = _

  /** Whether `lower` depends on the current row. */
  final def isOfRow: Boolean = program != null && program.isOfRow

  /** The row for which `lower` answers, if results depend on it. */
  final def current: InternalRow = row

  /** Sets the row for which `lower` answers from now on. */
  def answersFor(row: InternalRow): Unit = this.row = row

  final def capacity: Int = slots

  /** True, since an exception ends the task and with it all its windows. */
  override final def total: Boolean = true

  /** The number of calls of combine, subtract and selectsRight so far. */
  def operations: Long = called

  /** Counts one operation: combine, subtract and selectsRight have to call it. */
  final def count(): Unit = called += 1

  /** Counts several combines, for an operation that combines several times. */
  final def count(combines: Int): Unit = called += combines

  /** Grows in memory. If the task gets no memory, the slots move to disk and grow there. */
  override def grow(wanted: Int): SlotColumns =
    if (wanted <= slots) {
      this
    } else if (acquired(wanted - slots)) {
      resizeTo(wanted)
      this
    } else {
      page().grow(wanted)
    }

  /**
   * Whether values vary in size or there are running answers. Then `fits` must be called after
   * `lift`.
   */
  final def varies: Boolean =
    program != null && (program.varying.nonEmpty || program.running.nonEmpty)

  /** The current size of the running answers. */
  protected final def answerBytes: Long = {
    var sum = 0L
    var i = 0
    while (i < states.length) {
      sum += states(i).bytes
      i += 1
    }
    sum
  }

  /** The current size of the values of varying size. */
  final def valueBytes: Long = values

  /**
   * Counts a change in the size of the values of varying size. Each operation that writes them
   * has to call it.
   */
  final def valuesChanged(before: Long, after: Long): Unit = values += after - before

  /**
   * Acquires memory for values of varying size and for running answers, or releases it. Returns
   * false if the task gets none. Then the caller has to move the slots by `page`.
   */
  def fits(): Boolean = {
    val held = values + answerBytes
    if (held > granted) {
      val wanted = held - granted
      // some more, to ask less often
      val got = Seq(wanted + ValueStep, wanted).find(memory.tryAcquire)
      got.foreach(granted += _)
      got.nonEmpty
    } else {
      if (granted - held > 4 * ValueStep) {
        memory.release(granted - held)
        granted = held
      }
      true
    }
  }

  /** Moves the slots to disk, except a few resident pages, and releases their memory. */
  def page(): SlotColumns = {
    val bytes = if (slots == 0) 0L else program.bytesPerSlot + values / slots
    val paged = PagedSlots.of(this, fresh(), memory, bytes)
    memory.release(slots.toLong * program.bytesPerSlot + granted)
    granted = 0L
    values = 0L
    resizeTo(0)
    paged
  }

  override def shrink(wanted: Int): Unit = if (wanted < slots) {
    if (varies) {
      var slot = wanted
      while (slot < slots) {
        valuesChanged(valueBytesOf(slot), 0L)
        slot += 1
      }
      fits()
    }
    if (program != null) memory.release((slots - wanted).toLong * program.bytesPerSlot)
    resizeTo(wanted)
  }

  /** Encodes slots of this program as bytes. */
  private[spark] def codec: RowCodec = new RowCodec(types)

  /** Encodes slots in few bytes, if all columns allow it, for storage. */
  private[spark] def compactCodec: SlotCodec =
    if (types.forall(CompactCodec.fits)) new CompactCodec(types) else codec

  private def types = program.columns.map(_.dataType).toIndexedSeq

  private def acquired(more: Int): Boolean =
    program == null || memory.tryAcquire(more.toLong * program.bytesPerSlot)

  private[spark] final def resizeTo(wanted: Int): Unit = {
    resize(wanted)
    slots = wanted
  }

  /** A new instance of the same class, without slots. */
  protected[spark] def fresh(): SlotColumns

  /** Resizes the arrays to exactly `slots` slots, and keeps the slots that fit. */
  protected def resize(slots: Int): Unit

  def identity(dst: Int): Unit = undefined("identity")

  /** The size of a slot's values of varying size. */
  protected def valueBytesOf(slot: Int): Long = 0L

  protected final def valueBytesOf(first: Int, last: Int): Long = {
    var sum = 0L
    var slot = first
    while (slot <= last) {
      sum += valueBytesOf(slot)
      slot += 1
    }
    sum
  }

  /** `dst <- lift(row)`. Copies the objects of `row` that it keeps. */
  def lift(dst: Int, row: InternalRow): Unit

  def combine(dst: Int, left: Int, right: Int): Unit = undefined("combine")

  def subtract(dst: Int, whole: Int, oldest: Int): Unit = undefined("subtract")

  def selectsRight(left: Int, right: Int): Boolean = undefined("selectsRight")

  /** Writes the slot's results into `out`, at the ordinals of the program. */
  final def lower(slot: Int, out: InternalRow): Unit = lower(0, slot, out)

  /** Writes the slot's results at the ordinals of one range. */
  def lower(range: Int, slot: Int, out: InternalRow): Unit = undefined("lower")

  /** `dst <- keyShifts(which)(src)` */
  def shift(which: Int, dst: Int, src: Int): Unit = undefined("shift")

  /** Compares two slots by the program's `keyOrder`. */
  def compare(left: Int, right: Int): Int = undefined("compare")

  def matches(slot: Int, row: InternalRow): Boolean = undefined("matches")

  /** Whether the program's condition on a slot is true. NULL counts as false. */
  override def holds(slot: Int): Boolean = undefined("holds")

  private[this] lazy val number = new SpecificInternalRow(Seq(LongType))

  /** The program's only result, a BIGINT. */
  override final def width(slot: Int): Long = {
    lower(slot, number)
    number.getLong(0)
  }

  /** Writes the cells of a slot into `out`, a row of the program's columns. */
  def save(slot: Int, out: InternalRow): Unit

  /** Reads the cells of a slot from `in`, as `save` wrote them, and copies their objects. */
  def load(dst: Int, in: InternalRow): Unit

  private def undefined(operation: String): Nothing =
    throw new IllegalStateException(s"the slot program defines no $operation")
}

/**
 * Compiles a program. Falls back to interpretation under the same settings as Spark's
 * projections.
 */
private[sash] object SlotColumns
    extends CodeGeneratorWithInterpretedFallback[SlotProgram, SlotColumns] {
  private val ValueStep = 64L * 1024

  def apply(program: SlotProgram): SlotColumns =
    createObject(program).answeredBy(program.running.map(_.create()).toArray)

  override protected def createCodeGeneratedObject(program: SlotProgram): SlotColumns =
    SlotCodegen.compile(program)

  override protected def createInterpretedObject(program: SlotProgram): SlotColumns =
    new InterpretedSlots(program)
}
