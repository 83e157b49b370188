package io.sash.spark.slots

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.CodeGeneratorWithInterpretedFallback

import io.sash.core.slots.{Invertible, Keys, Selective, SlotCodec}
import io.sash.spark.memory.WindowMemory

/**
 * Slots of a [[SlotProgram]]: partial aggregates, order keys or a partition key. A subclass is
 * generated for each program and implements just the operations that the program defines.
 */
private[sash] abstract class SlotColumns extends Invertible with Selective with Keys {
  import SlotColumns.ValueStep

  private[this] var memory: WindowMemory = WindowMemory.Unlimited
  private[this] var program: SlotProgram = _
  private[this] var slots = 0
  private[this] var called = 0L
  private[this] var values = 0L
  private[this] var granted = 0L // of them

  /** Says whose memory `grow` takes; until then it is not accounted. */
  final def accountedBy(memory: WindowMemory, program: SlotProgram): this.type = {
    this.memory = memory
    this.program = program
    this
  }

  private[this] var states = Array.empty[RunningState]

  /** The running answer of this number, beside the slots. */
  final def running(index: Int): RunningState = states(index)

  private[slots] final def answers: Array[RunningState] = states

  /** Gives the slots their running answers, which stay the same wherever the slots move. */
  private[spark] final def answeredBy(states: Array[RunningState]): this.type = {
    this.states = states
    this
  }

  final def capacity: Int = slots

  /** An exception ends the task, and its windows with it. */
  override final def total: Boolean = true

  /** Calls of combine, subtract and selectsRight so far. */
  def operations: Long = called

  /** Has to be called by each of the three. */
  final def count(): Unit = called += 1

  /** Has to be called by operations that combine several times. */
  final def count(combines: Int): Unit = called += combines

  /** Grows in memory, or, where the task has none to give, moves to disk. */
  override def grow(wanted: Int): SlotColumns =
    if (wanted <= slots) {
      this
    } else if (acquired(wanted - slots)) {
      resizeTo(wanted)
      this
    } else {
      page().grow(wanted)
    }

  /** Whether what is held varies in size, so that `fits` has to be asked after a `lift`. */
  final def varies: Boolean =
    program != null && (program.varying.nonEmpty || program.running.nonEmpty)

  /** What the running answers take now. */
  protected final def answerBytes: Long = {
    var sum = 0L
    var i = 0
    while (i < states.length) {
      sum += states(i).bytes
      i += 1
    }
    sum
  }

  /** What the values of varying size take now. */
  final def valueBytes: Long = values

  /** Has to be called when such values come and go, with the bytes that they took. */
  final def valuesChanged(before: Long, after: Long): Unit = values += after - before

  /**
   * Takes memory for what values of varying size and running answers have come to, or gives it
   * back. The answer is false where the task has none to give: then the slots have to move by
   * `page`.
   */
  def fits(): Boolean = {
    val held = values + answerBytes
    if (held > granted) {
      val wanted = held - granted
      // some more, so as not to ask for each value
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

  /** Moves the slots to disk, but for a few resident pages, and gives their memory back. */
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

  /** Turns slots of this program into bytes and back. */
  private[spark] def codec: RowCodec = new RowCodec(types)

  /** The same in few bytes, for what is stored. */
  private[spark] def compactCodec: SlotCodec =
    if (types.forall(CompactCodec.fits)) new CompactCodec(types) else codec

  private def types = program.columns.map(_.dataType).toIndexedSeq

  private def acquired(more: Int): Boolean =
    program == null || memory.tryAcquire(more.toLong * program.bytesPerSlot)

  private[spark] final def resizeTo(wanted: Int): Unit = {
    resize(wanted)
    slots = wanted
  }

  /** A new, empty instance of the same class. */
  protected[spark] def fresh(): SlotColumns

  /** Makes the arrays hold exactly `slots` slots and keeps what fits. */
  protected def resize(slots: Int): Unit

  def identity(dst: Int): Unit = undefined("identity")

  /** What the values of varying size in a slot take. */
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

  /** `dst <- lift(row)`; keeps copies of what `row` points to. */
  def lift(dst: Int, row: InternalRow): Unit

  def combine(dst: Int, left: Int, right: Int): Unit = undefined("combine")

  def subtract(dst: Int, whole: Int, oldest: Int): Unit = undefined("subtract")

  def selectsRight(left: Int, right: Int): Boolean = undefined("selectsRight")

  /** Writes the results of the slot into `out`, at the ordinals that the program names. */
  final def lower(slot: Int, out: InternalRow): Unit = lower(0, slot, out)

  /** The same, at the ordinals of one range of several. */
  def lower(range: Int, slot: Int, out: InternalRow): Unit = undefined("lower")

  /** `dst <- keyShifts(which)(src)` */
  def shift(which: Int, dst: Int, src: Int): Unit = undefined("shift")

  /** Compares two slots by the program's `keyOrder`. */
  def compare(left: Int, right: Int): Int = undefined("compare")

  def matches(slot: Int, row: InternalRow): Boolean = undefined("matches")

  /** Whether the program's condition on a slot is true; NULL is not. */
  def holds(slot: Int): Boolean = undefined("holds")

  /** Writes the cells of a slot into `out`, a row of the program's columns. */
  def save(slot: Int, out: InternalRow): Unit

  /** Reads the cells of a slot from `in`, as `save` wrote them; keeps copies. */
  def load(dst: Int, in: InternalRow): Unit

  private def undefined(operation: String): Nothing =
    throw new IllegalStateException(s"the slot program defines no $operation")
}

/** Compiles a program; falls back to interpretation as Spark's own projections do. */
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
