package io.sash.spark.windows

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.types._

import io.sash.spark.base.TimeUnit
import io.sash.spark.kinds.SlidingAggregate

/** Tells whether an answer can depend on the order of rows that tie in a window's ORDER BY. */
private[spark] object Ties {

  /**
   * False only if the frame moves by whole groups of peers, and the aggregate is exact in any
   * order.
   */
  def areSeenBy(window: WindowExpression): Boolean = {
    val shape = WindowShape.of(window)
    val isBlind = shape.frame.movesByPeers && shape.slide.isEmpty &&
      (window.windowFunction match {
        case call: AggregateExpression =>
          isExact(SlidingAggregate.withoutWindows(call).aggregateFunction)
        case _ => false
      })
    !isBlind
  }

  def areSeenIn(expressions: Seq[Expression]): Boolean =
    WindowCall.windowsIn(expressions).exists(areSeenBy)

  /**
   * Whether the aggregate gives the same bits for any order of its inputs. An average of integers
   * does as long as all sums stay below 2^53, since Spark adds them as doubles. Beyond, its last
   * bits may differ, as they may between Sash and Spark.
   */
  def isExact(f: AggregateFunction): Boolean = f match {
    case _: Count                   => true
    case s: Sum                     => !isFloat(s.child.dataType)
    case a: Average                 => !isFloat(a.child.dataType)
    case m: Max                     => areTwins(m.child.dataType)
    case m: Min                     => areTwins(m.child.dataType)
    case _: BitAndAgg | _: BitOrAgg => true
    case _: BitXorAgg               => true
    case _                          => false
  }

  private def isFloat(dataType: DataType): Boolean =
    dataType == DoubleType || dataType == FloatType

  /**
   * Whether equal values of the type have equal bytes. False for floats, since 0.0 equals -0.0,
   * and for strings of some collations.
   */
  def areTwins(dataType: DataType): Boolean = dataType match {
    case s: StringType                                     => UnsafeRowUtils.isBinaryStable(s)
    case BooleanType | TimeUnit(_) | BinaryType            => true
    case _: YearMonthIntervalType | _: DayTimeIntervalType => true
    case n: NumericType                                    => !isFloat(n)
    case s: StructType                                     => s.forall(f => areTwins(f.dataType))
    case _                                                 => false
  }
}
