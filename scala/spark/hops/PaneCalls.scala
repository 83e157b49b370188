package io.sash.spark.hops

import org.apache.spark.sql.catalyst.expressions.aggregate._

import io.sash.spark.monoids.{AggregateMonoid, Refusal}
import io.sash.spark.multisets.{MovingAggregate, PaneMultiset, WindowMonoid}

/** In which form panes keep an aggregate, and why Spark's own operators answer others. */
private[spark] object PaneCalls {

  /**
   * The call in the form that panes keep. A `MovingAggregate` stands for an aggregate of DISTINCT
   * inputs, and for an answer that is not made from partials, such as a median.
   */
  def of(call: AggregateExpression): AggregateExpression =
    if (call.isDistinct || call.aggregateFunction.isInstanceOf[ImperativeAggregate])
      MovingAggregate.of(call.aggregateFunction, call.isDistinct).fold(call) { moving =>
        call.copy(aggregateFunction = moving, isDistinct = false)
      }
    else call

  /** The monoid of a call with its partials in slots, or the reason why there is none. */
  def monoid(call: AggregateExpression): Either[Refusal, AggregateMonoid] =
    call.aggregateFunction match {
      case m: MovingAggregate => Right(PaneMultiset.monoid(m.runningAnswer, call.filter))
      case _                  => WindowMonoid.of(call)
    }

  /** The reason why panes keep nothing for a call in its form, if so. */
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
   * Whether merging panes would change a function's approximation. Functions are known by name,
   * since not every version has all of them. `approx_count_distinct` is none: its sketch does not
   * depend on the order of rows.
   */
  private def isApproximate(name: String): Boolean =
    Set("percentile_approx", "approx_percentile", "histogram_numeric").contains(name) ||
      Seq("approx_top_k", "hll_", "kll_", "theta_", "tuple_").exists(name.startsWith)
}
