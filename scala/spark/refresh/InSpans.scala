package io.sash.spark.refresh

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.types.BooleanType

/** Whether a span of a key overlaps a range of time. Spans and the range include their ends. */
private[refresh] object InSpans {

  /**
   * @param from the least time of the range
   * @param until the greatest time of the range
   * @param firsts the first times of the key's spans, in order; no two spans overlap
   * @param lasts the last times of these spans, in order
   */
  def apply(
      from: Expression,
      until: Expression,
      firsts: Expression,
      lasts: Expression
  ): Expression =
    StaticInvoke(InSpans.getClass, BooleanType, "meet", Seq(from, until, firsts, lasts))

  /**
   * Generated code calls this. Among the spans that begin by `until`, the last one has the
   * greatest end. So one binary search is enough.
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
