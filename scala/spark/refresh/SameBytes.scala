package io.sash.spark.refresh

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback

/**
 * Whether two values of one type have the same bytes, where NULL is a value as any other. Equal
 * values may have different ones, such as 0.0 and -0.0, or texts of a collation. Values of any
 * type can be compared, also those that have no order.
 */
private[refresh] final case class SameBytes(left: Expression, right: Expression)
    extends BinaryExpression
    with Predicate
    with CodegenFallback {
  @transient private lazy val ofLeft = UnsafeProjection.create(Seq(left))
  @transient private lazy val ofRight = UnsafeProjection.create(Seq(right))

  override def nullable: Boolean = false

  override def eval(row: InternalRow): Any = ofLeft(row) == ofRight(row)

  override protected def withNewChildrenInternal(l: Expression, r: Expression): SameBytes =
    copy(left = l, right = r)
}
