package io.sash.spark.windows

import org.apache.spark.TaskContext
import org.apache.spark.sash.SparkInternals
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.SpecificInternalRow

import io.sash.spark.memory.TaskWindowMemory
import io.sash.spark.slots.SlotColumns

/**
 * The frames of one operator in one task: rows go in, sorted by partition key and order, and
 * the results of each row come out in `result`.
 */
private[spark] class WindowTask(program: WindowProgram, metrics: WindowMetrics) {
  private[this] val context = TaskContext.get()

  protected[this] val memory =
    new TaskWindowMemory(SparkInternals.taskMemoryManager(context), () => spill())
  protected[this] val frames: Array[SlidingFrame] = program.frames.map(_.create(memory)).toArray

  /** Number of rows of the present partition that have arrived. */
  protected[this] var arrived = 0L
  protected[this] var rows = 0L

  private[this] val key = program.key.map(SlotColumns(_)).orNull
  private[this] var started = false

  if (key != null) key.grow(1)

  /** The results of the row last emitted, by the order of the operator's window calls. */
  val result: InternalRow = new SpecificInternalRow(program.results)

  context.addTaskCompletionListener[Unit] { _ =>
    metrics.report(rows, frames.toIndexedSeq, memory)
    memory.release(memory.getUsed)
  }

  /** For frames that need no row after the current one: the results of `row` at once. */
  final def slide(row: InternalRow): Unit = {
    if (!belongs(row)) startPartition(row)
    val current = arrived
    arrived += 1
    rows += 1
    var i = 0
    while (i < frames.length) {
      val frame = frames(i)
      frame.arrive(row)
      frame.moveTo(current, arrived, ended = false)
      frame.lower(result)
      i += 1
    }
  }

  /** Whether `row` belongs to the present partition. */
  protected final def belongs(row: InternalRow): Boolean =
    started && (key == null || key.matches(0, row))

  protected final def startPartition(row: InternalRow): Unit = {
    if (key != null) key.lift(0, row)
    started = true
    arrived = 0L
    var i = 0
    while (i < frames.length) {
      frames(i).startPartition()
      i += 1
    }
  }

  protected def spill(): Unit = frames.foreach(_.page())
}
