package io.sash.spark.aggregates

import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.TypeUtils
import org.apache.spark.sql.sash.SqlInternals
import org.apache.spark.sql.types._

import io.sash.spark.base.{ArgumentChecks, SashFunction}

/**
 * A list of at most n of the values, where n is the last argument. A row counts if the argument
 * before n is not NULL. Two lists combine in O(n), or in O(n log n) if they are sorted, however
 * long the window is.
 */
private[aggregates] sealed abstract class BoundedList extends MonoidKind {

  /** Whether the arguments have to have an order. */
  protected def sorts: Boolean = false

  /** The value that a row puts into the list. It is not NULL. */
  protected def element(arguments: Seq[Expression]): Expression = KnownNotNull(arguments.head)

  protected def combine(older: Expression, younger: Expression, n: Int): Expression

  protected def lower(list: Expression): Expression = list

  override def ofNoRows: Any = Seq.empty

  override def check(arguments: Seq[Expression]): TypeCheckResult = {
    val sorted = if (sorts) arguments.init else Nil
    val ordered = sorted.map(e => TypeUtils.checkForOrderingExpr(e.dataType, name))
    ArgumentChecks.inTurn(
      ArgumentChecks.checkCount("n", arguments.last, least = 1) +: ordered: _*
    )
  }

  override def dataType(arguments: Seq[Expression]): DataType = lower(none(arguments)).dataType

  private def none(arguments: Seq[Expression]): Literal = Literal.create(
    Seq.empty,
    ArrayType(element(arguments.init).dataType, containsNull = false)
  )

  override def parts(arguments: Seq[Expression]): MonoidParts = {
    val n = arguments.last.eval().asInstanceOf[Number].intValue
    MonoidParts(
      Seq(arguments.init.last),
      Seq(OneCell("list", none(arguments), CreateArray(Seq(element(arguments.init))))),
      combine = (o, y) => Seq(combine(o.head, y.head, n)),
      lower = cells => lower(cells.head)
    )
  }

  protected final def first(of: Expression, length: Expression): Expression =
    Slice(of, Literal(1), length)
}

private[spark] case object LastN extends BoundedList {
  override protected def combine(older: Expression, younger: Expression, n: Int): Expression = {
    val tooMany = new Subtract(new Add(Size(older, false), Size(younger, false)), Literal(n))
    val from = new Add(Greatest(Seq(tooMany, Literal(0))), Literal(1))
    Concat(Seq(Slice(older, from, Literal(n)), younger))
  }

  override val function: SashFunction = described("last_n")("""
    Returns the last `n` values, oldest first.

    * x - a value of any type
    * n - how many, a constant of 1 or more

    > SELECT x, _FUNC_(x, 2) OVER (ORDER BY x ROWS 2 PRECEDING) FROM VALUES ('a'), ('b'),
      ('c') AS t(x);
    a  ["a"]
    b  ["a","b"]
    c  ["b","c"]

    The rows are taken in the window's order; a group of GROUP BY has none. NULLs are
    skipped; no rows give an empty list. A combine costs O(n).
  """)
}

private[spark] case object FirstN extends BoundedList {
  override protected def combine(older: Expression, younger: Expression, n: Int): Expression =
    Concat(Seq(older, first(younger, new Subtract(Literal(n), Size(older, false)))))

  override val function: SashFunction = described("first_n")("""
    Returns the first `n` values, oldest first.

    * x - a value of any type
    * n - how many, a constant of 1 or more

    > SELECT x, _FUNC_(x, 2) OVER (ORDER BY x ROWS 2 PRECEDING) FROM VALUES ('a'), ('b'),
      ('c') AS t(x);
    a  ["a"]
    b  ["a","b"]
    c  ["a","b"]

    The rows are taken in the window's order; a group of GROUP BY has none. NULLs are
    skipped; no rows give an empty list. A combine costs O(n).
  """)
}

