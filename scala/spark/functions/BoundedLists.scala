package io.sash.spark.functions

import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult.TypeCheckSuccess
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.trees.{BinaryLike, TernaryLike}
import org.apache.spark.sql.catalyst.util.TypeUtils
import org.apache.spark.sql.sash.SqlInternals
import org.apache.spark.sql.types._

import io.sash.spark.base.{ArgumentChecks, SashFunction}

/**
 * A list of at most n of the values. Two lists combine in O(n), however long the window is.
 */
private[sash] abstract class BoundedList private[functions] extends MonoidAggregate {

  /** How many values. */
  def size: Expression

  /** The value that a row puts into the list. It is not NULL. */
  protected def element: Expression

  private lazy val list =
    AttributeReference(
      "list",
      ArrayType(element.dataType, containsNull = false),
      nullable = false
    )()

  override def nullable: Boolean = false
  override def dataType: DataType = list.dataType
  override def defaultResult: Option[Literal] = Some(Literal.create(Seq.empty, dataType))

  protected final def checkOrdered(e: Expression): TypeCheckResult =
    TypeUtils.checkForOrderingExpr(e.dataType, prettyName)

  protected def checkElement: TypeCheckResult = TypeCheckSuccess

  override def checkInputDataTypes(): TypeCheckResult = {
    val counts = ArgumentChecks.checkCount("n", size, least = 1)
    if (counts.isFailure) counts else checkElement
  }

  protected final lazy val n: Int = size.eval().asInstanceOf[Number].intValue

  override lazy val aggBufferAttributes: Seq[AttributeReference] = Seq(list)
  override lazy val initialValues: Seq[Expression] =
    Seq(Literal.create(Seq.empty, list.dataType))
  override protected def lift: Seq[Expression] = Seq(CreateArray(Seq(element)))

  override protected final def combine(
      o: Seq[Expression],
      y: Seq[Expression]
  ): Seq[Expression] = Seq(combine(o.head, y.head))

  protected def combine(older: Expression, younger: Expression): Expression

  protected final def first(of: Expression, length: Expression): Expression =
    Slice(of, Literal(1), length)

  override lazy val evaluateExpression: Expression = list
}

/** A list of at most n values, and nothing but them. */
private[sash] abstract class ListOfValues private[functions]
    extends BoundedList
    with BinaryLike[Expression] {
  def value: Expression

  override def left: Expression = value
  override def right: Expression = size
  override protected def required: Seq[Expression] = Seq(value)
  override protected def element: Expression = KnownNotNull(value)
}

private[sash] final case class LastN(value: Expression, size: Expression) extends ListOfValues {
  override def prettyName: String = LastN.Function.name
  override lazy val deterministic: Boolean = false // as collect_list: order matters

  override protected def combine(older: Expression, younger: Expression): Expression = {
    val tooMany = new Subtract(new Add(Size(older, false), Size(younger, false)), Literal(n))
    val from = new Add(Greatest(Seq(tooMany, Literal(0))), Literal(1))
    Concat(Seq(Slice(older, from, Literal(n)), younger))
  }

  override protected def withNewChildrenInternal(x: Expression, n: Expression): LastN =
    copy(value = x, size = n)
}

private[sash] object LastN {
  private[spark] val Function: SashFunction = BoundedLists.function(
    "last_n",
    "Returns the last `n` values, oldest first.",
    "a value of any type",
    "a\t[\"a\"]\nb\t[\"a\",\"b\"]\nc\t[\"b\",\"c\"]",
    "The rows are taken in the window's order; a group of GROUP BY has none.",
    classOf[LastN]
  )(LastN(_, _))
}

private[sash] final case class FirstN(value: Expression, size: Expression) extends ListOfValues {
  override def prettyName: String = FirstN.Function.name
  override lazy val deterministic: Boolean = false // as collect_list: order matters

  override protected def combine(older: Expression, younger: Expression): Expression =
    Concat(Seq(older, first(younger, new Subtract(Literal(n), Size(older, false)))))

  override protected def withNewChildrenInternal(x: Expression, n: Expression): FirstN =
    copy(value = x, size = n)
}

