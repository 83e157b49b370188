package io.sash.spark.plan

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.types._

import io.sash.spark.base.{SashConf, TimeUnit}
import io.sash.spark.base.ArgumentChecks.isInterval
import io.sash.spark.base.TimeUnit.{Day, Micro}
import io.sash.spark.times.ConstantInterval

/**
 * Gives both bounds of a RANGE frame one type if they are intervals in different units, as in
 * `INTERVAL 1 HOUR PRECEDING AND INTERVAL 2 SECOND PRECEDING`. Spark refuses such a frame. If
 * Spark would refuse the frame with one type, too, it stays as it is and gets Spark's own error.
 */
private[spark] final case class CommonBounds(session: SparkSession) extends Rule[LogicalPlan] {
  import CommonBounds._

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!SashConf.enabled(session)) plan
    else
      plan.resolveExpressions {
        case spec @ WindowSpecDefinition(
              _,
              Seq(order),
              frame @ SpecifiedWindowFrame(RangeFrame, lower, upper)
            ) if order.resolved && isConstant(lower) && isConstant(upper) =>
          commonType(order.dataType, lower.dataType, upper.dataType).fold(spec) { common =>
            spec.copy(frameSpecification =
              frame.copy(lower = cast(lower, common), upper = cast(upper, common))
            )
          }
      }
}

private[spark] object CommonBounds {
  private def isConstant(bound: Expression): Boolean =
    bound.resolved && bound.foldable && !bound.isInstanceOf[SpecialFrameBoundary]

  /** None if the two types are equal, or if Spark cannot add such an interval to the order. */
  private def commonType(order: DataType, lower: DataType, upper: DataType): Option[DataType] =
    (order, lower, upper) match {
      case (_, l, u) if l == u => None
      case (TimeUnit(Day | Micro), _: YearMonthIntervalType, _: YearMonthIntervalType) =>
        Some(YearMonthIntervalType())
      case (TimeUnit(Micro), _: DayTimeIntervalType, _: DayTimeIntervalType) =>
        Some(DayTimeIntervalType())
      case (TimeUnit(Micro), l, u) if isInterval(l) && isInterval(u) => Some(CalendarIntervalType)
      case _                                                         => None
    }

  /**
   * The bound in another type. Keeps a minus sign, from which the frame's text gets PRECEDING.
   */
  private def cast(bound: Expression, to: DataType): Expression = bound match {
    case minus @ UnaryMinus(distance, _) => minus.withNewChildren(Seq(literal(distance, to)))
    case distance                        => literal(distance, to)
  }

  private def literal(distance: Expression, to: DataType): Expression =
    if (to == CalendarIntervalType) ConstantInterval.of(distance).fold(distance)(Literal(_))
    else Literal(distance.eval(), to)
}
