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
 * Gives slots to slices in one task. Each slice that has an event has a slot, as long as the task
 * has memory for slots and they pay; the events of other slices are alone.
 *
 *  - (S1) slot 0 is for events that are alone
 *  - (S2) the slots from 1 to `last` have one slice each, with the time of an event in it
 *  - (S3) an event of no label may be alone; no other event is left out
 *  - (S4) the task's memory has the bytes of slots and of the values in them, but for the last
 *    value. Where there is no more, a slot whose values grow further sends its partial on
 *
 * @param columns the number of the key's columns
 * @param combining none if all events are alone
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

  /** What other operators of the task, above all the exchange, need to begin with. */
  private[this] val reserve = 2 * manager.pageSizeBytes

  private[this] val isComplete = index.isComplete

  /** For each slice its slot, or 0 if it has none; null without memory for it. */
  private[this] var slotOfSlice: Array[Int] = _

  // for each slot the time of an event in it, and the entry of its key
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

  /** The number of slots for which there is room, with slot 0. */
  def capacity: Int = times.length

  /** Whether the slot of the last event holds nothing yet. */
  def begins: Boolean = began

  /** No slice gets a slot any more. */
  def fill(): Unit = isFull = true

  private[this] var values = 0L
  private[this] var granted = 0L

  /** Counts a change in the size of values that vary in size. */
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

  /** Whether the values of slots have more bytes than memory, so that a partial has to leave. */
  def isOver: Boolean = values > granted

  /** Counts a partial that leaves before the last event, and whose slot begins anew. */
  def leaveEarly(): Unit = early += 1

  /** The slot of an event; 0 if it is alone, -1 if it is of no label. */
  def slotOf(key: Long, time: Long): Int = {
    if (passes()) aside() else placed(index.entryOf(key), time)
  }

  /** Likewise, for the key NULL of numbers. */
  def slotOfNull(time: Long): Int = {
    if (passes()) aside() else placed(index.entryOfNull, time)
  }

  /** Likewise, for a key of several columns. */
  def slotOf(key: UnsafeRow, time: Long): Int = {
    if (passes()) aside() else placed(index.entryOf(key), time)
  }

  /** Counts an event; whether it is alone without a look. */
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
    // most events are of no label, and the bits of slices lie closer together than their slots
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

  /** Whether there is a free slot, or memory for more of them. */
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
   * Whether slots pay. Where events lie in no order, nearly each has a slice of its own at first.
   * So only many slots tell, and only if the task has too few events for all slices.
   */
  private def pays: Boolean =
    last < Sample || events - dropped >= last * combining.get.leastEvents || isFilling

  /** Whether many of the events to come have a slot already. */
  private def isFilling: Boolean = index.slices < last * MostAhead ||
    index.slices * combining.get.leastEvents <= combining.get.eventsInTask

  /** Moves to the next slot; 0 after the last. */
  def next(): Int =
    if (emitted == last) 0
    else {
      emitted += 1
      emitted
    }

  def timeOf(slot: Int): Long = times(slot)

  /** Whether a slot's key is NULL, for numbers. */
  def isOfNull(slot: Int): Boolean = index.isOfNull(entries(slot))

  def numberOf(slot: Int): Long = index.numberOf(entries(slot))

  /** The key of a slot, which stays as it is until the next call. */
  def keyOf(slot: Int): UnsafeRow = {
    index.pointTo(entries(slot), key)
    key
  }

  /** Gives back all memory and counts. A second call does nothing. */
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

  /** Some more bytes than are needed, to ask less often. */
  private val ValueStep = 256L * 1024

  /** So many slots tell whether they pay. */
  private val Sample = 1 << 16

  /** Where there are fewer slices for each slot, events begin to meet slots. */
  private val MostAhead = 8L

  /**
   * How events are combined.
   *
   * @param slotBytes the bytes of a slot's cells, without values that vary in size
   * @param leastEvents the least number of events a slot, once there are many slots
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
