package io.sash.spark.lateral

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.util.{ArrayData, GenericArrayData}
import org.apache.spark.sql.types.{ArrayType, DataType, StructType}

/**
 * Merges two sorted lists, and keeps the first n elements. An element is a struct of a row and
 * its keys. Among equal elements, the left list's come first. Cost: O(n) comparisons.
 *
 * @param orders for each key, the direction, and whether NULLs come first or last
 */
private[lateral] final case class MergedRows(
    left: Expression,
    right: Expression,
    orders: Seq[(SortDirection, NullOrdering)],
    n: Int
) extends BinaryExpression {
  override def prettyName: String = "merged_rows"
  override def dataType: DataType = left.dataType
  override def nullIntolerant: Boolean = true

  @transient private lazy val merge = {
    val fields = dataType.asInstanceOf[ArrayType].elementType.asInstanceOf[StructType]
    new MergedRows.Merge(
      fields.length,
      fields.tail.zip(orders).zipWithIndex.map { case ((field, (direction, nulls)), i) =>
        SortOrder(BoundReference(i + 1, field.dataType, nullable = true), direction, nulls, Nil)
      },
      n
    )
  }

  override protected def nullSafeEval(older: Any, younger: Any): Any =
    merge.of(older.asInstanceOf[ArrayData], younger.asInstanceOf[ArrayData])

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val operation = ctx.addReferenceObj("merge", merge)
    defineCodeGen(ctx, ev, (older, younger) => s"$operation.of($older, $younger)")
  }

  override protected def withNewChildrenInternal(l: Expression, r: Expression): MergedRows =
    copy(left = l, right = r)
}

private[lateral] object MergedRows {

  /** @param width the number of fields of an element */
  final class Merge(width: Int, orders: Seq[SortOrder], n: Int) extends Serializable {
    @transient private lazy val ordering: Ordering[InternalRow] = RowOrdering.create(orders, Nil)

    def of(left: ArrayData, right: ArrayData): ArrayData = {
      val (ofLeft, ofRight) = (left.numElements(), right.numElements())
      val merged = new Array[Any](math.min(n, ofLeft + ofRight))
      var l = 0
      var r = 0
      while (l + r < merged.length) {
        val isLeft = r >= ofRight || (l < ofLeft && isFirst(left, l, right, r))
        merged(l + r) = if (isLeft) left.getStruct(l, width) else right.getStruct(r, width)
        if (isLeft) l += 1 else r += 1
      }
      new GenericArrayData(merged)
    }

    private def isFirst(left: ArrayData, l: Int, right: ArrayData, r: Int): Boolean =
      ordering.compare(left.getStruct(l, width), right.getStruct(r, width)) <= 0
  }
}
