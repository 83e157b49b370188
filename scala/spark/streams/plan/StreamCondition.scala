package io.sash.spark.streams.plan

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, First, Last}

import io.sash.spark.kinds.{DeltaWindow, PredicateWindow}
import io.sash.spark.windows.{Extent, RangeBounds}

/**
 * What bounds windows: as long as it does not hold, the oldest row leaves.
 *
 * @param of what the condition looks at
 * @param holds over the answers of those
 * @param words that tell it from others
 */
private[streams] final case class StreamCondition(
    of: Seq[AggregateExpression],
    holds: Seq[Expression] => Expression,
    words: Expression
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

  /** The window's first row lies no more than delta below its last one, the current row. */
  def of(kind: DeltaWindow, timeZone: String): StreamCondition = {
    val (attribute, delta) = Extent.ofNumbers(kind.attribute, kind.delta)
    val ends = Seq(First(attribute, ignoreNulls = false), Last(attribute, ignoreNulls = false))
    StreamCondition(
      ends.map(_.toAggregateExpression()),
      { case Seq(first, last) =>
        val bound = RangeBounds.reach(last, delta, up = false, strict = false, timeZone)
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

/** Of what elements a group's tree is. */
private[streams] sealed abstract class StreamElements

private[streams] object StreamElements {

  /** Told apart by their times, and by the groups of their peers. */
  case object ByTime extends StreamElements
  case object ByGroup extends StreamElements

  /** The windows are bounded by the condition of this number. */
  final case class Bounded(condition: Int) extends StreamElements
}