private[sash] object FirstN {
  private[spark] val Function: SashFunction = BoundedLists.function(
    "first_n",
    "Returns the first `n` values, oldest first.",
    "a value of any type",
    "a\t[\"a\"]\nb\t[\"a\",\"b\"]\nc\t[\"a\",\"b\"]",
    "The rows are taken in the window's order; a group of GROUP BY has none.",
    classOf[FirstN]
  )(FirstN(_, _))
}

/** The list has the youngest value first. */
private[sash] final case class LastDistinctN(value: Expression, size: Expression)
    extends ListOfValues {
  override def prettyName: String = LastDistinctN.Function.name
  override lazy val deterministic: Boolean = false // as collect_list: order matters
  override protected def checkElement: TypeCheckResult = checkOrdered(value)

  // with one 0, as in GROUP BY; array_except has one or two of them, depending on the version
  override protected def element: Expression = KnownNotNull(SqlInternals.normalized(value))

  override protected def combine(older: Expression, younger: Expression): Expression =
    first(Concat(Seq(younger, ArrayExcept(older, younger))), Literal(n))

  override lazy val evaluateExpression: Expression = Reverse(aggBufferAttributes.head)

  override protected def withNewChildrenInternal(x: Expression, n: Expression): LastDistinctN =
    copy(value = x, size = n)
}

private[sash] object LastDistinctN {
  private[spark] val Function: SashFunction = BoundedLists.function(
    "last_distinct_n",
    "Returns the last `n` different values, in the order in which they last came.",
    "a value of a type that can be ordered",
    "a\t[\"a\"]\nb\t[\"a\",\"b\"]\nc\t[\"b\",\"c\"]",
    "The rows are taken in the window's order; a group of GROUP BY has none.",
    classOf[LastDistinctN]
  )(LastDistinctN(_, _))
}

/** The n values that come first in their order. */
private[sash] abstract class ExtremeValues private[functions] (ascending: Boolean)
    extends ListOfValues {
  override protected def checkElement: TypeCheckResult = checkOrdered(value)

  override protected def combine(older: Expression, younger: Expression): Expression =
    first(SortArray(Concat(Seq(older, younger)), Literal(ascending)), Literal(n))
}

private[sash] final case class MaxN(value: Expression, size: Expression)
    extends ExtremeValues(ascending = false) {
  override def prettyName: String = MaxN.Function.name
  override protected def withNewChildrenInternal(x: Expression, n: Expression): MaxN =
    copy(value = x, size = n)
}

private[sash] object MaxN {
  private[spark] val Function: SashFunction = BoundedLists.function(
    "max_n",
    "Returns the `n` greatest values, greatest first.",
    "a value of a type that can be ordered",
    "a\t[\"a\"]\nb\t[\"b\",\"a\"]\nc\t[\"c\",\"b\"]",
    "A value that comes twice is there twice.",
    classOf[MaxN]
  )(MaxN(_, _))
}

private[sash] final case class MinN(value: Expression, size: Expression)
    extends ExtremeValues(ascending = true) {
  override def prettyName: String = MinN.Function.name
  override protected def withNewChildrenInternal(x: Expression, n: Expression): MinN =
    copy(value = x, size = n)
}

private[sash] object MinN {
  private[spark] val Function: SashFunction = BoundedLists.function(
    "min_n",
    "Returns the `n` least values, least first.",
    "a value of a type that can be ordered",
    "a\t[\"a\"]\nb\t[\"a\",\"b\"]\nc\t[\"a\",\"b\"]",
    "A value that comes twice is there twice.",
    classOf[MinN]
  )(MinN(_, _))
}