/** The list in a partial has the youngest value first. */
private[spark] case object LastDistinctN extends BoundedList {
  override protected def sorts: Boolean = true

  // one zero, as in GROUP BY; array_except takes -0.0 and 0.0 for one or two, by Spark's version
  override protected def element(arguments: Seq[Expression]): Expression =
    KnownNotNull(SqlInternals.normalized(arguments.head))

  override protected def combine(older: Expression, younger: Expression, n: Int): Expression =
    first(Concat(Seq(younger, ArrayExcept(older, younger))), Literal(n))

  override protected def lower(list: Expression): Expression = Reverse(list)

  override val function: SashFunction = described("last_distinct_n")("""
    Returns the last `n` different values, in the order in which they last came.

    * x - a value of a type that can be ordered
    * n - how many, a constant of 1 or more

    > SELECT x, _FUNC_(x, 2) OVER (ORDER BY x ROWS 2 PRECEDING) FROM VALUES ('a'), ('b'),
      ('c') AS t(x);
    a  ["a"]
    b  ["a","b"]
    c  ["b","c"]

    The rows are taken in the window's order; a group of GROUP BY has none. NULLs are
    skipped; no rows give an empty list. A combine costs O(n).
  """)
}

/** The n elements that come first in their order. */
private[aggregates] sealed abstract class Extremes(ascending: Boolean) extends BoundedList {
  override protected def sorts: Boolean = true

  override protected def combine(older: Expression, younger: Expression, n: Int): Expression =
    first(SortArray(Concat(Seq(older, younger)), Literal(ascending)), Literal(n))
}

private[spark] case object MaxN extends Extremes(ascending = false) {
  override val function: SashFunction = described("max_n")("""
    Returns the `n` greatest values, greatest first.

    * x - a value of a type that can be ordered
    * n - how many, a constant of 1 or more

    > SELECT x, _FUNC_(x, 2) OVER (ORDER BY x ROWS 2 PRECEDING) FROM VALUES ('a'), ('b'),
      ('c') AS t(x);
    a  ["a"]
    b  ["b","a"]
    c  ["c","b"]

    A value that comes twice is there twice. NULLs are skipped; no rows give an empty list.
    A combine costs O(n).
  """)
}

private[spark] case object MinN extends Extremes(ascending = true) {
  override val function: SashFunction = described("min_n")("""
    Returns the `n` least values, least first.

    * x - a value of a type that can be ordered
    * n - how many, a constant of 1 or more

    > SELECT x, _FUNC_(x, 2) OVER (ORDER BY x ROWS 2 PRECEDING) FROM VALUES ('a'), ('b'),
      ('c') AS t(x);
    a  ["a"]
    b  ["a","b"]
    c  ["a","b"]

    A value that comes twice is there twice. NULLs are skipped; no rows give an empty list.
    A combine costs O(n).
  """)
}

/** The arguments of the n rows whose values come first in their order. */
private[aggregates] sealed abstract class ExtremeRows(ascending: Boolean)
    extends Extremes(ascending) {
  override protected def element(arguments: Seq[Expression]): Expression = {
    val Seq(arg, value) = arguments
    CreateNamedStruct(Seq(Literal("value"), KnownNotNull(value), Literal("arg"), arg))
  }

  override protected def lower(list: Expression): Expression = {
    val struct = list.dataType.asInstanceOf[ArrayType].elementType.asInstanceOf[StructType]
    GetArrayStructFields(
      list,
      struct("arg"),
      ordinal = 1,
      numFields = 2,
      containsNull = struct("arg").nullable
    )
  }
}

private[spark] case object MaxNBy extends ExtremeRows(ascending = false) {
  override val function: SashFunction = described("max_n_by")("""
    Returns `arg` of the `n` rows with the greatest `x`, greatest first.

    * arg - a value of a type that can be ordered
    * x - a value of a type that can be ordered
    * n - how many, a constant of 1 or more

    > SELECT _FUNC_(y, x, 2) FROM VALUES ('a', 1), ('b', 3), ('c', 2) AS t(y, x);
    ["b","c"]

    Rows of equal `x` are sorted by `arg`, in the same direction. Rows whose `x` is NULL are
    skipped; no rows give an empty list. A combine costs O(n log n).
  """)
}

private[spark] case object MinNBy extends ExtremeRows(ascending = true) {
  override val function: SashFunction = described("min_n_by")("""
    Returns `arg` of the `n` rows with the least `x`, least first.

    * arg - a value of a type that can be ordered
    * x - a value of a type that can be ordered
    * n - how many, a constant of 1 or more

    > SELECT _FUNC_(y, x, 2) FROM VALUES ('a', 1), ('b', 3), ('c', 2) AS t(y, x);
    ["a","c"]

    Rows of equal `x` are sorted by `arg`, in the same direction. Rows whose `x` is NULL are
    skipped; no rows give an empty list. A combine costs O(n log n).
  """)
}
