package io.sash.spark.lateral

import scala.util.matching.Regex

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.types.{DataType, DayTimeIntervalType, NullType}

import io.sash.spark.times.TimestampPlusMicros
import io.sash.spark.times.WindowFormula.TimeWindowOf

/** Renders expressions of a subquery as the user wrote them, for messages and EXPLAIN. */
private[lateral] object LateralSourceText {
  def apply(e: Expression): String = {
    val bare = withOwnTexts(e).transformUp {
      case OuterReference(a)                                          => a
      case c: Cast if c.getTagValue(Cast.USER_SPECIFIED_CAST).isEmpty => c.child
      case KnownNotNull(child)                                        => child
      case If(IsNull(_) | _: Or, Literal(null, _), udf: Called)       => udf
      case udf: ScalaUDF                         => Called(udf.name, udf.children)
      case FirstTime(number, _, _)               => number
      case TimestampPlusMicros(time, n) if n < 0 => new Subtract(time, micros(-n))
      case TimestampPlusMicros(time, n)          => new Add(time, micros(n))
    }
    // a function that Spark replaces keeps its arguments outside the tree: `outer(…)` is left
    // there
    plain(Outer.replaceAllIn(bare.sql, m => Regex.quoteReplacement(m.group(1))))
  }

  /** Puts texts in place of subqueries and `window` calls, which Spark has rewritten. */
  private def withOwnTexts(e: Expression): Expression = e.transform {
    case x: Exists             => Quoted(s"EXISTS ${SubquerySourceText(x)}")
    case s: SubqueryExpression => Quoted(SubquerySourceText(s))
    case f @ GetStructField(TimeWindowOf(time, widths), _, _) =>
      val arguments = apply(time) +: widths.map(micros(_).sql)
      Quoted(s"window(${arguments.mkString(", ")}).${f.extractFieldName}")
  }

  /** A condition as an operand of AND: without outer parentheses, unless it is an OR. */
  def condition(c: Expression): String = c match {
    case Not(EqualTo(l, r))      => s"${apply(l)} <> ${apply(r)}"
    case b: BinaryComparison     => s"${apply(b.left)} ${b.symbol} ${apply(b.right)}"
    case _: And | _: Not | _: In => apply(c).drop(1).dropRight(1)
    case other                   => apply(other)
  }

  /** A condition in parentheses, if its SQL text has them. */
  def quoted(c: Expression): String = c match {
    case Not(_: EqualTo) => s"(${condition(c)})"
    case other           => apply(other)
  }

  /** The name of the Python function that made a subquery; none if the user wrote it. */
  def caller(subquery: LogicalPlan): Option[String] =
    subquery
      .collect { case p => p.expressions }
      .flatten
      .flatMap(_.collect { case OuterReference(a) => a.qualifier })
      .flatten
      .collectFirst { case OfPython(function, _) => function }

  /** Whether a Python function made the column for itself, so that the user does not know it. */
  def isHidden(column: String): Boolean = Hidden.matches(column)

  /** Replaces the names that Python functions give to labels and columns by readable ones. */
  def plain(text: String): String = OfPython.replaceAllIn(
    text,
    _.group(2) match {
      case "." | "_of_" => "label."
      case _            => ""
    }
  )

  /** A part of an expression that is rendered as a given text. */
  private abstract class OwnText extends Expression with Unevaluable {
    override def dataType: DataType = NullType
    override def nullable: Boolean = true
  }

  private final case class Quoted(override val sql: String) extends OwnText {
    override def children: Seq[Expression] = Nil
    override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): Quoted =
      this
  }

  /** A call of a user-defined function. */
  private final case class Called(name: String, children: Seq[Expression]) extends OwnText {
    override def sql: String = s"$name(${children.map(_.sql).mkString(", ")})"
    override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): Called =
      copy(children = newChildren)
  }

  private def micros(n: Long): Expression = Literal(n, DayTimeIntervalType())

  private val Outer = """outer\(([^()]+)\)""".r
  private val OfPython = "(window_join|as_of)_[0-9a-f]{32}([.]|_of_|_|)".r
  private val Hidden = "(window_join|as_of)_[0-9a-f]{32}_[0-9]+".r
}
