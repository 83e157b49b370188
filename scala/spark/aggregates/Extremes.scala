package io.sash.spark.aggregates

import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.TypeUtils
import org.apache.spark.sql.types._

import io.sash.spark.base.SashFunction
import io.sash.spark.monoids.MonoidTraits.outdone
import io.sash.spark.monoids.WrappingLong

/**
 * The argument of the row whose value beats all others. Among equal values the first in arrival
 * order wins, whereas in Spark's `max_by` the last one wins. See `io.sash.papers.algebra.ArgMax`;
 * here values compare as Spark's do.
 */
private[aggregates] sealed abstract class ArgExtreme(
    beats: (Expression, Expression) => Expression
) extends MonoidKind {
  override def check(arguments: Seq[Expression]): TypeCheckResult =
    TypeUtils.checkForOrderingExpr(arguments(1).dataType, name)

  override def dataType(arguments: Seq[Expression]): DataType = arguments.head.dataType

  override def parts(arguments: Seq[Expression]): MonoidParts = {
    val Seq(arg, value) = arguments
    def younger(o: Seq[Expression], y: Seq[Expression]) =
      outdone(o(1), y(1), beats(y(1), o(1)))
    MonoidParts(
      Seq(value),
      Seq(OneCell.nullable("arg", arg), OneCell.nullable("value", value)),
      combine = (o, y) => MonoidParts.pick(younger(o, y))(o, y),
      lower = _.head,
      picksYounger = Some(younger)
    )
  }
}

private[spark] case object ArgMax extends ArgExtreme(GreaterThan(_, _)) {
  override val function: SashFunction = described("arg_max")("""
    Returns `arg` of the row in which `val` is greatest.

    * arg - of any type
    * val - a value of any type that can be ordered

    > SELECT _FUNC_(x, y) FROM VALUES ('Ann', 10), ('Bo', 50), ('Cy', 20) AS tab(x, y);
    Bo

    Of several such rows the first one to arrive, where `max_by` has the last: in a window,
    the first by its ORDER BY. Rows whose `val` is NULL are skipped; `arg` may be NULL.
  """)
}

private[spark] case object ArgMin extends ArgExtreme(LessThan(_, _)) {
  override val function: SashFunction = described("arg_min")("""
    Returns `arg` of the row in which `val` is least.

    * arg - of any type
    * val - a value of any type that can be ordered

    > SELECT _FUNC_(x, y) FROM VALUES ('Ann', 10), ('Bo', 50), ('Cy', 20) AS tab(x, y);
    Ann

    Of several such rows the first one to arrive, where `min_by` has the last: in a window,
    the first by its ORDER BY. Rows whose `val` is NULL are skipped; `arg` may be NULL.
  """)
}

/**
 * Counts how often the extreme value occurs, compared as in `max` and `min`. See
 * `io.sash.papers.algebra.MaxCount`; here Spark's `=` decides whether values are equal.
 */
private[aggregates] sealed abstract class ExtremeCount(
    beats: (Expression, Expression) => Expression
) extends MonoidKind {
  override def check(arguments: Seq[Expression]): TypeCheckResult =
    TypeUtils.checkForOrderingExpr(arguments.head.dataType, name)

  override def dataType(arguments: Seq[Expression]): DataType = LongType
  override def ofNoRows: Any = 0L

  override def parts(arguments: Seq[Expression]): MonoidParts = MonoidParts(
    arguments,
    Seq(OneCell.nullable("extreme", arguments.head), OneCell.count("times")),
    combine = (o, y) => {
      val younger = outdone(o(0), y(0), beats(y(0), o(0)))
      // if both are NULL, both counts are 0
      val all = If(EqualNullSafe(o(0), y(0)), WrappingLong.add(o(1), y(1)), o(1))
      Seq(If(younger, y(0), o(0)), If(younger, y(1), all))
    },
    lower = _.last
  )
}

private[spark] case object MaxCount extends ExtremeCount(GreaterThan(_, _)) {
  override val function: SashFunction = described("max_count")("""
    Returns how often the greatest value occurs.

    * x - a value of any type that can be ordered

    > SELECT _FUNC_(col) FROM VALUES (4), (5), (3), (5) AS tab(col);
    2

    NULLs are skipped; 0 over no rows. Values are compared as by `max`.
  """)
}

private[spark] case object MinCount extends ExtremeCount(LessThan(_, _)) {
  override val function: SashFunction = described("min_count")("""
    Returns how often the least value occurs.

    * x - a value of any type that can be ordered

    > SELECT _FUNC_(col) FROM VALUES (4), (3), (3), (5) AS tab(col);
    2

    NULLs are skipped; 0 over no rows. Values are compared as by `min`.
  """)
}

/**
 * The range, max(x) - min(x). See `io.sash.papers.algebra.Range`.
 *
 * @param difference Spark's subtraction, which keeps the ANSI mode in which the call was analyzed
 */
private[spark] final case class ValueRange(difference: Subtract) extends MonoidKind {
  override def function: SashFunction = ValueRange.function

  override def check(arguments: Seq[Expression]): TypeCheckResult =
    TypeUtils.checkForAnsiIntervalOrNumericType(arguments.head)

  override def dataType(arguments: Seq[Expression]): DataType =
    of(value(arguments), value(arguments)).dataType

  override def parts(arguments: Seq[Expression]): MonoidParts = {
    val x = value(arguments)
    MonoidParts.beside()(OneCell.greatest(x), OneCell.least(x)) { case Seq(max, min) =>
      of(max, min)
    }
  }

  private def of(left: Expression, right: Expression): Expression =
    difference.withNewChildren(Seq(left, right))

  /** A VOID (NULLs only) is cast to DOUBLE for arithmetic, as in Spark's `sum`. */
  private def value(arguments: Seq[Expression]): Expression = arguments.head match {
    case void if void.dataType == NullType => Cast(void, DoubleType)
    case x                                 => x
  }
}

private[spark] object ValueRange {
  val function: SashFunction = SashFunction.of(
    "value_range",
    """
    Returns how far apart the values are: the greatest less the least.

    * x - a number or an interval

    > SELECT _FUNC_(col) FROM VALUES (3), (1), (4) AS tab(col);
    3

    > SELECT _FUNC_(col) FROM VALUES (2.5), (NULL) AS tab(col);
    0.0

    Type and overflow are as in max(x) - min(x). NULLs are skipped; NULL over no rows; a NaN
    makes it NaN.
    """,
    classOf[OwnMonoid]
  )(OwnMonoid(new ValueRange(new Subtract(Literal(0), Literal(0))), _))
}

/** The range relative to the maximum. See `io.sash.papers.algebra.RelativeVariation`. */
private[spark] case object RelativeVariation extends OfDouble {
  override def parts(arguments: Seq[Expression]): MonoidParts =
    MonoidParts.beside()(OneCell.greatest(arguments.head), OneCell.least(arguments.head)) {
      case Seq(max, min) => Doubles.quotient(new Subtract(max, min), max)
    }

  override val function: SashFunction = described("relative_variation")("""
    Returns how far apart the values are, relative to the greatest: (max - min) / max.

    * x - a number, taken as a DOUBLE

    > SELECT _FUNC_(col) FROM VALUES (3), (1), (4) AS tab(col);
    0.75

    A greatest value of 0 makes it infinite, or NaN if all are 0; so does a NaN. NULLs are
    skipped; NULL over no rows.
  """)
}
