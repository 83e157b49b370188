package io.sash.spark.slices

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  SpecificInternalRow,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.types.LongType

/** Finds the slices of events in an index. */
private[slices] abstract class FindSlice(timeAt: Int) {
  private[this] var searched: SliceIndex = _

  /** Searches in this index from now on. */
  final def in(index: SliceIndex): Unit = searched = index

  final def index: SliceIndex = searched

  /** The entry of the key that was found last. */
  final var entry: Int = -1

  /** The number of an event's slice, which may not be held, or -1 if there is none. */
  final def sliceOf(event: InternalRow): Int =
    if (event.isNullAt(timeAt)) -1
    else {
      entry = entryOf(event)
      if (entry < 0) -1 else searched.sliceOf(entry, event.getLong(timeAt))
    }

  final def timeOf(event: InternalRow): Long = event.getLong(timeAt)

  protected def entryOf(event: InternalRow): Int

  /** The key of an event, which stays as it is until the next call. */
  def keyOf(event: InternalRow): InternalRow

  /** The key of an entry, likewise. */
  def keyOf(entry: Int): InternalRow
}

/** Finds slices by a key that is a BIGINT. */
private[slices] final class FindByNumber(keyAt: Int, timeAt: Int) extends FindSlice(timeAt) {
  private[this] val key = new SpecificInternalRow(Seq(LongType))

  override protected def entryOf(event: InternalRow): Int =
    if (event.isNullAt(keyAt)) index.entryOfNull else index.entryOf(event.getLong(keyAt))

  override def keyOf(event: InternalRow): InternalRow = {
    if (event.isNullAt(keyAt)) key.setNullAt(0) else key.setLong(0, event.getLong(keyAt))
    key
  }

  override def keyOf(entry: Int): InternalRow = {
    if (index.isOfNull(entry)) key.setNullAt(0) else key.setLong(0, index.numberOf(entry))
    key
  }
}

/** Finds slices by a key of other columns. */
private[slices] final class FindByRow(project: UnsafeProjection, columns: Int, timeAt: Int)
    extends FindSlice(timeAt) {
  private[this] val key = new UnsafeRow(columns)

  override protected def entryOf(event: InternalRow): Int = index.entryOf(project(event))

  override def keyOf(event: InternalRow): InternalRow = project(event)

  override def keyOf(entry: Int): InternalRow = {
    index.pointTo(entry, key)
    key
  }
}
