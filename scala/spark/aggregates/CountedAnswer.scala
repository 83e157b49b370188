package io.sash.spark.aggregates

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult.TypeCheckSuccess
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.util.{ArrayBasedMapData, ArrayData, GenericArrayData}
import org.apache.spark.sql.types._

import io.sash.spark.base.{ArgumentChecks, SashFunction}
import io.sash.spark.multisets.{TieOrder, ValueMultiset}

/** A function of SQL that answers from counted values. */
private[spark] sealed abstract class CountedAnswer extends Serializable {
  def function: SashFunction

  final def name: String = function.name

  def dataType(of: DataType): DataType

  /** The answer over no values; null for NULL. */
  def ofNone: Any = null

  private[aggregates] def ties: TieOrder = TieOrder.Unkept

  def check(arguments: Seq[Expression]): TypeCheckResult = TypeCheckSuccess

  /** The function that reads the answer of one value or more. */
  private[aggregates] def read(arguments: Seq[Expression]): ValueMultiset => Any

  protected final def described(name: String)(text: String): SashFunction =
    SashFunction.of(name, text, classOf[CountsByValue])(CountsByValue(this, _))
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

  override val function: SashFunction = described("value_counts")("""
    Returns how often each value occurs, as a map.

    * x - a value of a type that can be a key of a map

    > SELECT _FUNC_(x) FROM VALUES ('a'), ('b'), ('a') AS t(x);
    {"a":2,"b":1}

    NULLs are skipped; an empty map over no rows. Of strings that a collation finds equal
    one stands for all. A moving window keeps the counts, and an answer costs as much as it
    has keys.
  """)
}

private[spark] case object TopCounts extends CountedAnswer {
  override def dataType(of: DataType): DataType = CountedAnswer.listOf(of)
  override def ofNone: Any = CountedAnswer.list(Nil)
  override private[aggregates] def ties: TieOrder = TieOrder.ByValue(ascending = true)

  override def check(arguments: Seq[Expression]): TypeCheckResult =
    ArgumentChecks.checkCount("n", arguments.head, least = 1)

  override private[aggregates] def read(arguments: Seq[Expression]) = {
    val n = arguments.head.eval().asInstanceOf[Number].intValue
    counted => CountedAnswer.list(counted.top(n))
  }

  override val function: SashFunction = described("top_counts")("""
    Returns the `n` most frequent values with their counts, the most frequent first.

    * x - a value of a type that can be ordered
    * n - how many, a constant of 1 or more

    > SELECT _FUNC_(x, 2) FROM VALUES ('a'), ('b'), ('a'), ('c') AS t(x);
    [{"value":"a","count":2},{"value":"b","count":1}]

    Of values that are equally frequent the least first. NULLs are skipped; no rows give an
    empty list. Exact; Spark's `approx_top_k` estimates. In a moving window a row costs
    O(log d) with d different values, and an answer O(n).
  """)
}

private[spark] case object Entropy extends CountedAnswer {
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

  override val function: SashFunction = described("entropy")("""
    Returns the entropy of the values, in bits: the less, the more often few values occur.

    * x - a value of a type that GROUP BY takes

    > SELECT _FUNC_(x) FROM VALUES ('a'), ('b'), ('a'), ('b') AS t(x);
    1.0

    The sum of -p * log2(p) over the values' shares p, as DuckDB has it. NULLs are skipped;
    NULL over no rows. In a moving window an answer costs O(√n) for n rows at most, since it
    sums over the different counts, and does not drift.
  """)
}

private[spark] case object ModeShare extends CountedAnswer {
  override def dataType(of: DataType): DataType = DoubleType

  override private[aggregates] def read(arguments: Seq[Expression]) =
    counted => counted.greatest.toDouble / counted.total

  override val function: SashFunction = described("mode_share")("""
    Returns the share of the most frequent value among the values.

    * x - a value of a type that GROUP BY takes

    > SELECT _FUNC_(x) FROM VALUES ('a'), ('b'), ('a'), ('c') AS t(x);
    0.5

    NULLs are skipped; NULL over no rows. `mode` is the value itself.
  """)
}
