package io.sash.spark.running

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult.TypeCheckSuccess
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{
  ImperativeAggregate,
  TypedImperativeAggregate
}
import org.apache.spark.sql.catalyst.trees.{BinaryLike, UnaryLike}
import org.apache.spark.sql.catalyst.util.{ArrayBasedMapData, ArrayData, GenericArrayData}
import org.apache.spark.sql.sash.SqlInternals
import org.apache.spark.sql.types._

import io.sash.spark.base.{ArgumentChecks, Described, SashFunction}

/** An aggregate of the counts of the different values. NULLs are skipped. */
private[spark] abstract class CountsByValue
    extends TypedImperativeAggregate[CountedValues]
    with Described {
  def value: Expression

  /** Whether the answer needs the values of one count in their order. */
  protected def ranked: Boolean = false

  override def checkInputDataTypes(): TypeCheckResult =
    if (Distinct.canKey(value.dataType)) TypeCheckSuccess
    else ArgumentChecks.unexpectedType("x", value, "a type whose values GROUP BY tells apart")

  @transient private lazy val input = SqlInternals.normalized(value)

  private lazy val counted = new StructType()
    .add("value", value.dataType, nullable = false)
    .add("count", LongType, nullable = false)

  @transient private lazy val packed =
    UnsafeProjection.create(Array[DataType](ArrayType(counted, containsNull = false)))

  override def createAggregationBuffer(): CountedValues =
    new CountedValues(value.dataType, ranked)

  override def update(buffer: CountedValues, row: InternalRow): CountedValues = {
    val of = input.eval(row)
    if (of != null) buffer.add(InternalRow(of), 1L)
    buffer
  }

  override def merge(buffer: CountedValues, other: CountedValues): CountedValues = {
    other.foreach((of, count) => buffer.add(InternalRow(of), count))
    buffer
  }

  override def serialize(buffer: CountedValues): Array[Byte] = {
    val rows = Array.newBuilder[Any]
    buffer.foreach((of, count) => rows += InternalRow(of, count))
    packed(InternalRow(new GenericArrayData(rows.result()))).getBytes
  }

  override def deserialize(bytes: Array[Byte]): CountedValues = {
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
}

private[spark] final case class ValueCounts(
    value: Expression,
    mutableAggBufferOffset: Int = 0,
    inputAggBufferOffset: Int = 0
) extends CountsByValue
    with UnaryLike[Expression] {
  override def prettyName: String = ValueCounts.Function.name
  override def child: Expression = value
  override def nullable: Boolean = false
  override def dataType: DataType = MapType(value.dataType, LongType, valueContainsNull = false)
  override def defaultResult: Option[Literal] =
    Some(Literal.create(Map.empty[Any, Any], dataType))

  override def eval(buffer: CountedValues): Any = {
    val (keys, counts) = (new Array[Any](buffer.distinct), new Array[Any](buffer.distinct))
    var i = 0
    buffer.foreach { (of, count) =>
      keys(i) = of
      counts(i) = count
      i += 1
    }
    new ArrayBasedMapData(new GenericArrayData(keys), new GenericArrayData(counts))
  }

  override def withNewMutableAggBufferOffset(offset: Int): ImperativeAggregate =
    copy(mutableAggBufferOffset = offset)
  override def withNewInputAggBufferOffset(offset: Int): ImperativeAggregate =
    copy(inputAggBufferOffset = offset)
  override protected def withNewChildInternal(newChild: Expression): ValueCounts =
    copy(value = newChild)
}

private[spark] object ValueCounts {
  private[spark] val Function: SashFunction = SashFunction(
    "value_counts",
    "Returns how often each value occurs, as a map.",
    Seq("x" -> "a value of a type that can be a key of a map"),
    Seq("SELECT _FUNC_(x) FROM VALUES ('a'), ('b'), ('a') AS t(x)" -> "{\"a\":2,\"b\":1}"),
    Seq(
      "NULLs are skipped; an empty map over no rows. Of strings that a collation finds equal one",
      "stands for all. A moving window keeps the counts, and an answer costs as much as it has",
      "keys."
    ),
    classOf[ValueCounts]
  ) { case Seq(x) => ValueCounts(x) }
}

private[spark] final case class TopCounts(
    value: Expression,
    size: Expression,
    mutableAggBufferOffset: Int = 0,
    inputAggBufferOffset: Int = 0
) extends CountsByValue
    with BinaryLike[Expression] {
  override def prettyName: String = TopCounts.Function.name
  override def left: Expression = value
  override def right: Expression = size
  override protected def ranked: Boolean = true
  override def nullable: Boolean = false
  override def defaultResult: Option[Literal] = Some(Literal.create(Seq.empty, dataType))

  override def dataType: DataType = ArrayType(
    new StructType()
      .add("value", value.dataType, nullable = false)
      .add("count", LongType, nullable = false),
    containsNull = false
  )

  override def checkInputDataTypes(): TypeCheckResult = {
    val counts = ArgumentChecks.checkCount("n", size, least = 1)
    if (counts.isFailure) counts else super.checkInputDataTypes()
  }

  private lazy val n = size.eval().asInstanceOf[Number].intValue

  override def eval(buffer: CountedValues): Any =
    new GenericArrayData(
      buffer.top(n).map { case (of, count) => InternalRow(of, count) }.toArray[Any]
    )

  override def withNewMutableAggBufferOffset(offset: Int): ImperativeAggregate =
    copy(mutableAggBufferOffset = offset)
  override def withNewInputAggBufferOffset(offset: Int): ImperativeAggregate =
    copy(inputAggBufferOffset = offset)
  override protected def withNewChildrenInternal(x: Expression, n: Expression): TopCounts =
    copy(value = x, size = n)
}

private[spark] object TopCounts {
  private[spark] val Function: SashFunction = SashFunction(
    "top_counts",
    "Returns the `n` most frequent values with their counts, the most frequent first.",
    Seq(
      "x" -> "a value of a type that can be ordered",
      "n" -> "how many, a constant of 1 or more"
    ),
    Seq(
      "SELECT _FUNC_(x, 2) FROM VALUES ('a'), ('b'), ('a'), ('c') AS t(x)" ->
        "[{\"value\":\"a\",\"count\":2},{\"value\":\"b\",\"count\":1}]"
    ),
    Seq(
      "Of values that are equally frequent the least first. NULLs are skipped; no rows give an",
      "empty list. Exact; Spark's `approx_top_k` estimates. In a moving window a row costs",
      "O(log d) with d different values, and an answer O(n)."
    ),
    classOf[TopCounts]
  ) { case Seq(x, n) => TopCounts(x, n) }
}

private[spark] final case class Entropy(
    value: Expression,
    mutableAggBufferOffset: Int = 0,
    inputAggBufferOffset: Int = 0
) extends CountsByValue
    with UnaryLike[Expression] {
  override def prettyName: String = Entropy.Function.name
  override def child: Expression = value
  override def nullable: Boolean = true
  override def dataType: DataType = DoubleType

  override def eval(buffer: CountedValues): Any =
    if (buffer.total == 0) null
    else {
      val total = buffer.total.toDouble
      var sum = 0.0
      buffer.foreachCount { (count, values) =>
        val share = count / total
        sum -= values * share * math.log(share)
      }
      sum / math.log(2)
    }

  override def withNewMutableAggBufferOffset(offset: Int): ImperativeAggregate =
    copy(mutableAggBufferOffset = offset)
  override def withNewInputAggBufferOffset(offset: Int): ImperativeAggregate =
    copy(inputAggBufferOffset = offset)
  override protected def withNewChildInternal(newChild: Expression): Entropy =
    copy(value = newChild)
}

private[spark] object Entropy {
  private[spark] val Function: SashFunction = SashFunction(
    "entropy",
    "Returns the entropy of the values, in bits: the less, the more often few values occur.",
    Seq("x" -> "a value of a type that GROUP BY takes"),
    Seq("SELECT _FUNC_(x) FROM VALUES ('a'), ('b'), ('a'), ('b') AS t(x)" -> "1.0"),
    Seq(
      "The sum of -p * log2(p) over the values' shares p, as DuckDB has it. NULLs are skipped;",
      "NULL over no rows. In a moving window an answer costs O(√n) for n rows at most, since it",
      "sums over the different counts, and does not drift."
    ),
    classOf[Entropy]
  ) { case Seq(x) => Entropy(x) }
}

private[spark] final case class ModeShare(
    value: Expression,
    mutableAggBufferOffset: Int = 0,
    inputAggBufferOffset: Int = 0
) extends CountsByValue
    with UnaryLike[Expression] {
  override def prettyName: String = ModeShare.Function.name
  override def child: Expression = value
  override def nullable: Boolean = true
  override def dataType: DataType = DoubleType

  override def eval(buffer: CountedValues): Any =
    if (buffer.total == 0) null else buffer.greatest.toDouble / buffer.total

  override def withNewMutableAggBufferOffset(offset: Int): ImperativeAggregate =
    copy(mutableAggBufferOffset = offset)
  override def withNewInputAggBufferOffset(offset: Int): ImperativeAggregate =
    copy(inputAggBufferOffset = offset)
  override protected def withNewChildInternal(newChild: Expression): ModeShare =
    copy(value = newChild)
}

private[spark] object ModeShare {
  private[spark] val Function: SashFunction = SashFunction(
    "mode_share",
    "Returns the share of the most frequent value among the values.",
    Seq("x" -> "a value of a type that GROUP BY takes"),
    Seq("SELECT _FUNC_(x) FROM VALUES ('a'), ('b'), ('a'), ('c') AS t(x)" -> "0.5"),
    Seq("NULLs are skipped; NULL over no rows. `mode` is the value itself."),
    classOf[ModeShare]
  ) { case Seq(x) => ModeShare(x) }
}
