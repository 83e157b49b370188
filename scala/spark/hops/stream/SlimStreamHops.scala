package io.sash.spark.hops.stream

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, TransformWithState}
import org.apache.spark.sql.catalyst.rules.Rule

import io.sash.spark.streams.plan.{FieldOf, OfBuckets}

/**
 * Moves a condition on keys below the hop windows, as Spark's optimizer does for an Aggregate.
 * From there, Spark moves it below the watermark, so that rows of other keys do not advance the
 * watermark.
 */
private[spark] object SlimStreamHops extends Rule[LogicalPlan] with PredicateHelper {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.transform {
    case filter @ Filter(condition, OfBuckets(stateful, hops: HopProcessor)) =>
      // conditions after a nondeterministic one must only see the rows that it keeps
      val (first, rest) = splitConjunctivePredicates(condition).span(_.deterministic)
      val below = first.map(c => c -> onKeys(c, stateful, hops.program))
      below.flatMap(_._2).reduceOption(And(_, _)).fold[LogicalPlan](filter) { ofKeys =>
        val fewer = stateful.copy(child = Filter(ofKeys, stateful.child))
        val above = below.collect { case (c, None) => c } ++ rest
        above.reduceOption(And(_, _)).fold[LogicalPlan](fewer)(Filter(_, fewer))
      }
  }

  /** Rewrites a condition on answers to the input rows; None if it reads more than keys. */
  private def onKeys(
      condition: Expression,
      stateful: TransformWithState,
      program: HopProgram
  ): Option[Expression] = {
    val keys = program.keys.map(stateful.child.output).toIndexedSeq
    val ofRows = condition.transform {
      case FieldOf(answers, i) if answers == stateful.outputObjAttr && i < keys.length => keys(i)
    }
    Option.when(
      ofRows.references.nonEmpty && ofRows.references.subsetOf(stateful.child.outputSet)
    )(ofRows)
  }
}
