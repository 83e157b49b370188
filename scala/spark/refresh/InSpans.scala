package io.sash.spark.refresh

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.types.BooleanType

/** Whether any span of a key meets a range of time. Both ends belong to spans and range. */
private[refresh] object InSpans {

  /**
   * @param from the least time of the range
   * @param until the greatest
   * @param firsts the first times of the key's spans, in order; no two spans meet
   * @param lasts their last times, in order
   */
  def apply(
      from: Expression,
      until: Expression,
      firsts: Expression,
      lasts: Expression
  ): Expression =
    StaticInvoke(InSpans.getClass, BooleanType, "meet", Seq(from, until, firsts, lasts))

  /**
   * Generated code calls this. Of the spans that begin in time, the last one is the one that ends
   * last.
   */
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
