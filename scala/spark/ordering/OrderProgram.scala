package io.sash.spark.ordering

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.LongType

/**
 * The expressions by which a task orders its rows.
 *
 * @param keys the partition keys; without any, all rows have one key
 * @param within the order of a key's rows
 */
private[spark] final case class OrderProgram(
    keys: Seq[Expression],
    within: RowOrder
) {
  private def keyOrder: KeyOrder = KeyOrder(keys, within.order)

  def keyProjection(): UnsafeProjection =
    UnsafeProjection.create(if (keys.isEmpty) Seq(Literal(0)) else keys, within.input)

  /** An ordering in which two rows are equal if and only if their keys are equal. */
  def keyOrdering(): Ordering[InternalRow] =
    RowOrdering.create(keyOrder.sortedKeys, within.input)

  /** Spark's order of the same rows: by keys, and then by `within`. */
  def whole: RowOrder = within.copy(order = keyOrder.sorted)
}

/**
 * The hash and the sort prefix of an arriving row. One projection computes both.
 */
private[spark] final class RowDigest(program: OrderProgram) {
  private[this] val sortPrefix = program.within.prefix
  private[this] val digest = new SpecificInternalRow(Seq(LongType, LongType))
  private[this] val project = MutableProjection
    .create(Seq(new XxHash64(program.keys), sortPrefix), program.within.input)
    .target(digest)
  private[this] val prefixOfNull = sortPrefix.nullValue

  def read(row: UnsafeRow): Unit = project(row)

  /** The hash of the row's key. */
  def hash: Long = digest.getLong(0)

  /** Whether the first sort column is NULL. */
  def isNull: Boolean = digest.isNullAt(1)

  /** The sort prefix, which the order compares first. */
  def prefix: Long = if (isNull) prefixOfNull else digest.getLong(1)
}
