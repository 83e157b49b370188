package io.sash.spark.kinds

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.sash.CastsAs

import io.sash.spark.monoids.{Replacement, WindowAggregate}

/**
 * An aggregate over windows of a kind that SQL has no frame for. Only Sash's operator runs it.
 *
 * @param function what is asked of each window
 * @param kind which rows are in it
 */
private[spark] final case class SlidingAggregate(
    function: AggregateFunction,
    kind: WindowKind,
    mutableAggBufferOffset: Int = 0,
    inputAggBufferOffset: Int = 0
) extends WindowAggregate[AnyRef]
    with CastsAs {

  /** What both read of a row; Spark takes these out, each by itself, and nothing between. */
  override def children: Seq[Expression] = function.children ++ kind.inputs

  override protected def castAs: Expression = function

  override def checkInputDataTypes(): TypeCheckResult = function.checkInputDataTypes()

  override def sql(isDistinct: Boolean): String =
    s"sliding_agg(${function.sql(isDistinct)}, ${kind.sql})"

  override def createAggregationBuffer(): AnyRef = unplanned()
  override def update(buffer: AnyRef, input: InternalRow): AnyRef = unplanned()
  override def eval(buffer: AnyRef): Any = unplanned()

  override def withNewMutableAggBufferOffset(offset: Int): SlidingAggregate =
    copy(mutableAggBufferOffset = offset)

  override def withNewInputAggBufferOffset(offset: Int): SlidingAggregate =
    copy(inputAggBufferOffset = offset)

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[Expression]
  ): SlidingAggregate = {
    val (ofFunction, ofKind) = newChildren.splitAt(function.children.length)
    copy(
      function = function.withNewChildren(ofFunction).asInstanceOf[AggregateFunction],
      kind = kind.withInputs(ofKind)
    )
  }
}

private[spark] object SlidingAggregate {
  def of(function: AggregateFunction, kind: WindowKind): SlidingAggregate =
    SlidingAggregate(
      Replacement.of(function),
      kind match {
        case p: PredicateWindow => p.evaluable
        case k                  => k
      }
    )
}
