package io.sash.spark.aggregates

import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.TypeUtils
import org.apache.spark.sql.sash.SqlInternals
import org.apache.spark.sql.types._

import io.sash.spark.base.{ArgumentChecks, SashFunction}

/**
 * A list of at most n of the values. Two lists combine in O(n), or in O(n log n) if they are
 * sorted, however long the window is.
 *
 * @param children the arguments of the list, and behind them n
 */
private[sash] final case class BoundedList(kind: ListKind, children: Seq[Expression])
    extends OwnMonoidAggregate {
  private def arguments = children.init
  private lazy val n = children.last.eval().asInstanceOf[Number].intValue
  private lazy val element = kind.element(arguments)

  private lazy val list = AttributeReference(
    "list",
    ArrayType(element.dataType, containsNull = false),
    nullable = false
  )()

  override def prettyName: String = kind.name
  override protected def stringArgs: Iterator[Any] = children.iterator
  override def nullable: Boolean = false
  override def dataType: DataType = evaluateExpression.dataType
  override def defaultResult: Option[Literal] = Some(Literal.create(Seq.empty, dataType))

  override def checkInputDataTypes(): TypeCheckResult = {
    val sorted = if (kind.sorts) arguments else Nil
    val ordered = sorted.map(e => TypeUtils.checkForOrderingExpr(e.dataType, prettyName))
    ArgumentChecks.inTurn(
      ArgumentChecks.checkCount("n", children.last, least = 1) +: ordered: _*
    )
  }

  override lazy val aggBufferAttributes: Seq[AttributeReference] = Seq(list)
  override lazy val initialValues: Seq[Expression] =
    Seq(Literal.create(Seq.empty, list.dataType))
  override protected def required: Seq[Expression] = Seq(arguments.last)
  override protected def lift: Seq[Expression] = Seq(CreateArray(Seq(element)))
  override protected def combine(o: Seq[Expression], y: Seq[Expression]): Seq[Expression] =
    Seq(kind.combine(o.head, y.head, n))

  override lazy val evaluateExpression: Expression = kind.lower(list)

  override protected def withNewChildrenInternal(
      children: IndexedSeq[Expression]
  ): BoundedList = copy(children = children)
}

/** The values that a list keeps. A row counts if its last argument before n is not NULL. */
private[sash] sealed abstract class ListKind extends Serializable {
  def name: String = function.name

  def function: SashFunction

  /** Whether the arguments have to have an order. */
  def sorts: Boolean = false

  /** The value that a row puts into the list. It is not NULL. */
  def element(arguments: Seq[Expression]): Expression = KnownNotNull(arguments.head)

  def combine(older: Expression, younger: Expression, n: Int): Expression

  def lower(list: Expression): Expression = list

  protected final def first(of: Expression, length: Expression): Expression =
    Slice(of, Literal(1), length)

  /** The SQL function of a list of values. */
  protected final def ofValues(
      name: String,
      usage: String,
      value: String,
      answer: String,
      note: String
  ): SashFunction = SashFunction(
    name,
    usage,
    Seq("x" -> value, ListKind.N),
    Seq(
      "SELECT x, _FUNC_(x, 2) OVER (ORDER BY x ROWS 2 PRECEDING) FROM VALUES ('a'), ('b'), " +
        "('c') AS t(x)" -> answer
    ),
    Seq(note, "NULLs are skipped; no rows give an empty list. A combine costs O(n)."),
    classOf[BoundedList]
  )(make)

  /** The SQL function of a list of arguments, by a value. */
  protected final def ofArguments(name: String, usage: String, answer: String): SashFunction =
    SashFunction(
      name,
      usage,
      Seq(
        "arg" -> "a value of a type that can be ordered",
        "x" -> "a value of a type that can be ordered",
        ListKind.N
      ),
      Seq(
        "SELECT _FUNC_(y, x, 2) FROM VALUES ('a', 1), ('b', 3), ('c', 2) AS t(y, x)" -> answer
      ),
      Seq(
        "Rows of equal `x` are sorted by `arg`, in the same direction. Rows whose `x` is NULL",
        "are skipped; no rows give an empty list. A combine costs O(n log n)."
      ),
      classOf[BoundedList]
    )(make)

  private def make(arguments: Seq[Expression]): Expression = BoundedList(this, arguments)
}

