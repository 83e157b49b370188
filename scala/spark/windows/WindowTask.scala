package io.sash.spark.windows

import org.apache.spark.TaskContext
import org.apache.spark.sash.SparkInternals
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BasePredicate, SpecificInternalRow}

import io.sash.spark.base.Metrics
import io.sash.spark.memory.{Spillable, TaskWindowMemory, Turns}
import io.sash.spark.slots.SlotColumns

/**
 * The frames of one operator in one task. Rows enter with each key's rows together and in order,
 * and `result` has the results of the current row. Between two rows, another thread of the task
 * may move the frames to disk.
 */
private[spark] class WindowTask(
    program: WindowProgram,
    metrics: Metrics,
    neighbours: Neighbours
) extends Spillable {

  /** The constructor that generated code calls. */
  def this(program: WindowProgram, metrics: Metrics) = this(program, metrics, Neighbours.None)

  protected[this] val context: TaskContext = TaskContext.get()

  protected[this] val memory = TaskWindowMemory.of(context, program.kept)
  protected[this] val turns: Turns = memory.turns

  /** Null after the last row has left. */
  protected[this] var frames: SlidingFrames = createFrames()

  /** The number of rows of the current partition that have arrived. */
  protected[this] var arrived = 0L

  /** The number of rows that got results. */
  private[this] var rows = 0L

  private[this] val key = program.key.map(SlotColumns(_)).orNull
  private[this] var started = false

  if (key != null) key.grow(1)

  /** The results computed last, in the order of the operator's window calls. */
  val result: InternalRow = new SpecificInternalRow(program.results)

  /**
   * Moves the frames to `row` at once, for frames without rows after the current one.
   *
   * @param isAsked whether to compute the results of `row`
   */
  final def slide(row: InternalRow, isAsked: Boolean): Unit = {
    SparkInternals.throwIfKilled(context)
    turns.take()
    try {
      if (!belongs(row)) startPartition(row)
      val current = arrived
      arrived += 1
      frames.arrive(row)
      frames.moveTo(current, arrived, ended = false)
      if (isAsked) lower(row, current)
    } finally turns.end()
  }

  /** Computes the results of a row, after all frames have moved to its number `current`. */
  protected final def lower(row: InternalRow, current: Long): Unit = {
    frames.lower(row, current, result)
    rows += 1
  }

  /** Releases all memory, after the last row has left. */
  final def finish(): Unit = memory.close()

  /** Whether `row` belongs to the current partition. */
  protected final def belongs(row: InternalRow): Boolean =
    started && (key == null || key.matches(0, row))

  protected final def startPartition(row: InternalRow): Unit = {
    if (key != null) key.lift(0, row)
    started = true
    memory.windows = this
    arrived = 0L
    frames.startPartition()
  }

  /** Whether older rows of other tasks still have to enter before this task's first row. */
  private[this] var isToBegin = neighbours != Neighbours.None

  /** Lets the older rows of other tasks enter. Later calls do nothing. */
  final def begin(): Unit = if (isToBegin) {
    isToBegin = false
    neighbours.older.foreach(_.fold(enter, enterOlder))
    begun()
  }

  /** Called when the older rows of other tasks have entered. */
  protected def begun(): Unit = ()

  protected final def enter(row: InternalRow): Unit = inTurn {
    if (!belongs(row)) startPartition(row)
    frames.arrive(row)
    arrived += 1
  }

  protected final def enter(total: Total): Unit = inTurn {
    if (!belongs(total.last)) startPartition(total.last)
    frames.arrive(total)
    arrived += 1
  }

  private def enterOlder(total: Total): Unit = {
    enter(total)
    inTurn(frames.omit(total.rows - 1))
  }

  private def inTurn(step: => Unit): Unit = {
    SparkInternals.throwIfKilled(context)
    turns.during(step)
  }

  override def spill(): Long = {
    val before = memory.getUsed
    frames.page()
    before - memory.getUsed
  }

  override def close(): Unit = {
    val counts = WindowMetrics.counts()
    counts(WindowMetrics.OutputRows) = rows
    counts(WindowMetrics.Combines) = frames.operations
    counts(WindowMetrics.Evictions) = frames.evictions
    counts(WindowMetrics.PeakWindowRows) = frames.peakRows
    counts(WindowMetrics.PeakMemory) = memory.peakBytes
    counts(WindowMetrics.SpillSize) = memory.spilledBytes
    metrics.report(counts)
    frames = null
  }

  private def createFrames(): SlidingFrames =
    turns.during(program.create(memory))
}

/**
 * Runs frames without rows after the current one, without whole-stage code.
 *
 * @param filter whether a row gets results and is part of the output
 * @param answer makes the output row from the input row and its results
 */
private[spark] final class ImmediateWindows(
    program: WindowProgram,
    metrics: Metrics,
    input: Iterator[InternalRow],
    filter: BasePredicate,
    answer: (InternalRow, InternalRow) => InternalRow,
    neighbours: Neighbours = Neighbours.None
) extends Iterator[InternalRow] {
  private[this] val task = new WindowTask(program, metrics, neighbours)
  private[this] var following: InternalRow = _

  override def hasNext: Boolean = {
    task.begin()
    while (following == null && input.hasNext) advance()
    val more = following != null
    if (!more) task.finish()
    more
  }

  private def advance(): Unit = {
    val row = input.next()
    val isAsked = filter.eval(row)
    task.slide(row, isAsked)
    if (isAsked) following = answer(row, task.result)
  }

  override def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException("no more rows")
    val row = following
    following = null
    row
  }
}
