package io.sash.spark.hops

import org.apache.spark.sql.catalyst.expressions.aggregate._

import io.sash.spark.monoids.{AggregateMonoid, Refusal}
import io.sash.spark.multisets.{MovingAggregate, PaneMultiset, WindowMonoid}

/** The form in which panes keep an aggregate, and the reasons why they cannot keep others. */
private[spark] object PaneCalls {

  /**
   * The call in the form that panes keep. A `MovingAggregate` replaces an aggregate of DISTINCT
   * inputs, and an aggregate whose answer is not made from partials, such as a median.
   */
  def of(call: AggregateExpression): AggregateExpression =
    if (call.isDistinct || call.aggregateFunction.isInstanceOf[ImperativeAggregate])
      MovingAggregate.of(call.aggregateFunction, call.isDistinct).fold(call) { moving =>
        call.copy(aggregateFunction = moving, isDistinct = false)
      }
    else call

  /** The monoid of a call, with partials in slots. Left, with the reason, if there is none. */
  def monoid(call: AggregateExpression): Either[Refusal, AggregateMonoid] =
    call.aggregateFunction match {
      case m: MovingAggregate => Right(PaneMultiset.monoid(m.runningAnswer, call.filter))
      case _                  => WindowMonoid.of(call)
    }

  /** The reason, if panes cannot keep a call, which is in the form of `of`. */
  def refusal(call: AggregateExpression): Option[String] = {
    val name = call.aggregateFunction.prettyName
    call.aggregateFunction match {
      case _ if call.isDistinct => monoid(call).left.toOption.map(_.reason)
      case _: First | _: Last   => Some(ofArrival(name))
      case _ if isApproximate(name) =>
        Some(s"$name would give another approximation where panes are merged")
      case m: MovingAggregate if m.runningAnswer.isInvertible   => None
      case MovingAggregate(_: Collect[_] | _: ListAgg, _, _, _) => Some(ofArrival(name))
      case _: MovingAggregate =>
        Some(s"$name would have to go through all values of each window again")
      case _ => monoid(call).left.toOption.map(_.reason)
    }
  }

  private def ofArrival(name: String) = s"$name depends on the order in which rows arrive"

  /**
   * Whether merging panes would change a function's approximation. Functions are listed by name,
   * since some versions lack some of them. `approx_count_distinct` is not listed, since its
   * sketch does not depend on the order of rows.
   */
  private def isApproximate(name: String): Boolean =
    Set("percentile_approx", "approx_percentile", "histogram_numeric").contains(name) ||
      Seq("approx_top_k", "hll_", "kll_", "theta_", "tuple_").exists(name.startsWith)
}
