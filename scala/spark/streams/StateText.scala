package io.sash.spark.streams

import scala.collection.mutable
import scala.util.hashing.MurmurHash3

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.internal.SQLConf

import io.sash.spark.slots.SlotProgram

/**
 * Says expressions in the same words each time that a query starts: columns by their names, with what
 * they are made of below the operator, and variables of lambdas by their number.
 *
 * @param child of the operator, whose columns its expressions are over
 * @param inputs columns beside them that aggregates read
 */
private[streams] final class StateText(
    child: LogicalPlan,
    inputs: Seq[Alias],
    programs: Seq[SlotProgram]
) {
  private[this] val cells = programs.flatMap(p => p.columns ++ p.right)
  private[this] val names: Map[ExprId, String] = {
    // columns of one name are told apart by the relation that they are of
    val leaves = child.collectLeaves().zipWithIndex.flatMap { case (leaf, i) =>
      leaf.output.map(c => c.exprId -> (if (i == 0) c.name else s"${c.name} of source $i"))
    }
    (leaves ++ inputs.zipWithIndex.map { case (c, i) => c.exprId -> s"input$i" } ++
      cells.zipWithIndex.map { case (c, i) => c.exprId -> s"cell$i" }).toMap
  }
  private[this] val variables = mutable.HashMap.empty[ExprId, String]

  /** What is below the operator, the analyzer's columns for expressions of a window among it. */
  private[this] val made: Map[ExprId, Expression] = child
    .collect { case Project(list, _) => list }
    .flatten
    .collect { case a: Alias if a.child.deterministic => a.exprId -> a.child }
    .toMap

  def said(e: Expression): String = whole(e).transform {
    case a: AttributeReference =>
      AttributeReference(names.getOrElse(a.exprId, a.name), a.dataType)()
    case v: NamedLambdaVariable => // whose names Python counts on
      v.copy(name = variables.getOrElseUpdate(v.exprId, s"v${variables.size}"))
  }.sql + parameters(e)

  /** Arguments of aggregates that are no expressions, which SQL leaves out: a precision, an order. */
  private def parameters(e: Expression): String =
    e.collect { case f: AggregateFunction => parametersOf(f) }
      .filter(_.nonEmpty)
      .map(_.mkString(" with ", ", ", ""))
      .mkString

  private def parametersOf(f: AggregateFunction): Seq[String] =
    f.productElementNames.zip(f.productIterator).toSeq.flatMap {
      case (_, of: AggregateFunction)                         => parametersOf(of)
      case (name, _: Int) if name.endsWith("AggBufferOffset") => Nil // a place, not an argument
      case (name, v @ (_: Boolean | _: Number | _: String))   => Seq(s"$name $v")
      case _                                                  => Nil
    }

  /** What words leave out: a hash of how partials are made. */
  def definitions: String = {
    val all = programs.flatMap { p =>
      p.parts.flatMap(d => d.identity ++ d.lift ++ d.combine) ++ p.holds
    }
    val types = cells.map(_.dataType.sql)
    f"definitions ${StateText.hash((all.map(said) ++ types).mkString("; "))}%x"
  }

  /** The session's time zone, if one of the expressions depends on it. */
  def zone(of: Seq[Expression]): String = {
    val zones = of.flatMap(whole(_).collect {
      case c: Cast if !Cast.needsTimeZone(c.child.dataType, c.dataType) => None
      case z: TimeZoneAwareExpression                                   => z.timeZoneId
    })
    zones.flatten.headOption.fold("")(_ => s"; time zone ${SQLConf.get.sessionLocalTimeZone}")
  }

  private def whole(e: Expression): Expression = e.transform {
    case a: AttributeReference if made.contains(a.exprId) => whole(made(a.exprId))
  }
}

private object StateText {

  /** The same in every JVM. */
  private def hash(text: String): Long =
    (MurmurHash3.stringHash(text).toLong << 32) | (MurmurHash3.stringHash(text, 1) & 0xffffffffL)
}
