package io.sash.spark.aggregates

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult.TypeCheckSuccess
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{
  ImperativeAggregate,
  TypedImperativeAggregate
}
import org.apache.spark.sql.catalyst.util.{ArrayBasedMapData, ArrayData, GenericArrayData}
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

  // a group of GROUP BY makes one: whatever is compiled is shared
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

/** The same in a moving window. */
private[aggregates] final case class AnswerByValue(function: CountsByValue)
    extends RunningAnswer {
  override def inputs: Seq[Expression] = Seq(function.input)
  override def dataType: DataType = function.dataType
  override def isInvertible: Boolean = true
  override def title: String = "counts of values"
  override def create(): RunningState = new CountedState(function.counted, function.eval)
}

/** An answer from counted values. */
private[spark] sealed abstract class CountedAnswer extends Serializable {
  def name: String

  def dataType(of: DataType): DataType

  /** The answer over no values; null for NULL. */
  def ofNone: Any = null

  private[aggregates] def ties: Ties = Ties.Unkept

  def check(arguments: Seq[Expression]): TypeCheckResult = TypeCheckSuccess

  /** The function that reads the answer of one value or more. */
  private[aggregates] def read(arguments: Seq[Expression]): ValueMultiset => Any
}

private[aggregates] object CountedAnswer {

  /** The type of a list of values with their counts. */
  def listOf(value: DataType): ArrayType = ArrayType(
    new StructType()
      .add("value", value, nullable = false)
      .add("count", LongType, nullable = false),
    containsNull = false
  )

  def list(counts: Seq[(Any, Long)]): ArrayData =
    new GenericArrayData(counts.map { case (of, count) => InternalRow(of, count) }.toArray[Any])
}

private[spark] case object ValueCounts extends CountedAnswer {
  override def name: String = "value_counts"
  override def dataType(of: DataType): DataType = MapType(of, LongType, valueContainsNull = false)

  override def ofNone: Any = mapOf(Array.empty, Array.empty)

  override private[aggregates] def read(arguments: Seq[Expression]) = { counted =>
    val (keys, counts) = (new Array[Any](counted.distinct), new Array[Any](counted.distinct))
    var i = 0
    counted.foreach { (of, count) =>
      keys(i) = of
      counts(i) = count
      i += 1
    }
    mapOf(keys, counts)
  }

  private def mapOf(keys: Array[Any], counts: Array[Any]) =
    new ArrayBasedMapData(new GenericArrayData(keys), new GenericArrayData(counts))
}

private[spark] case object TopCounts extends CountedAnswer {
  override def name: String = "top_counts"
  override def dataType(of: DataType): DataType = CountedAnswer.listOf(of)
  override def ofNone: Any = CountedAnswer.list(Nil)
  override private[aggregates] def ties: Ties = Ties.ByValue(ascending = true)

  override def check(arguments: Seq[Expression]): TypeCheckResult =
    ArgumentChecks.checkCount("n", arguments.head, least = 1)

  override private[aggregates] def read(arguments: Seq[Expression]) = {
    val n = arguments.head.eval().asInstanceOf[Number].intValue
    counted => CountedAnswer.list(counted.top(n))
  }
}

private[spark] case object Entropy extends CountedAnswer {
  override def name: String = "entropy"
  override def dataType(of: DataType): DataType = DoubleType

  override private[aggregates] def read(arguments: Seq[Expression]) = { counted =>
    val total = counted.total.toDouble
    var sum = 0.0
    counted.foreachCount { (count, values) =>
      val share = count / total
      sum -= values * share * math.log(share)
    }
    sum / math.log(2)
  }
}

private[spark] case object ModeShare extends CountedAnswer {
  override def name: String = "mode_share"
  override def dataType(of: DataType): DataType = DoubleType

  override private[aggregates] def read(arguments: Seq[Expression]) =
    counted => counted.greatest.toDouble / counted.total
}
