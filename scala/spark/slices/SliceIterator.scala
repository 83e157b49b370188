package io.sash.spark.slices

import java.util.Arrays

import org.apache.spark.TaskContext
import org.apache.spark.sash.SparkInternals
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{DataType, LongType}

import io.sash.spark.base.{Metrics, TaskCounts}
import io.sash.spark.memory.TaskWindowMemory
import io.sash.spark.slots.{SlotColumns, SlotProgram}

/** The events that some label's range holds, as they are. */
private[slices] final class HeldEvents(
    rows: Iterator[InternalRow],
    find: FindSlice,
    metrics: Metrics
) extends Iterator[InternalRow] {
  private[this] val counts = SliceMetrics.counts()
  private[this] val index = find.index
  TaskContext.get().addTaskCompletionListener[Unit](_ => metrics.report(counts))

  private[this] var ahead: InternalRow = _

  override def hasNext: Boolean = {
    while (ahead == null && rows.hasNext) {
      val row = rows.next()
      counts(SliceMetrics.Events) += 1
      if (isHeld(row)) ahead = row else counts(SliceMetrics.Dropped) += 1
    }
    ahead != null
  }

  override def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException("no more events")
    val row = ahead
    ahead = null
    counts(SliceMetrics.OutputRows) += 1
    row
  }

  private def isHeld(row: InternalRow): Boolean = !index.isComplete || {
    val slice = find.sliceOf(row)
    slice >= 0 && index.isHeld(slice)
  }
}

/**
 * The events of one task, combined by slices. Each slice that has an event has a slot, as long as
 * the task has memory for slots and they pay; the events of other slices pass as partials of one
 * event, at once.
 *
 * @param keys the types of the key's columns
 */
