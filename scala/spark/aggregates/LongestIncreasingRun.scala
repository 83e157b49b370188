package io.sash.spark.aggregates

import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.trees.BinaryLike
import org.apache.spark.sql.catalyst.util.TypeUtils
import org.apache.spark.sql.types._

import io.sash.spark.base.SashFunction
import io.sash.spark.monoids.WrappingLong

/**
 * The longest run of neighbouring rows with strictly increasing values. Of equally long runs, the
 * first. See `io.sash.core.algebra.LongestIncreasingRun`; here values compare as Spark's do.
 */
private[sash] final case class LongestIncreasingRun(time: Expression, value: Expression)
    extends OwnMonoidAggregate
    with BinaryLike[Expression] {
  import LongestIncreasingRun.Part
  import OwnMonoidAggregate._

  private lazy val cells: Seq[AttributeReference] = Seq(
    count("length"),
    cell("first_value", value.dataType),
    cell("last_value", value.dataType),
    cell("start", time.dataType),
    cell("end", time.dataType),
    cell("prefix_end", time.dataType),
    count("prefix_length"),
    cell("suffix_start", time.dataType),
    count("suffix_length"),
    cell("longest_start", time.dataType),
    cell("longest_end", time.dataType),
    count("longest_length")
  )

  override def prettyName: String = LongestIncreasingRun.Function.name
  override def left: Expression = time
  override def right: Expression = value
  override def nullable: Boolean = true

  override def dataType: DataType = new StructType()
    .add("start", time.dataType)
    .add("end", time.dataType)
    .add("length", LongType)

  override def checkInputDataTypes(): TypeCheckResult =
    TypeUtils.checkForOrderingExpr(value.dataType, prettyName)

  override lazy val aggBufferAttributes: Seq[AttributeReference] = cells
  override lazy val initialValues: Seq[Expression] =
    cells.map(c => if (c.nullable) nothing(c.dataType) else Literal(0L))
  override protected def required: Seq[Expression] = Seq(time, value)

  override protected def lift: Seq[Expression] = {
    val one = Literal(1L)
    Seq(one, value, value, time, time, time, one, time, one, time, time, one)
  }

  override protected def combine(o: Seq[Expression], y: Seq[Expression]): Seq[Expression] = {
    val (older, younger) = (Part(o), Part(y))
    val joins = LessThan(older.lastValue, younger.firstValue)
    val growsPrefix = And(joins, EqualTo(older.prefixLength, older.length))
    val growsSuffix = And(joins, EqualTo(younger.suffixLength, younger.length))
    val bridge = WrappingLong.add(older.suffixLength, younger.prefixLength)
    val bridges = And(joins, GreaterThan(bridge, older.longestLength))
    val longest = Seq(
      If(bridges, older.suffixStart, older.longestStart),
      If(bridges, younger.prefixEnd, older.longestEnd),
      If(bridges, bridge, older.longestLength)
    )
    val youngerLonger = GreaterThan(younger.longestLength, longest(2))
    val both = Seq(
      WrappingLong.add(older.length, younger.length),
      older.firstValue,
      younger.lastValue,
      older.start,
      younger.end,
      If(growsPrefix, younger.prefixEnd, older.prefixEnd),
      If(growsPrefix, bridge, older.prefixLength),
      If(growsSuffix, older.suffixStart, younger.suffixStart),
      If(growsSuffix, bridge, younger.suffixLength)
    ) ++ pick(youngerLonger, (longest, y.takeRight(3)))
    val none = Literal(0L)
    both.zip(o.zip(y)).map { case (joined, (o, y)) =>
      If(EqualTo(older.length, none), y, If(EqualTo(younger.length, none), o, joined))
    }
  }

  override lazy val evaluateExpression: Expression = {
    val fields = Seq("start", "end", "length").zip(cells.takeRight(3))
    val run = CreateNamedStruct(fields.flatMap { case (name, c) => Seq(Literal(name), c) })
    If(EqualTo(cells.head, Literal(0L)), nothing(dataType), run)
  }

  override protected def withNewChildrenInternal(
      t: Expression,
      v: Expression
  ): LongestIncreasingRun = copy(time = t, value = v)
}

private[sash] object LongestIncreasingRun {

  /** The cells of a partial aggregate, by name. */
  private final case class Part(cells: Seq[Expression]) {
    val Seq(
      length,
      firstValue,
      lastValue,
      start,
      end,
      prefixEnd,
      prefixLength,
      suffixStart,
      suffixLength,
      longestStart,
      longestEnd,
      longestLength
    ) = cells
  }

  private[spark] val Function: SashFunction = SashFunction(
    "longest_increasing_run",
    "Returns the longest run of neighbouring rows in which `x` increases strictly: the `ts` of " +
      "its start and its end, and its length.",
    Seq("ts" -> "of any type", "x" -> "a value of any type that can be ordered"),
    Seq(
      "SELECT _FUNC_(ts, x) OVER (ORDER BY ts ROWS 3 PRECEDING) FROM VALUES (1, 3.0), (4, " +
        "5.0), (6, 2.0) AS tab(ts, x)" ->
        ("{\"start\":1,\"end\":1,\"length\":1}\n{\"start\":1,\"end\":4,\"length\":2}\n" +
          "{\"start\":1,\"end\":4,\"length\":2}")
    ),
    Seq(
      "Of several the first one. Neighbours are neighbours in the window's order; a group of",
      "GROUP BY has none, and the answer there depends on how its rows arrive. Rows in which",
      "either is NULL are skipped; NULL over no rows. Constant-Time Sliding Window Framework,",
      "section 5.6."
    ),
    classOf[LongestIncreasingRun]
  ) { case Seq(ts, x) => LongestIncreasingRun(ts, x) }
}
