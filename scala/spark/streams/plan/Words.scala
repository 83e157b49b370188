package io.sash.spark.streams.plan

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.expressions.objects.LambdaVariable
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.types.{DataType, StructType}

import io.sash.spark.streams.checkpoint.{Said, SaidColumn}

/**
 * Says expressions: their SQL, with what is said of each column in its place, and behind it the
 * arguments that SQL leaves out. Names of lambdas' variables, seeds and aliases do not matter.
 *
 * @param columns what is said of them
 * @param fields the same of those of columns that are operators' rows
 * @param relation what is said of a subquery
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

  /** An expression without what changes from start to start, or does not matter. */
  private final class Plain {
    private[this] val variables = mutable.HashMap.empty[Any, Int]

    def of(e: Expression): Expression = e match {
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

  /** Arguments that are no expressions, which SQL leaves out: a precision, a schema, an order. */
  private def hidden(e: Expression): Seq[String] = e match {
    case _: Literal | _: Cast | _: GetStructField | _: NamedExpression | _: LambdaVariable => Nil
    case other => argumentsOf(other)
  }

  private def argumentsOf(e: Expression): Seq[String] =
    e.productElementNames.zip(e.productIterator).toSeq.flatMap {
      case (_, of: AggregateFunction) if e.children.contains(of) => Nil // it is said by itself
      case (_, of: AggregateFunction)                            => argumentsOf(of)
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

  /** Places, settings of the session, and what SQL does say. */
  private def isNoise(name: String): Boolean = name.endsWith("AggBufferOffset") ||
    Set("name", "udfName", "isDistinct", "nullable", "timeZoneId", "failOnError", "hideSeed")(
      name
    ) ||
    OfSettings.exists(name.toLowerCase(java.util.Locale.ROOT).contains)

  /** What ANSI mode and settings of earlier behaviour say. */
  private val OfSettings = Seq("ansi", "overflow", "legacy")

  private def isZoned(e: Expression): Boolean = e match {
    case c: Cast if !Cast.needsTimeZone(c.child.dataType, c.dataType) => false
    case z: TimeZoneAwareExpression                                   => z.timeZoneId.nonEmpty
    case _                                                            => false
  }

  /** Without ids of expressions, and addresses of objects and lambdas. */
  private def stable(text: String): String = text
    .replaceAll("#\\d+L?", "")
    .replaceAll("\\$\\$Lambda[^\\s,()\\]]*", "")
    .replaceAll("@[0-9a-f]{4,}", "")
}
