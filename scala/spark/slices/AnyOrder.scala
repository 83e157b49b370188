package io.sash.spark.slices

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.trees.TreePattern.{PLAN_EXPRESSION, PYTHON_UDF}

import io.sash.spark.monoids.{AggregateMonoid, MergedBuffers, MonoidTraits}
import io.sash.spark.multisets.WindowMonoid

/** Aggregates whose partials can be merged in any order. */
private[slices] object AnyOrder {

  /**
   * The partial of a call in a form that merges in any order; none if there is no such form.
   *
   * @param call an aggregate over the events' columns
   * @param time the event's time, by which the first and the last event are found
   */
  def partial(call: AggregateExpression, time: Expression): Option[SlicePartial] =
    timed(call, time)
      .filter(c => !c.isDistinct && c.deterministic && merges(c.aggregateFunction))
      // subqueries and Python UDFs run with the window, not below the exchange
      .filterNot(_.containsAnyPattern(PLAN_EXPRESSION, PYTHON_UDF))
      .flatMap(c => WindowMonoid.of(c).toOption.map(c -> _))
      .collect {
        case (c, monoid) if monoid.running.isEmpty && !monoid.grows =>
          val cells = monoid.left.map(a => AttributeReference("cell", a.dataType, a.nullable)())
          SlicePartial(monoid, lift(c, monoid), update(c, monoid), cells)
      }

  /**
   * The cells of one event. For an imperative aggregate they are an update of the empty partial.
   * The aggregate itself must not be in the expressions, or Spark would run the operator without
   * whole-stage code.
   */
  private def lift(call: AggregateExpression, monoid: AggregateMonoid): Seq[Expression] =
    call.aggregateFunction match {
      case f: ImperativeAggregate => Seq(updated(call, f, monoid.identity.head))
      case _                      => monoid.lift
    }

  private def updated(
      call: AggregateExpression,
      f: ImperativeAggregate,
      cell: Expression
  ): Expression = {
    val updated = MergedBuffers.updated(f, cell)
    call.filter.fold(updated)(condition => If(condition, updated, cell))
  }

  /** The aggregate's own update if its buffer has the same cells, else a lift and a combine. */
  private def update(call: AggregateExpression, monoid: AggregateMonoid): Seq[Expression] =
    call.aggregateFunction match {
      case f: DeclarativeAggregate
          if f.aggBufferAttributes.map(_.exprId) == monoid.left.map(_.exprId) =>
        call.filter.fold(f.updateExpressions) { condition =>
          f.updateExpressions.zip(monoid.left).map { case (u, cell) => If(condition, u, cell) }
        }
      case f: ImperativeAggregate => Seq(updated(call, f, monoid.left.head))
      case _                      => monoid.combineWith(monoid.lift)
    }

  /** Replaces `first` and `last` by `min_by` and `max_by` of the time. */
  private def timed(call: AggregateExpression, time: Expression): Option[AggregateExpression] =
    call.aggregateFunction match {
      case Last(value, skipsNulls)  => Some(by(call, MaxBy(value, time), value, skipsNulls))
      case First(value, skipsNulls) => Some(by(call, MinBy(value, time), value, skipsNulls))
      case _                        => Some(call)
    }

  private def by(
      call: AggregateExpression,
      function: AggregateFunction,
      value: Expression,
      skipsNulls: Boolean
  ): AggregateExpression = {
    val conditions = call.filter ++ Option.when(skipsNulls && value.nullable)(IsNotNull(value))
    call.copy(aggregateFunction = function, filter = conditions.reduceOption(And))
  }

  private def merges(function: AggregateFunction): Boolean = function match {
    case _: Sum | _: Count | _: Average | _: Max | _: Min | _: MaxBy | _: MinBy      => true
    case _: CentralMomentAgg | _: Covariance | _: PearsonCorrelation                 => true
    case _: RegrSlope | _: RegrIntercept | _: BitAndAgg | _: BitOrAgg | _: BitXorAgg => true
    case own: MonoidTraits      => own.commutes
    case f: ImperativeAggregate => Sketches(f.prettyName)
    case _                      => false
  }

  /**
   * Sketches whose merge is a union. They are listed by name, since some versions of Spark lack
   * some of their classes.
   */
  private val Sketches = Set(
    "approx_count_distinct",
    "hll_sketch_agg",
    "hll_union_agg",
    "theta_sketch_agg",
    "theta_union_agg",
    "count_min_sketch",
    "bitmap_construct_agg",
    "bitmap_or_agg"
  )
}
