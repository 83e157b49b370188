package io.sash.spark.slices

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.plans.physical.BroadcastMode
import org.apache.spark.sql.types.DataType

/**
 * Broadcasts the labels' keys and ranges as the bytes of a [[SliceIndex]]: three rows, whose size
 * Spark accounts.
 *
 * @param keys the types of the key's columns
 * @param limit the most bytes
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
