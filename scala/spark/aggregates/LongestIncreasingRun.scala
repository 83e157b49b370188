package io.sash.spark.aggregates

import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.TypeUtils
import org.apache.spark.sql.types._

import io.sash.spark.base.SashFunction
import io.sash.spark.monoids.WrappingLong

/**
 * The longest run of neighbouring rows with strictly increasing values. Among equally long runs
 * the first wins. See `io.sash.papers.algebra.LongestIncreasingRun`; here values compare as
 * Spark's do.
 */
private[spark] case object LongestIncreasingRun extends MonoidKind {
  override def check(arguments: Seq[Expression]): TypeCheckResult =
    TypeUtils.checkForOrderingExpr(arguments(0).dataType, name)

  override def dataType(arguments: Seq[Expression]): DataType = {
    val time = arguments(1).dataType
    new StructType().add("start", time).add("end", time).add("length", LongType)
  }

  override def parts(arguments: Seq[Expression]): MonoidParts = {
    val Seq(x, ts) = arguments
    MonoidParts(
      Seq(ts, x),
      Seq(
        OneCell.count("length"),
        OneCell.nullable("first_value", x),
        OneCell.nullable("last_value", x),
        OneCell.nullable("start", ts),
        OneCell.nullable("end", ts),
        OneCell.nullable("prefix_end", ts),
        OneCell.count("prefix_length"),
        OneCell.nullable("suffix_start", ts),
        OneCell.count("suffix_length"),
        OneCell.nullable("longest_start", ts),
        OneCell.nullable("longest_end", ts),
        OneCell.count("longest_length")
      ),
      combine = MonoidParts.ofRows(isEmpty = c => EqualTo(c.head, Literal(0L))) { (o, y) =>
        joined(new RunCells(o), new RunCells(y))
      },
      lower = cells => {
        val fields = Seq("start", "end", "length").zip(cells.takeRight(3))
        val run = CreateNamedStruct(fields.flatMap { case (name, c) => Seq(Literal(name), c) })
        If(EqualTo(cells.head, Literal(0L)), nothing(dataType(arguments)), run)
      }
    )
  }

  /** The cells of a partial aggregate, by name. */
  private final class RunCells(val cells: Seq[Expression]) {
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

  private def joined(older: RunCells, younger: RunCells): Seq[Expression] = {
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
    Seq(
      WrappingLong.add(older.length, younger.length),
      older.firstValue,
      younger.lastValue,
      older.start,
      younger.end,
      If(growsPrefix, younger.prefixEnd, older.prefixEnd),
      If(growsPrefix, bridge, older.prefixLength),
      If(growsSuffix, older.suffixStart, younger.suffixStart),
      If(growsSuffix, bridge, younger.suffixLength)
    ) ++ MonoidParts.pick(youngerLonger)(longest, younger.cells.takeRight(3))
  }

  override val function: SashFunction = described("longest_increasing_run")("""
    Returns the longest run of neighbouring rows in which `x` increases strictly: the `ts`
    of its start and its end, and its length.

    * x - a value of any type that can be ordered
    * ts - of any type

    > SELECT _FUNC_(x, ts) OVER (ORDER BY ts ROWS 3 PRECEDING) FROM VALUES (1, 3.0), (4,
      5.0), (6, 2.0) AS tab(ts, x);
    {"start":1,"end":1,"length":1}
    {"start":1,"end":4,"length":2}
    {"start":1,"end":4,"length":2}

    Of several the first one. Neighbours are neighbours in the window's order; a group of
    GROUP BY has none, and the answer there depends on how its rows arrive. Rows in which
    either is NULL are skipped; NULL over no rows. Constant-Time Sliding Window Framework,
    section 5.6.
  """)
}
