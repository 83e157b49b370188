package io.sash.spark.streams.plan

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, First, Last}

import io.sash.spark.kinds.{DeltaWindow, PredicateWindow}
import io.sash.spark.times.KeyDistance
import io.sash.spark.windows.Extent

/**
 * The condition that bounds a window: while it does not hold, the oldest row leaves.
 *
 * @param of the aggregates that the condition reads
 * @param holds makes the condition from their answers
 * @param signature an expression that tells the condition from others
 */
private[streams] final case class StreamCondition(
    of: Seq[AggregateExpression],
    holds: Seq[Expression] => Expression,
    signature: Expression
)

private[streams] object StreamCondition {
  def of(kind: PredicateWindow): StreamCondition = {
    val predicate = kind.evaluable
    StreamCondition(
      Seq(predicate.function.toAggregateExpression()),
      answers => predicate.of(answers.head),
      predicate.canonicalized
    )
  }

  /** Holds if the window's first row lies at most delta below its last row, the current one. */
  def of(kind: DeltaWindow, timeZone: String): StreamCondition = {
    val (attribute, delta) = Extent.ofNumbers(kind.attribute, kind.delta)
    val ends = Seq(First(attribute, ignoreNulls = false), Last(attribute, ignoreNulls = false))
    StreamCondition(
      ends.map(_.toAggregateExpression()),
      { case Seq(first, last) =>
        val bound = KeyDistance.reach(last, delta, up = false, strict = false, timeZone)
        val isBelow = Or(
          And(IsNull(first), IsNotNull(bound)),
          Coalesce(Seq(LessThan(first, bound), Literal.FalseLiteral))
        )
        Not(isBelow)
      },
      kind.canonicalized
    )
  }
}

/** The kind of elements in a group's tree. */
private[streams] sealed abstract class StreamElements

private[streams] object StreamElements {

  /** Elements are told apart by their times, or by their groups of peers. */
  case object ByTime extends StreamElements
  case object ByGroup extends StreamElements

  /** Elements of windows that a condition bounds; `condition` is its number. */
  final case class Bounded(condition: Int) extends StreamElements
}
