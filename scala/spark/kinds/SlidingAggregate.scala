package io.sash.spark.kinds

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.expressions.{Expression, RuntimeReplaceableAggregate}
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.sash.CastsAs
import org.apache.spark.sql.types.DataType

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
) extends TypedImperativeAggregate[AnyRef]
    with CastsAs {

  /** What both read of a row; Spark takes these out, each by itself, and nothing between. */
  override def children: Seq[Expression] = function.children ++ kind.inputs

  override protected def castAs: Expression = function

  override def checkInputDataTypes(): TypeCheckResult = function.checkInputDataTypes()

  override def dataType: DataType = function.dataType

  override def nullable: Boolean = function.nullable

  override def prettyName: String = function.prettyName

  override def sql(isDistinct: Boolean): String =
    s"sliding_agg(${function.sql(isDistinct)}, ${kind.sql})"

  override def createAggregationBuffer(): AnyRef = unplanned()
  override def update(buffer: AnyRef, input: InternalRow): AnyRef = unplanned()
  override def merge(buffer: AnyRef, input: AnyRef): AnyRef = unplanned()
  override def eval(buffer: AnyRef): Any = unplanned()
  override def serialize(buffer: AnyRef): Array[Byte] = unplanned()
  override def deserialize(storageFormat: Array[Byte]): AnyRef = unplanned()

  private def unplanned(): Nothing =
    throw new IllegalStateException(s"${sql(false)} is evaluated by Sash's own operator only")

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
      function match {
        case r: RuntimeReplaceableAggregate => r.replacement.asInstanceOf[AggregateFunction]
        case f                              => f
      },
      kind match {
        case p: PredicateWindow => p.evaluable
        case k                  => k
      }
    )
}
