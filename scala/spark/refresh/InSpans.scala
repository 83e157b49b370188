package io.sash.spark.refresh

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.types.BooleanType

/** Whether a range of time meets one of a key's spans. Spans and range include both ends. */
private[refresh] object InSpans {

  /**
   * @param from the least time of the range
   * @param until the greatest time of the range
   * @param ends the first and the last time of each of the key's spans, as [[JoinedSpans]] has
   *   them
   */
  def apply(from: Expression, until: Expression, ends: Expression): Expression =
    StaticInvoke(InSpans.getClass, BooleanType, "meet", Seq(from, until, ends))

  /**
   * Generated code calls this. Among the spans that begin by `until`, the last one ends last, so
   * that it alone is compared with `from`. Cost: O(log n) for n spans.
   */
  def meet(from: Long, until: Long, ends: ArrayData): Boolean = {
    var low = 0
    var high = ends.numElements() / 2
    while (low < high) {
      val middle = (low + high) >>> 1
      if (ends.getLong(2 * middle) <= until) low = middle + 1 else high = middle
    }
    low > 0 && ends.getLong(2 * low - 1) >= from
  }
}
