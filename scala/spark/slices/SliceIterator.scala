package io.sash.spark.slices

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{DataType, LongType}

import io.sash.spark.slots.{SlotColumns, SlotProgram}

/** Reads an event's key and time, and finds its slot. */
private[slices] abstract class EventPlace(timeAt: Int) {
  final def timeOf(event: InternalRow): Long = event.getLong(timeAt)

  final def slotIn(slots: SliceSlots, event: InternalRow): Int =
    if (event.isNullAt(timeAt)) slots.drop() else slotOf(slots, event)

  protected def slotOf(slots: SliceSlots, event: InternalRow): Int

  /** The key of an event. The row is reused by the next call. */
  def keyOf(event: InternalRow): InternalRow

  /** The key of a slot, likewise. */
  def keyOf(slots: SliceSlots, slot: Int): InternalRow
}

/** For a key that is one BIGINT. */
private[slices] final class NumberedPlace(keyAt: Int, timeAt: Int) extends EventPlace(timeAt) {
  private[this] val key = new SpecificInternalRow(Seq(LongType))

  override protected def slotOf(slots: SliceSlots, event: InternalRow): Int =
    if (event.isNullAt(keyAt)) slots.slotOfNull(timeOf(event))
    else slots.slotOf(event.getLong(keyAt), timeOf(event))

  override def keyOf(event: InternalRow): InternalRow =
    numbered(event.isNullAt(keyAt), if (event.isNullAt(keyAt)) 0L else event.getLong(keyAt))

  override def keyOf(slots: SliceSlots, slot: Int): InternalRow =
    numbered(slots.isOfNull(slot), slots.numberOf(slot))

  private def numbered(isNull: Boolean, number: Long): InternalRow = {
    if (isNull) key.setNullAt(0) else key.setLong(0, number)
    key
  }
}

/** For a key of other or several columns. */
private[slices] final class KeyedPlace(project: UnsafeProjection, timeAt: Int)
    extends EventPlace(timeAt) {

  override protected def slotOf(slots: SliceSlots, event: InternalRow): Int =
    slots.slotOf(project(event), timeOf(event))

  override def keyOf(event: InternalRow): InternalRow = project(event)

  override def keyOf(slots: SliceSlots, slot: Int): InternalRow = slots.keyOf(slot)
}

/**
 * Combines the events of one task by slices, without whole-stage code.
 *
 * @param keys the types of the key's columns
 */
private[slices] final class SliceIterator(
    rows: Iterator[InternalRow],
    slots: SliceSlots,
    place: EventPlace,
    program: SlotProgram,
    keys: Seq[DataType]
) extends Iterator[InternalRow] {
  private[this] val memory = slots.memory
  private[this] val columns = SlotColumns(program).accountedBy(memory, program)
  private[this] val varies = columns.varies
  private[this] var most = Long.MaxValue // with more bytes of values, partials leave early
  columns.resizeTo(1)

  private[this] val cells = program.columns.map(_.dataType)
  private[this] val partial = new SpecificInternalRow(cells :+ LongType)
  private[this] val joined = new JoinedRow
  private[this] val output = UnsafeProjection.create((cells ++ (LongType +: keys)).toArray)

  private[this] var found: InternalRow = _ // the next row, if it is known
  private[this] var isAtEnd = false

  override def hasNext: Boolean = {
    if (found == null && !isAtEnd) found = find()
    found != null
  }

  override def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException("no more partials")
    val row = found
    found = null
    row
  }

  private def find(): InternalRow = {
    var row: InternalRow = null
    while (row == null && rows.hasNext) row = taken(rows.next())
    if (row == null) row = leaving()
    row
  }

  /** Combines an event. Gives a partial if its slice has no slot, or no memory; else null. */
  private def taken(event: InternalRow): InternalRow = {
    val slot = place.slotIn(slots, event)
    if (slot < 0) null
    else if (slot == 0) {
      columns.lift(0, event)
      output(row(0, place.timeOf(event), place.keyOf(event)))
    } else {
      if (slots.begins) {
        // `SliceSlots` has acquired their bytes already
        if (columns.capacity < slots.capacity) columns.resizeTo(slots.capacity)
        columns.lift(slot, event)
      } else {
        columns.lift(0, event)
        columns.combine(slot, slot, 0)
      }
      if (varies && isOver(event)) leavingEarly(slot) else null
    }
  }

  /** Whether the values of slots have more bytes than the task's memory grants. */
  private def isOver(event: InternalRow): Boolean =
    if (most < Long.MaxValue) columns.valueBytes > most
    else {
      if (!memory.turns.during(columns.fits())) {
        slots.fill()
        columns.lift(0, event) // so that `most` has room for an event in slot 0
        most = columns.valueBytes
      }
      false
    }

  /** The partial of a slot whose values have grown; the slot begins anew. */
  private def leavingEarly(slot: Int): InternalRow = {
    slots.leaveEarly()
    val partial = output(row(slot, slots.timeOf(slot), place.keyOf(slots, slot)))
    columns.identity(slot)
    partial
  }

  /** The partial of the next slot; null after the last. */
  private def leaving(): InternalRow = {
    val slot = slots.next()
    if (slot > 0) output(row(slot, slots.timeOf(slot), place.keyOf(slots, slot)))
    else {
      isAtEnd = true
      slots.close()
      null
    }
  }

  private def row(slot: Int, time: Long, key: InternalRow): InternalRow = {
    columns.save(slot, partial)
    partial.setLong(cells.length, time)
    joined(partial, key)
  }
}
