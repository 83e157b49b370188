package io.sash.spark.streams.plan

import java.util.Locale

import scala.collection.mutable

import org.apache.spark.sql.catalyst.analysis.{FunctionRegistry, UnresolvedAttribute}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.expressions.objects.LambdaVariable
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.types._

import io.sash.spark.kinds.SlidingAggregate
import io.sash.spark.monoids.WrittenMonoid
import io.sash.spark.multisets.MovingAggregate
import io.sash.spark.times.Distance

/**
 * Describes the expressions of an operator by their SQL, in words that are the same at each start
 * of a query and in each version of Spark. A column is described by its name, however the plan
 * below the operator makes it. Some parts do not matter to a state, and are left out: the names
 * of lambda variables, aliases of a function, seeds, and casts that the analyzer adds. `lower` of
 * a `monoid_agg` is left out, too, since it only reads partials.
 *
 * @param below the plan below the operator
 */
private[spark] final class Signature(below: LogicalPlan, isCaseSensitive: Boolean) {
  private[this] val definitions: Map[ExprId, Expression] = {
    val made = AnalyzerColumns.in(below) ++ Signature.answers(below)
    made ++ below.expressions.collect {
      case StoredColumn(id, of) if made.contains(of.exprId) => id -> made(of.exprId)
    }
  }

  private[this] val names: Map[ExprId, String] =
    (below.output +: AnalyzerColumns.inputs(below)).flatMap(numbered).toMap

  /** The names of columns beside each other. Further columns of the same name are numbered. */
  private def numbered(columns: Seq[Attribute]): Map[ExprId, String] =
    columns.groupBy(c => lower(c.name)).flatMap { case (name, alike) =>
      alike.zipWithIndex.map { case (c, i) =>
        c.exprId -> (if (i == 0) name else s"$name (${i + 1})")
      }
    }

  def of(e: Expression): String = {
    val plain = new Plain().of(e)
    if (plain.exists(_.isInstanceOf[NonSQLExpression])) Signature.stable(plain.sql) else plain.sql
  }

  def all(of: Seq[Expression]): String = of.map(this.of).mkString(", ")

  /** Whether the value of an expression depends on the session's time zone. */
  def isZoned(e: Expression): Boolean = e.exists {
    case a: Attribute => definitions.get(a.exprId).exists(isZoned)
    case part         => Distance.isZoned(part)
  }

  private def lower(name: String): String =
    if (isCaseSensitive) name else name.toLowerCase(Locale.ROOT)

  private final class Plain {
    private[this] val variables = mutable.HashMap.empty[Any, Int]

    def of(e: Expression): Expression = withoutAlias(e match {
      case a: Attribute if definitions.contains(a.exprId) => of(definitions(a.exprId))
      case a: UnresolvedAttribute => column(lower(a.nameParts.last), NullType)
      case a: Attribute =>
        column(names.getOrElse(a.exprId, lower(a.name)), a.dataType)
      case OuterReference(a)                  => of(a.toAttribute)
      case a: Alias                           => of(a.child)
      case t: TaggingExpression               => of(t.child)
      case c: Cast if Signature.isImplicit(c) => of(c.child)
      case r: InheritAnalysisRules =>
        PrettyAttribute(r.makeSQLString(r.parameters.map(of(_).sql)), r.dataType)
      case a: AggregateExpression => call(SlidingAggregate.withoutWindows(a))
      case v: VariableReference   => Literal(v.eval(), v.dataType)
      case v: NamedLambdaVariable => column(s"v${number(v.exprId)}", v.dataType)
      case v: LambdaVariable      => v.copy(id = number(v.id).toLong)
      case r: BoundReference      => column(s"_${r.ordinal}", r.dataType)
      case s: ExpressionWithRandomSeed if s.resolved => s.withNewSeed(0L).mapChildren(of)
      case g @ GetStructField(child, i, _) =>
        val name = child.dataType.asInstanceOf[StructType].fields(i).name
        g.copy(child = of(child), name = Some(name))
      case other => other.mapChildren(of)
    })

    private def column(name: String, dataType: DataType): Expression =
      AttributeReference(name, dataType)()

    private def number(id: Any): Int = variables.getOrElseUpdate(id, variables.size)

    private def call(a: AggregateExpression): Expression = {
      val (function, isDistinct) = a.aggregateFunction match {
        case m: MovingAggregate => (m.function, m.distinct)
        case f                  => (f, a.isDistinct)
      }
      val text = function match {
        case m: WrittenMonoid =>
          val parts = m.inputs ++ m.bodies
          s"${function.prettyName}(${parts.map(of(_).sql).mkString(", ")})"
        case f =>
          (of(f) match {
            case plain: AggregateFunction => plain.sql(isDistinct)
            case other                    => other.sql
          }) + Signature.hidden(f)
      }
      val filter = a.filter.fold("")(f => s" FILTER (WHERE ${of(f).sql})")
      PrettyAttribute(text + filter, a.dataType)
    }
  }

  private def withoutAlias(e: Expression): Expression = {
    val alias = FunctionRegistry.FUNC_ALIAS
    if (e.getTagValue(alias).isEmpty) e
    else {
      val plain = e.clone()
      plain.unsetTagValue(alias)
      plain
    }
  }
}

private object Signature {

  /** The answers of Sash's operators below, whose names are the user's, and may change. */
  private def answers(below: LogicalPlan): Map[ExprId, Expression] = below
    .collect { case Project(list, OfBuckets(stateful, processor)) =>
      list.collect { case a @ Alias(FieldOf(stateful.outputObjAttr, i), _) =>
        a.exprId -> processor.fields(i)
      }
    }
    .flatten
    .filterNot(_._2.isInstanceOf[Attribute]) // a column that passes through
    .toMap

  private def isImplicit(c: Cast): Boolean =
    c.getTagValue(Cast.USER_SPECIFIED_CAST).isEmpty && !narrows(c) ||
      c.dataType == c.child.dataType

  /** Whether a cast loses digits. The function `int` makes such a cast; the analyzer does not. */
  private def narrows(c: Cast): Boolean = c.dataType match {
    case ByteType | ShortType | IntegerType | LongType | FloatType =>
      c.child.dataType.isInstanceOf[NumericType] && !Cast.canUpCast(c.child.dataType, c.dataType)
    case _ => false
  }

  /** Arguments that functions leave out of their SQL. Others are in the partials' types. */
  private def hidden(f: AggregateFunction): String = f match {
    case First(_, true) | Last(_, true) | AnyValue(_, true) => " IGNORE NULLS"
    case p: Percentile if p.reverse                         => " DESC"
    case _                                                  => ""
  }

  /** The text without ids of expressions, and without addresses of objects and lambdas. */
  private def stable(text: String): String = text
    .replaceAll("#\\d+L?", "")
    .replaceAll("\\$\\$Lambda[^\\s,()\\]]*", "")
    .replaceAll("@[0-9a-f]{4,}", "")
}
