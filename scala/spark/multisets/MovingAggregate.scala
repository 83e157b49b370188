package io.sash.spark.multisets

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.aggregate._

import io.sash.spark.monoids.{Replacement, WindowAggregate}
import io.sash.spark.slots.{RunningAnswer, RunningState}

/**
 * An aggregate over a frame that Spark's analyzer refuses, although the answer is well defined:
 * with DISTINCT inputs, or a median, percentile_cont or percentile_disc over an ordered window.
 *
 * Over a whole partition Spark's own operator runs it, and adds rows to the same running answer.
 *
 * @param function the aggregate; a median is replaced by its percentile
 */
private[spark] final case class MovingAggregate(
    function: AggregateFunction,
    distinct: Boolean,
    mutableAggBufferOffset: Int = 0,
    inputAggBufferOffset: Int = 0
) extends WindowAggregate[RunningState]
    with HasRunningAnswer {

  @transient override lazy val runningAnswer: RunningAnswer =
    (if (distinct) FindRunningAnswer.distinct(function) else FindRunningAnswer.of(function)).get

  override def children: Seq[Expression] = function.children

  override def sql(isDistinct: Boolean): String = function.sql(distinct)

  @transient private lazy val arguments = runningAnswer.inputs.toArray

  override def createAggregationBuffer(): RunningState = {
    val state = runningAnswer.create()
    state.clear()
    state
  }

  override def update(buffer: RunningState, input: InternalRow): RunningState = {
    buffer.add(InternalRow.fromSeq(arguments.map(_.eval(input)).toIndexedSeq))
    buffer
  }

  override def eval(buffer: RunningState): Any = buffer.result()

  override def withNewMutableAggBufferOffset(offset: Int): MovingAggregate =
    copy(mutableAggBufferOffset = offset)

  override def withNewInputAggBufferOffset(offset: Int): MovingAggregate =
    copy(inputAggBufferOffset = offset)

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[Expression]
  ): MovingAggregate =
    copy(function = function.withNewChildren(newChildren).asInstanceOf[AggregateFunction])
}

private[spark] object MovingAggregate {

  /** The aggregate in the form that Sash runs, or none if Sash cannot run it. */
  def of(f: AggregateFunction, distinct: Boolean): Option[MovingAggregate] = {
    val function = Replacement.of(f)
    val answer =
      if (distinct) FindRunningAnswer.distinct(function) else FindRunningAnswer.of(function)
    answer.map(_ => MovingAggregate(function, distinct))
  }
}
