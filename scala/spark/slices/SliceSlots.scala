package io.sash.spark.slices

import java.util.Arrays

import org.apache.spark.TaskContext
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sash.SparkInternals
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import io.sash.spark.base.Metrics
import io.sash.spark.memory.TaskWindowMemory

/**
 * Assigns slots to slices in one task. A slice gets a slot with its first event, as long as the
 * task has memory for more slots and slots pay. An event whose slice has no slot passes alone, as
 * a partial of its own.
 *
 *  - (S1) slot 0 is for events that pass alone
 *  - (S2) each slot from 1 to `last` belongs to one slice, and has the time of an event in it
 *  - (S3) an event in no label's range may pass alone; any other event is never dropped
 *  - (S4) the bytes of slots and of the values in them are acquired from the task's memory, but
 *    for the last value. If there is no more memory, a slot whose values grow emits its partial
 *
 * @param columns the number of the key's columns
 * @param combining none if events are only dropped, never combined
 */
private[slices] final class SliceSlots(
    index: SliceIndex,
    columns: Int,
    combining: Option[SliceSlots.Combining],
    context: TaskContext,
    metrics: Metrics
) {
  import SliceSlots._

  private[this] val counts = SliceMetrics.counts()
  private[this] val manager = SparkInternals.taskMemoryManager(context)

  val memory: TaskWindowMemory = new TaskWindowMemory(manager)

  /** In bytes: the first need of the task's other operators, above all of the exchange. */
  private[this] val reserve = 2 * manager.pageSizeBytes

  private[this] val isComplete = index.isComplete

  /** The slot of each slice, or 0 if it has none; null without memory for this array. */
  private[this] var slotOfSlice: Array[Int] = _

  // for each slot: the time of an event in it, and the index entry of its key
  private[this] var times = new Array[Long](1)
  private[this] var entries = new Array[Int](1)

  private[this] var isFull = false
  private[this] var last = 0
  private[this] var began = false
  private[this] var events = 0L
  private[this] var dropped = 0L
  private[this] var alone = 0L
  private[this] var early = 0L
  private[this] var emitted = 0
  private[this] val key = new UnsafeRow(columns)
  private[this] val sieve = new Sieve

  context.addTaskCompletionListener[Unit](_ => close())

  memory.turns.during {
    if (combining.nonEmpty && isComplete && memory.tryAcquire(8 + index.slices * 4L))
      slotOfSlice = new Array[Int](index.slices)
    else isFull = true
  }

  /** The number of slots for which there is room, slot 0 included. */
  def capacity: Int = times.length

  /** Whether the last event is the first one of its slot. */
  def begins: Boolean = began

  /** From now on, no more slices get a slot. */
  def fill(): Unit = isFull = true

  private[this] var values = 0L
  private[this] var granted = 0L

  /** Accounts for a change, in bytes, of the values that vary in size. */
  def grew(bytes: Long): Unit = {
    values += bytes
    if (values > granted && !isFull) {
      if (memory.turns.during(memory.tryAcquire(values - granted + ValueStep)))
        granted = values + ValueStep
      else {
        isFull = true
        granted = values
      }
    }
  }

  /**
   * Whether the values have more bytes than were granted, so that a partial has to be emitted.
   */
  def isOver: Boolean = values > granted

  /** Counts a partial that is emitted before the last event; its slot begins anew. */
  def leaveEarly(): Unit = early += 1

  /** The slot of an event: 0 if it passes alone, -1 if no label's range holds it. */
  def slotOf(key: Long, time: Long): Int = {
    if (passes()) aside() else placed(index.entryOf(key), time)
  }

  /** Likewise, if keys are numbers and the event's key is NULL. */
  def slotOfNull(time: Long): Int = {
    if (passes()) aside() else placed(index.entryOfNull, time)
  }

  /** Likewise, for a key of several columns. */
  def slotOf(key: UnsafeRow, time: Long): Int = {
    if (passes()) aside() else placed(index.entryOf(key), time)
  }

  /** Counts an event. True if it passes alone without a look-up. */
  private def passes(): Boolean = {
    events += 1
    isFull && (!isComplete || sieve.rests())
  }

  /** Counts an event without a time. */
  def drop(): Int = {
    dropped += 1
    events += 1
    -1
  }

  private def placed(entry: Int, time: Long): Int = {
    val slice = if (entry < 0) -1 else index.sliceOf(entry, time)
    // most events are in no range, and a bit per slice meets fewer cache lines than a slot number
    if (slice < 0 || !index.isHeld(slice)) {
      dropped += 1
      -1
    } else if (slotOfSlice == null) pass()
    else {
      val slot = slotOfSlice(slice)
      if (slot > 0) {
        began = false
        slot
      } else if (!isFull && hasRoom()) {
        last += 1
        slotOfSlice(slice) = last
        times(last) = time
        entries(last) = entry
        began = true
        last
      } else pass()
    }
  }

  private def pass(): Int = {
    sieve.pass()
    aside()
  }

  private def aside(): Int = {
    alone += 1
    began = true
    0
  }

  /** Whether there is a free slot; if not, tries to acquire memory for more. */
  private def hasRoom(): Boolean = {
    if (last + 1 >= times.length) {
      SparkInternals.throwIfKilled(context)
      val wanted = math.max(FirstSlots, 2 * times.length)
      if (pays && memory.turns.during(grows(wanted))) {
        times = Arrays.copyOf(times, wanted)
        entries = Arrays.copyOf(entries, wanted)
      } else isFull = true
    }
    !isFull
  }

  private def grows(wanted: Int): Boolean = {
    val more = (wanted - times.length).toLong
    val ofSlots = more * combining.get.slotBytes
    // the words of all slots are one array
    val fits = wanted.toLong * combining.get.slotBytes / 8 < Int.MaxValue - 8
    fits && memory.tryAcquire(more * PlaceBytes + ofSlots + reserve) && {
      memory.release(reserve)
      true
    }
  }

  /**
   * Whether slots pay. If events come in no order, nearly each of the first events meets a slice
   * without a slot. So the verdict waits for `SliceSlots.Sample` slots, and it counts only if
   * the task has too few events to fill all slices.
   */
  private def pays: Boolean =
    last < Sample || events - dropped >= last * combining.get.leastEvents || isFilling

  /** Whether many of the coming events will meet a slot. */
  private def isFilling: Boolean = index.slices < last * MostAhead ||
    index.slices * combining.get.leastEvents <= combining.get.eventsInTask

  /** Moves to the next slot to emit; 0 after the last one. */
  def next(): Int =
    if (emitted == last) 0
    else {
      emitted += 1
      emitted
    }

  def timeOf(slot: Int): Long = times(slot)

  /** Whether a slot's key is NULL, if keys are numbers. */
  def isOfNull(slot: Int): Boolean = index.isOfNull(entries(slot))

  def numberOf(slot: Int): Long = index.numberOf(entries(slot))

  /** The key of a slot. The row is reused by the next call. */
  def keyOf(slot: Int): UnsafeRow = {
    index.pointTo(entries(slot), key)
    key
  }

  /** Releases all memory and reports the metrics. A second call does nothing. */
  def close(): Unit = if (times != null) {
    slotOfSlice = null
    times = null
    entries = null
    counts(SliceMetrics.Events) = events
    counts(SliceMetrics.Dropped) = dropped
    counts(SliceMetrics.Slices) = last
    counts(SliceMetrics.Single) = alone
    counts(SliceMetrics.OutputRows) = emitted + alone + early
    counts(SliceMetrics.PeakMemory) = memory.peakBytes
    metrics.report(counts)
    memory.close()
  }
}

private[slices] object SliceSlots {
  private val FirstSlots = 1024

  /** The bytes of a slot's time and entry. */
  private val PlaceBytes = 12L

  /** The bytes acquired beyond the need, so that slots ask for memory less often. */
  private val ValueStep = 256L * 1024

  /** The number of slots after which their worth is judged. */
  private val Sample = 1 << 16

  /** With fewer slices than this for each slot, coming events begin to meet slots. */
  private val MostAhead = 8L

  /**
   * How events are combined.
   *
   * @param slotBytes the bytes of a slot's cells, without values that vary in size
   * @param leastEvents the least number of events per slot, once there are many slots
   * @param eventsInTask the estimated number of events in a task
   */
  final case class Combining(
      slotBytes: Int,
      leastEvents: Double,
      eventsInTask: Long
  )

  /** Makes the slots of a task, over an index that was broadcast. */
  final class Factory(
      index: Broadcast[Array[InternalRow]],
      columns: Int,
      combining: Option[SliceSlots.Combining],
      metrics: Metrics
  ) extends Serializable {
    def create(): SliceSlots =
      new SliceSlots(SliceIndex(index.value), columns, combining, TaskContext.get(), metrics)
  }
}