private object ListKind {
  val N: (String, String) = "n" -> "how many, a constant of 1 or more"
  val InOrder = "The rows are taken in the window's order; a group of GROUP BY has none."
}

private[sash] case object LastN extends ListKind {
  override def combine(older: Expression, younger: Expression, n: Int): Expression = {
    val tooMany = new Subtract(new Add(Size(older, false), Size(younger, false)), Literal(n))
    val from = new Add(Greatest(Seq(tooMany, Literal(0))), Literal(1))
    Concat(Seq(Slice(older, from, Literal(n)), younger))
  }

  override val function: SashFunction = ofValues(
    "last_n",
    "Returns the last `n` values, oldest first.",
    "a value of any type",
    "a\t[\"a\"]\nb\t[\"a\",\"b\"]\nc\t[\"b\",\"c\"]",
    ListKind.InOrder
  )
}

private[sash] case object FirstN extends ListKind {
  override def combine(older: Expression, younger: Expression, n: Int): Expression =
    Concat(Seq(older, first(younger, new Subtract(Literal(n), Size(older, false)))))

  override val function: SashFunction = ofValues(
    "first_n",
    "Returns the first `n` values, oldest first.",
    "a value of any type",
    "a\t[\"a\"]\nb\t[\"a\",\"b\"]\nc\t[\"a\",\"b\"]",
    ListKind.InOrder
  )
}

/** The list has the youngest value first. */
private[sash] case object LastDistinctN extends ListKind {
  override def sorts: Boolean = true

  // with one 0, as in GROUP BY; array_except has one or two of them, depending on the version
  override def element(arguments: Seq[Expression]): Expression =
    KnownNotNull(SqlInternals.normalized(arguments.head))

  override def combine(older: Expression, younger: Expression, n: Int): Expression =
    first(Concat(Seq(younger, ArrayExcept(older, younger))), Literal(n))

  override def lower(list: Expression): Expression = Reverse(list)

  override val function: SashFunction = ofValues(
    "last_distinct_n",
    "Returns the last `n` different values, in the order in which they last came.",
    "a value of a type that can be ordered",
    "a\t[\"a\"]\nb\t[\"a\",\"b\"]\nc\t[\"b\",\"c\"]",
    ListKind.InOrder
  )
}

/** The n elements that come first in their order. */
private[sash] sealed abstract class Extremes(ascending: Boolean) extends ListKind {
  override def sorts: Boolean = true

  override def combine(older: Expression, younger: Expression, n: Int): Expression =
    first(SortArray(Concat(Seq(older, younger)), Literal(ascending)), Literal(n))
}

private[sash] case object MaxN extends Extremes(ascending = false) {
  override val function: SashFunction = ofValues(
    "max_n",
    "Returns the `n` greatest values, greatest first.",
    "a value of a type that can be ordered",
    "a\t[\"a\"]\nb\t[\"b\",\"a\"]\nc\t[\"c\",\"b\"]",
    "A value that comes twice is there twice."
  )
}

private[sash] case object MinN extends Extremes(ascending = true) {
  override val function: SashFunction = ofValues(
    "min_n",
    "Returns the `n` least values, least first.",
    "a value of a type that can be ordered",
    "a\t[\"a\"]\nb\t[\"a\",\"b\"]\nc\t[\"a\",\"b\"]",
    "A value that comes twice is there twice."
  )
}

/** The arguments of the n rows whose values come first in their order. */
private[sash] sealed abstract class ExtremeRows(ascending: Boolean) extends Extremes(ascending) {
  override def element(arguments: Seq[Expression]): Expression = {
    val Seq(arg, value) = arguments
    CreateNamedStruct(Seq(Literal("value"), KnownNotNull(value), Literal("arg"), arg))
  }

  override def lower(list: Expression): Expression = {
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

private[sash] case object MaxNBy extends ExtremeRows(ascending = false) {
  override val function: SashFunction = ofArguments(
    "max_n_by",
    "Returns `arg` of the `n` rows with the greatest `x`, greatest first.",
    "[\"b\",\"c\"]"
  )
}

private[sash] case object MinNBy extends ExtremeRows(ascending = true) {
  override val function: SashFunction = ofArguments(
    "min_n_by",
    "Returns `arg` of the `n` rows with the least `x`, least first.",
    "[\"a\",\"c\"]"
  )
}