private[slices] final class SliceIterator(
    rows: Iterator[InternalRow],
    find: FindSlice,
    program: SlotProgram,
    keys: Seq[DataType],
    context: TaskContext,
    metrics: Metrics
) extends Iterator[InternalRow] {
  import SliceIterator._

  private[this] val index = find.index
  private[this] val counts: TaskCounts = SliceMetrics.counts()
  private[this] val manager = SparkInternals.taskMemoryManager(context)
  private[this] val memory = new TaskWindowMemory(manager)

  /** What other operators of the task, above all the exchange, need to begin with. */
  private[this] val reserve = 2 * manager.pageSizeBytes

  private[this] val columns = SlotColumns(program).accountedBy(memory, program)
  private[this] val varies = columns.varies

  /** For each slice its slot, or 0 if it has none, or [[NotHeld]]. */
  private[this] var slotOf: Array[Int] = _

  // for each slot the time of an event in it, and the entry of its key
  private[this] var times = Array.emptyLongArray
  private[this] var entries = Array.emptyIntArray

  private[this] var last = 0 // the last slot; slot 0 is for an event on its way
  private[this] var isFull = false // whether no slice gets a slot any more
  private[this] var combined = 0L // events in slots
  private[this] var emitted = 0 // slots that have left

  private[this] val cells = program.columns.map(_.dataType)
  private[this] val partial = new SpecificInternalRow(cells :+ LongType)
  private[this] val joined = new JoinedRow
  private[this] val output = UnsafeProjection.create((cells ++ (LongType +: keys)).toArray)

  private[this] var found: InternalRow = _ // the next row, if it is known
  private[this] var isAtEnd = false

  context.addTaskCompletionListener[Unit] { _ =>
    counts(SliceMetrics.PeakMemory) = memory.peakBytes
    metrics.report(counts)
    memory.close()
  }

  memory.turns.during(start())

  private def start(): Unit = {
    if (index.isComplete && memory.tryAcquire(8 + index.slices * 4L)) {
      slotOf = new Array[Int](index.slices)
      var slice = 0
      while (slice < slotOf.length) {
        if (!index.isHeld(slice)) slotOf(slice) = NotHeld
        slice += 1
      }
    } else isFull = true
    columns.grow(1)
  }

  override def hasNext: Boolean = {
    if (found == null && !isAtEnd) found = find()
    found != null
  }

  override def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException("no more partials")
    val row = found
    found = null
    counts(SliceMetrics.OutputRows) += 1
    row
  }

  private def find(): InternalRow = {
    var row: InternalRow = null
    while (row == null && rows.hasNext) row = taken(rows.next())
    if (row == null) row = leaving()
    row
  }

  /** Combines an event; or gives its partial if its slice has no slot. */
  private def taken(event: InternalRow): InternalRow = {
    val read = counts(SliceMetrics.Events) + 1
    counts(SliceMetrics.Events) = read
    if ((read & 0xfff) == 0) SparkInternals.throwIfKilled(context)
    val slice = if (index.isComplete) find.sliceOf(event) else 0
    if (slice < 0 || index.isComplete && !isHeld(slice)) {
      counts(SliceMetrics.Dropped) += 1
      null
    } else {
      val slot = if (slotOf == null) 0 else slotOf(slice)
      if (slot > 0) {
        combine(slot, event)
        null
      } else if (!isFull && hasRoom()) {
        begin(slice, event)
        null
      } else single(event)
    }
  }

  private def isHeld(slice: Int): Boolean =
    if (slotOf == null) index.isHeld(slice) else slotOf(slice) != NotHeld

  private def begin(slice: Int, event: InternalRow): Unit = {
    last += 1
    slotOf(slice) = last
    times(last) = find.timeOf(event)
    entries(last) = find.entry
    columns.lift(last, event)
    combined += 1
    if (varies && !memory.turns.during(columns.fits())) isFull = true
  }

  private def combine(slot: Int, event: InternalRow): Unit = {
    columns.lift(0, event)
    columns.combine(slot, slot, 0)
    combined += 1
    if (varies && !isFull && !memory.turns.during(columns.fits())) isFull = true
  }

  /** Whether there is a free slot, or memory for more of them. */
  private def hasRoom(): Boolean = {
    if (last + 1 >= times.length) {
      val wanted = math.max(FirstSlots, 2 * times.length)
      if (pays && memory.turns.during(grows(wanted))) {
        times = Arrays.copyOf(times, wanted)
        entries = Arrays.copyOf(entries, wanted)
      } else isFull = true
    }
    !isFull
  }

  private def grows(wanted: Int): Boolean = {
    val more = wanted - times.length
    val ofPlaces = more * PlaceBytes
    val ofSlots = more.toLong * program.bytesPerSlot
    // so that the columns get theirs
    memory.tryAcquire(ofPlaces + ofSlots + reserve) && {
      memory.release(ofSlots + reserve)
      columns.grow(wanted)
      true
    }
  }

  /**
   * Whether slots pay. At first each event has a slice of its own, so that only many slots tell.
   */
  private def pays: Boolean =
    last < Sample || combined >= last * LeastEvents || index.slices < last * MostAhead

  /** The next slot; null after the last. */
  private def leaving(): InternalRow =
    if (emitted == last) {
      isAtEnd = true
      counts(SliceMetrics.Slices) = last
      memory.close()
      null
    } else {
      emitted += 1
      columns.save(emitted, partial)
      partial.setLong(cells.length, times(emitted))
      output(joined(partial, find.keyOf(entries(emitted))))
    }

  private def single(event: InternalRow): InternalRow = {
    counts(SliceMetrics.Single) += 1
    columns.lift(0, event)
    columns.save(0, partial)
    partial.setLong(cells.length, find.timeOf(event))
    output(joined(partial, find.keyOf(event)))
  }
}

private object SliceIterator {
  private val NotHeld = -1
  private val FirstSlots = 1024

  /** The bytes of a slot's time and entry. */
  private val PlaceBytes = 12L

  /** So many slots tell whether they pay. */
  private val Sample = 1 << 16

  /** The least number of events a slot, once there are many slots. */
  private val LeastEvents = 1.25

  /** With fewer slices for each slot, many of the events to come have a slot already. */
  private val MostAhead = 8L
}