/** The arguments of the n rows whose values come first in their order. */
private[sash] abstract class ExtremeRows private[functions] (ascending: Boolean)
    extends BoundedList
    with TernaryLike[Expression] {
  def arg: Expression
  def value: Expression

  override def first: Expression = arg
  override def second: Expression = value
  override def third: Expression = size

  override def dataType: DataType = ArrayType(arg.dataType, arg.nullable)
  override protected def required: Seq[Expression] = Seq(value)
  override protected def checkElement: TypeCheckResult = {
    val values = checkOrdered(value)
    if (values.isFailure) values else checkOrdered(arg)
  }

  override protected def element: Expression =
    CreateNamedStruct(Seq(Literal("value"), KnownNotNull(value), Literal("arg"), arg))

  override protected def combine(older: Expression, younger: Expression): Expression =
    first(SortArray(Concat(Seq(older, younger)), Literal(ascending)), Literal(n))

  override lazy val evaluateExpression: Expression = {
    val struct = element.dataType.asInstanceOf[StructType]
    GetArrayStructFields(
      aggBufferAttributes.head,
      struct("arg"),
      ordinal = 1,
      numFields = 2,
      containsNull = arg.nullable
    )
  }
}

private[sash] final case class MaxNBy(arg: Expression, value: Expression, size: Expression)
    extends ExtremeRows(ascending = false) {
  override def prettyName: String = MaxNBy.Function.name
  override protected def withNewChildrenInternal(
      a: Expression,
      v: Expression,
      n: Expression
  ): MaxNBy = copy(arg = a, value = v, size = n)
}

private[sash] object MaxNBy {
  private[spark] val Function: SashFunction = BoundedLists.functionBy(
    "max_n_by",
    "Returns `arg` of the `n` rows with the greatest `x`, greatest first.",
    "[\"b\",\"c\"]",
    classOf[MaxNBy]
  )(MaxNBy(_, _, _))
}

private[sash] final case class MinNBy(arg: Expression, value: Expression, size: Expression)
    extends ExtremeRows(ascending = true) {
  override def prettyName: String = MinNBy.Function.name
  override protected def withNewChildrenInternal(
      a: Expression,
      v: Expression,
      n: Expression
  ): MinNBy = copy(arg = a, value = v, size = n)
}

private[sash] object MinNBy {
  private[spark] val Function: SashFunction = BoundedLists.functionBy(
    "min_n_by",
    "Returns `arg` of the `n` rows with the least `x`, least first.",
    "[\"a\",\"c\"]",
    classOf[MinNBy]
  )(MinNBy(_, _, _))
}

private object BoundedLists {
  private val N = "n" -> "how many, a constant of 1 or more"
  private val Cost = "NULLs are skipped; no rows give an empty list. A combine costs O(n)"

  def function(
      name: String,
      usage: String,
      value: String,
      answer: String,
      note: String,
      implementation: Class[_]
  )(make: (Expression, Expression) => Expression): SashFunction = SashFunction(
    name,
    usage,
    Seq("x" -> value, N),
    Seq(
      "SELECT x, _FUNC_(x, 2) OVER (ORDER BY x ROWS 2 PRECEDING) FROM VALUES ('a'), ('b'), " +
        "('c') AS t(x)" -> answer
    ),
    Seq(note, s"$Cost."),
    implementation
  ) { case Seq(x, n) => make(x, n) }

  def functionBy(name: String, usage: String, answer: String, implementation: Class[_])(
      make: (Expression, Expression, Expression) => Expression
  ): SashFunction = SashFunction(
    name,
    usage,
    Seq(
      "arg" -> "a value of a type that can be ordered",
      "x" -> "a value of a type that can be ordered",
      N
    ),
    Seq("SELECT _FUNC_(y, x, 2) FROM VALUES ('a', 1), ('b', 3), ('c', 2) AS t(y, x)" -> answer),
    Seq(
      "Rows of equal `x` are in the order of `arg`. Rows whose `x` is NULL are skipped; no rows",
      "give an empty list. A combine costs O(n log n)."
    ),
    implementation
  ) { case Seq(arg, x, n) => make(arg, x, n) }
}
