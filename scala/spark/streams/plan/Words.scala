package io.sash.spark.streams.plan

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.expressions.objects.LambdaVariable
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.types.{DataType, StructType}

import io.sash.spark.base.Described
import io.sash.spark.monoids.WindowAggregate
import io.sash.spark.streams.checkpoint.{Said, SaidColumn}

/**
 * Describes expressions: by their SQL, with each column replaced by its description, and then by
 * the arguments that SQL leaves out. Names of lambda variables, seeds and aliases do not matter.
 *
 * @param columns the descriptions of columns
 * @param fields the descriptions of fields, for columns that hold the rows of operators
 * @param relation describes a subquery
 */
private[spark] final class Words(
    columns: Map[ExprId, Said],
    fields: Map[ExprId, Seq[Said]],
    relation: LogicalPlan => Said
) {

  def said(e: Expression): Said = {
    val plain = new Plain().of(e)
    val inner = plain.collect { case c: SaidColumn => c.said }
    val sql = plain.sql
    val text = if (plain.exists(_.isInstanceOf[NonSQLExpression])) Words.stable(sql) else sql
    Said(
      text + plain.collect { case part => Words.hidden(part) }.flatten.map(" with " + _).mkString,
      inner.flatMap(_.reads).toSet,
      inner.exists(_.isZoned) || plain.exists(Words.isZoned)
    )
  }

  /**
   * Rewrites an expression without parts that change from start to start, or that do not matter.
   */
  private final class Plain {
    private[this] val variables = mutable.HashMap.empty[Any, Int]

    def of(e: Expression): Expression = e match {
      case d: Described if d.inWords ne d             => of(d.inWords)
      case FieldOf(a, i) if fields.contains(a.exprId) => column(fields(a.exprId)(i), e)
      case a: Attribute =>
        column(columns.getOrElse(a.exprId, Said(a.name)), e)
      case OuterReference(a)                         => of(a.toAttribute)
      case a: Alias                                  => of(a.child)
      case c: Cast if c.dataType == c.child.dataType => of(c.child)
      case r: RuntimeReplaceable                     => of(r.replacement)
      case s: SubqueryExpression                     => column(subquery(s), e)
      case v: VariableReference                      => Literal(v.eval(), v.dataType)
      case v: NamedLambdaVariable                    => v.copy(name = s"v${number(v.exprId)}")
      case v: LambdaVariable                         => v.copy(id = number(v.id).toLong)
      case s: ExpressionWithRandomSeed if s.resolved => s.withNewSeed(0L).mapChildren(of)
      case g @ GetStructField(child, i, _) =>
        val name = child.dataType.asInstanceOf[StructType].fields(i).name
        g.copy(child = of(child), name = Some(name))
      case other => other.mapChildren(of)
    }

    private def number(id: Any): Int = variables.getOrElseUpdate(id, variables.size)

    private def column(said: Said, e: Expression) =
      SaidColumn(said.short, e.dataType, e.nullable)

    private def subquery(s: SubqueryExpression): Said =
      Said.all(
        relation(s.plan) +: s.children.map(Words.this.said),
        s"${s.prettyName}(",
        "; ",
        ")"
      )
  }
}

private object Words {

  /**
   * Arguments that are no expressions, such as a precision, a schema or an order; SQL leaves them
   * out.
   */
  private def hidden(e: Expression): Seq[String] = e match {
    case _: Literal | _: Cast | _: GetStructField | _: NamedExpression | _: LambdaVariable => Nil
    case d: Described          => d.words
    case w: WindowAggregate[_] => hidden(w.function)
    case other                 => argumentsOf(other)
  }

  private def argumentsOf(e: Expression): Seq[String] =
    e.productElementNames.zip(e.productIterator).toSeq.flatMap {
      case (_, of: AggregateFunction) if e.children.contains(of) => Nil // described as a child
      case (_, of: AggregateFunction)                            => hidden(of)
      case (name, _) if isNoise(name)                            => Nil
      case (name, value) => valueOf(value).map(v => s"$name $v")
    }

  private def valueOf(value: Any): Option[String] = value match {
    case Some(v)                               => valueOf(v)
    case v: Boolean                            => Option.when(v)("true")
    case v: DataType                           => Some(v.sql.replace(" NOT NULL", ""))
    case v @ (_: Number | _: String | _: Char) => Some(v.toString)
    case v: Map[_, _] if v.nonEmpty => Some(v.toSeq.map(_.toString).sorted.mkString(" "))
    case v: Seq[_] if v.nonEmpty && v.forall(isText) => Some(v.mkString(" "))
    case _                                           => None
  }

  private def isText(value: Any): Boolean = value.isInstanceOf[String]

  /**
   * Whether an argument is left out: a buffer's position, a setting of the session, or part of
   * the SQL.
   */
  private def isNoise(name: String): Boolean = name.endsWith("AggBufferOffset") ||
    Set("name", "udfName", "isDistinct", "nullable", "timeZoneId", "failOnError", "hideSeed")(
      name
    ) ||
    OfSettings.exists(name.toLowerCase(java.util.Locale.ROOT).contains)

  /** Parts of the names of arguments for ANSI mode and for earlier behaviour. */
  private val OfSettings = Seq("ansi", "overflow", "legacy")

  private def isZoned(e: Expression): Boolean = e match {
    case c: Cast if !Cast.needsTimeZone(c.child.dataType, c.dataType) => false
    case z: TimeZoneAwareExpression                                   => z.timeZoneId.nonEmpty
    case _                                                            => false
  }

  /** The text without ids of expressions, and without addresses of objects and lambdas. */
  private def stable(text: String): String = text
    .replaceAll("#\\d+L?", "")
    .replaceAll("\\$\\$Lambda[^\\s,()\\]]*", "")
    .replaceAll("@[0-9a-f]{4,}", "")
}
