package io.sash.spark.slices

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.plans.physical.BroadcastMode
import org.apache.spark.sql.types.DataType

/**
 * Broadcasts the labels' keys and ranges as a [[SliceIndex]]. Its bytes are three UnsafeRows, so
 * that Spark knows the size of the broadcast.
 *
 * @param keys the types of the key's columns
 * @param limit the greatest size of the index in bytes
 */
private[slices] final case class SliceMode(keys: Seq[DataType], limit: Long)
    extends BroadcastMode {

  override def transform(rows: Array[InternalRow]): Array[InternalRow] =
    transform(rows.iterator, Some(rows.length.toLong))

  override def transform(
      rows: Iterator[InternalRow],
      sizeHint: Option[Long]
  ): Array[InternalRow] = new SliceIndexBuilder(keys, limit).build(rows)

  override def canonicalized: BroadcastMode = this
}
