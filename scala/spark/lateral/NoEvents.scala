package io.sash.spark.lateral

import scala.util.Try

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._

/**
 * Aggregates without GROUP BY, for a label without events. Spark joins labels with existing
 * groups, and gives a label without a group each aggregate's default result, or NULL. Over no
 * rows, some aggregates would have another answer, such as an empty sketch.
 */
private[lateral] object NoEvents {
  import OneGroup.{countOf, made}

  /** The expression with such aggregates replaced by NULL for a label without events. */
  def over(e: Expression): Expression = e match {
    case call: AggregateExpression if answers(call.aggregateFunction) =>
      val isEmpty = made(EqualTo(made(countOf), Literal(0L)))
      made(If(isEmpty, Literal(null, call.dataType), call))
    case other => other.mapChildren(over)
  }

  /** Whether an aggregate without a default result has an answer over no rows. */
  private def answers(f: AggregateFunction): Boolean = f match {
    case t: TypedImperativeAggregate[_] if f.defaultResult.isEmpty =>
      val typed = t.asInstanceOf[TypedImperativeAggregate[AnyRef]]
      Try(typed.eval(typed.createAggregationBuffer())).fold(_ => true, _ != null)
    case other: ImperativeAggregate => other.defaultResult.isEmpty // a user's, for one
    case _                          => false
  }
}
