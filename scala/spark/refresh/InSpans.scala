package io.sash.spark.refresh

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.util.ArrayData

/**
 * Whether any span of a key meets a range of time. Both ends belong to spans and range.
 *
 * @param from the least time of the range
 * @param until the greatest
 * @param firsts the first times of the spans, of which no two meet, in order
 * @param lasts their last times, in order
 */
private[refresh] final case class InSpans(
    from: Expression,
    until: Expression,
    firsts: Expression,
    lasts: Expression
) extends QuaternaryExpression
    with Predicate {
  override def first: Expression = from
  override def second: Expression = until
  override def third: Expression = firsts
  override def fourth: Expression = lasts
  override def nullIntolerant: Boolean = true
  override def prettyName: String = "in_spans"

  override protected def nullSafeEval(from: Any, until: Any, firsts: Any, lasts: Any): Any =
    InSpans.meet(
      from.asInstanceOf[Long],
      until.asInstanceOf[Long],
      firsts.asInstanceOf[ArrayData],
      lasts.asInstanceOf[ArrayData]
    )

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val owner = InSpans.getClass.getName.stripSuffix("$")
    defineCodeGen(ctx, ev, (a, b, firsts, lasts) => s"$owner.meet($a, $b, $firsts, $lasts)")
  }

  override protected def withNewChildrenInternal(
      a: Expression,
      b: Expression,
      firsts: Expression,
      lasts: Expression
  ): InSpans = InSpans(a, b, firsts, lasts)
}

private[refresh] object InSpans {

  /** The last span that begins in time is the one that ends last of these. */
  def meet(from: Long, until: Long, firsts: ArrayData, lasts: ArrayData): Boolean = {
    var low = 0
    var high = firsts.numElements()
    while (low < high) {
      val middle = (low + high) >>> 1
      if (firsts.getLong(middle) <= until) low = middle + 1 else high = middle
    }
    low > 0 && lasts.getLong(low - 1) >= from
  }
}
