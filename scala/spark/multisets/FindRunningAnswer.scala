package io.sash.spark.multisets

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.aggregate._

import io.sash.spark.monoids.{OfCurrentRow, Refusal}
import io.sash.spark.slots.RunningAnswer

/** An aggregate that says itself which answer windows keep for it beside the slots. */
private[spark] trait HasRunningAnswer {
  def runningAnswer: RunningAnswer
}

/** Chooses the aggregates with a running answer beside the slots, and the answer's kind. */
private[spark] object FindRunningAnswer {

  def of(f: AggregateFunction): Option[RunningAnswer] = f match {
    case own: HasRunningAnswer => Some(own.runningAnswer)
    case p: PercentileBase     => Some(OrderStatistics.of(p).getOrElse(Replay(p)))
    case m: Mode               => Some(ModeCounts.of(m).getOrElse(Replay(m)))
    case set: CollectSet if Distinct.canKey(set.child.dataType) => Some(Distinct(Replay(set)))
    case collect: Collect[_]                                    => Some(Replay(collect))
    case counts: TypedAggregateWithHashMapAsBuffer              => Some(Replay(counts))
    case _                                                      => None
  }

  /**
   * The answer over the distinct inputs of `f`, or none if Sash cannot tell these inputs apart.
   */
  def distinct(f: AggregateFunction): Option[RunningAnswer] =
    if (untold(f).isEmpty) members(f).map(Distinct(_)) else None

  /** The reason why `distinct` has no answer. */
  def notDistinct(f: AggregateFunction): Refusal = untold(f) match {
    case Some(input) => Refusal.Indistinct(input.dataType.sql)
    case None        => Refusal.NotMergeable(s"${f.prettyName}(DISTINCT …)")
  }

  private def untold(f: AggregateFunction): Option[Expression] =
    f.children.find(c => !c.foldable && !Distinct.canKey(c.dataType))

  private def members(f: AggregateFunction): Option[RunningAnswer] = f match {
    case _: OfCurrentRow         => None
    case d: DeclarativeAggregate => MergedMembers.of(d)
    case i: ImperativeAggregate  => Some(of(i).filter(_.isInvertible).getOrElse(Replay(i)))
    case _                       => None
  }
}
