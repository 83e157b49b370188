package io.sash.spark.aggregates

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult.TypeCheckSuccess
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{
  ImperativeAggregate,
  TypedImperativeAggregate
}
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.sash.SqlInternals
import org.apache.spark.sql.types._

import io.sash.spark.base.ArgumentChecks
import io.sash.spark.multisets._
import io.sash.spark.slots.{RunningAnswer, RunningState}

/**
 * An aggregate of the counts of the different values. NULLs are skipped.
 *
 * @param children the value, and the arguments of the answer
 */
private[spark] final case class CountsByValue(
    answer: CountedAnswer,
    children: Seq[Expression],
    mutableAggBufferOffset: Int = 0,
    inputAggBufferOffset: Int = 0
) extends TypedImperativeAggregate[ValueMultiset]
    with HasRunningAnswer {
  override def prettyName: String = answer.name
  override protected def stringArgs: Iterator[Any] = children.iterator
  override def dataType: DataType = answer.dataType(value.dataType)
  override def nullable: Boolean = answer.ofNone == null
  override def defaultResult: Option[Literal] =
    Option.when(!nullable)(Literal(answer.ofNone, dataType))

  private def value: Expression = children.head

  override def runningAnswer: RunningAnswer = AnswerByValue(this)

  override def checkInputDataTypes(): TypeCheckResult = ArgumentChecks.inTurn(
    answer.check(children.tail),
    if (Distinct.canKey(value.dataType)) TypeCheckSuccess
    else ArgumentChecks.unexpectedType("x", value, "a type whose values GROUP BY tells apart")
  )

  /** The value, with one zero and one NaN as in GROUP BY. */
  @transient private[aggregates] lazy val input: Expression = SqlInternals.normalized(value)

  @transient private[aggregates] lazy val counted: CountedType =
    new CountedType(value.dataType, answer.ties)

  @transient private lazy val read = answer.read(children.tail)

  @transient private lazy val packed =
    UnsafeProjection.create(Array[DataType](CountedAnswer.listOf(value.dataType)))

  // each group of GROUP BY makes one, so compiled code is shared
  override def createAggregationBuffer(): ValueMultiset = new ValueMultiset(counted)

  override def update(buffer: ValueMultiset, row: InternalRow): ValueMultiset = {
    val of = input.eval(row)
    if (of != null) buffer.add(InternalRow(of))
    buffer
  }

  override def merge(buffer: ValueMultiset, other: ValueMultiset): ValueMultiset = {
    other.foreach((of, count) => buffer.add(InternalRow(of), count))
    buffer
  }

  override def eval(buffer: ValueMultiset): Any =
    if (buffer.total == 0) answer.ofNone else read(buffer)

  override def serialize(buffer: ValueMultiset): Array[Byte] = {
    val rows = Seq.newBuilder[(Any, Long)]
    buffer.foreach((of, count) => rows += of -> count)
    packed(InternalRow(CountedAnswer.list(rows.result()))).getBytes
  }

  override def deserialize(bytes: Array[Byte]): ValueMultiset = {
    val row = new UnsafeRow(1)
    row.pointTo(bytes, bytes.length)
    val list: ArrayData = row.getArray(0)
    val buffer = createAggregationBuffer()
    (0 until list.numElements()).foreach { i =>
      val one = list.getStruct(i, 2)
      buffer.add(one, one.getLong(1))
    }
    buffer
  }

  override def withNewMutableAggBufferOffset(offset: Int): ImperativeAggregate =
    copy(mutableAggBufferOffset = offset)

  override def withNewInputAggBufferOffset(offset: Int): ImperativeAggregate =
    copy(inputAggBufferOffset = offset)

  override protected def withNewChildrenInternal(
      children: IndexedSeq[Expression]
  ): CountsByValue = copy(children = children)
}

/** The answer of a [[CountsByValue]] in a moving window. */
private[aggregates] final case class AnswerByValue(function: CountsByValue)
    extends RunningAnswer {
  override def inputs: Seq[Expression] = Seq(function.input)
  override def dataType: DataType = function.dataType
  override def isInvertible: Boolean = true
  override def title: String = "counts of values"
  override def create(): RunningState = new CountedState(function.counted, function.eval)
}
