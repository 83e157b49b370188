package io.sash.spark.ordering

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.LongType

/**
 * What a task needs to hand rows out one key at a time, in order.
 *
 * @param keys the partition keys; rows without any are of one key
 * @param within the order of a key's rows
 */
private[spark] final case class OrderProgram(
    keys: Seq[Expression],
    within: RowOrder
) {
  private def keyOrder: KeyOrder = KeyOrder(keys, within.order)

  def keyProjection(): UnsafeProjection =
    UnsafeProjection.create(if (keys.isEmpty) Seq(Literal(0)) else keys, within.input)

  /** An order in which rows of the same key are equal, and no others. */
  def keyOrdering(): Ordering[InternalRow] =
    RowOrdering.create(keyOrder.sortedKeys, within.input)

  /** Spark's own order of the same rows. */
  def whole: RowOrder = within.copy(order = keyOrder.sorted)
}

/** What a row is placed by as it arrives: one projection computes all of it. */
private[spark] final class RowDigest(program: OrderProgram) {
  private[this] val sortPrefix = program.within.prefix
  private[this] val digest = new SpecificInternalRow(Seq(LongType, LongType))
  private[this] val project = MutableProjection
    .create(Seq(new XxHash64(program.keys), sortPrefix), program.within.input)
    .target(digest)
  private[this] val prefixOfNull = sortPrefix.nullValue

  def read(row: UnsafeRow): Unit = project(row)

  /** Of the row's key. */
  def hash: Long = digest.getLong(0)

  /** Whether the first sort column is NULL. */
  def isNull: Boolean = digest.isNullAt(1)

  /** By which the order compares first. */
  def prefix: Long = if (isNull) prefixOfNull else digest.getLong(1)
}
