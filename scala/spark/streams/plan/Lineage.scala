package io.sash.spark.streams.plan

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._

import io.sash.spark.streams.checkpoint.Said
import io.sash.spark.streams.task.BucketProcessor

/**
 * Where a plan's rows and columns come from, in words.
 *
 * @param fields the fields of columns that hold the rows of stateful operators
 */
private[spark] final case class Origin(
    rows: Said,
    columns: Map[ExprId, Said],
    fields: Map[ExprId, Seq[Said]] = Map.empty
) {
  def and(more: Map[ExprId, Said]): Origin = copy(columns = columns ++ more)
}

/**
 * Describes the rows and the columns of a plan by the sources that they come from.
 *
 * A source is described by its number in the plan, and its columns by their names. The place and
 * the options of a source do not matter, nor do the rows that a filter drops. An unknown operator
 * is described by its name and all of its expressions, so that two different ones are told apart.
 *
 * In a subquery, filters and orders do matter: the value of the subquery depends on them.
 *
 * @param query the query of the plan, with the common table expressions that it reads
 * @param isSubquery whether the plans are subqueries of expressions
 */
private[spark] final class Lineage(
    query: LogicalPlan,
    isCaseSensitive: Boolean,
    isSubquery: Boolean = false
) {
  private[this] var sources = 0
  private[this] val common: Map[Long, LogicalPlan] =
    query.collect { case w: WithCTE => w.cteDefs.map(d => d.id -> d.child) }.flatten.toMap
  private[this] val known =
    mutable.HashMap.empty[Long, Option[Origin]] // None while it is being described

  def of(plan: LogicalPlan): Origin = of(plan, Map.empty)

  /**
   * Describes expressions over the columns of `origin`. Subqueries count sources by themselves.
   */
  def words(origin: Origin): Words =
    new Words(
      origin.columns,
      origin.fields,
      new Lineage(query, isCaseSensitive, isSubquery = true).subquery(_, origin.columns)
    )

  private def subquery(plan: LogicalPlan, outer: Map[ExprId, Said]): Said = {
    val origin = of(plan, outer)
    val said = Said.all(origin.rows +: plan.output.map(column(origin, _).short), separator = "; ")
    said.copy(reads = said.reads.map("subquery " + _))
  }

  /** @param outer the columns of the query around a subquery */
  private def of(plan: LogicalPlan, outer: Map[ExprId, Said]): Origin = plan match {
    case OfBuckets(stateful, processor) => ofBuckets(stateful, processor, outer)
    case r: CTERelationRef              => read(r, outer)
    case w: WithCTE                     => of(w.plan, outer)
    case p: Project =>
      val child = of(p.child, outer)
      child.and(aliases(p.projectList, words(child, outer)))
    case a: Aggregate => aggregate(a, of(a.child, outer), outer)
    case g: Generate  => generate(g, of(g.child, outer), outer)
    case e: Expand    => expand(e, of(e.child, outer), outer)
    case u: Union     => union(u, outer)
    case j: Join      => join(j, of(j.left, outer), of(j.right, outer), outer)
    case u: UnaryNode if Lineage.isTransparent(u, isSubquery) => of(u.child, outer)
    case leaf if Lineage.isSource(leaf)                       => source(leaf)
    case other                                                => unknown(other, outer)
  }

  private def words(of: Origin, outer: Map[ExprId, Said]): Words =
    words(of.copy(columns = outer ++ of.columns))

  private def aliases(list: Seq[Expression], words: Words): Map[ExprId, Said] =
    list.collect { case a: Alias => a.exprId -> words.said(a.child) }.toMap

  private def source(leaf: LogicalPlan): Origin = leaf match {
    case _: OneRowRelation => Origin(Said(leaf.nodeName), Map.empty)
    case _ =>
      val number = sources
      sources += 1
      val of = if (number == 0) "" else s" of source $number"
      Origin(
        Said(s"source $number"),
        columns(
          leaf.output,
          c => {
            val name = lower(c.name) + of
            Said(name, Set(s"$name ${c.dataType.sql}"))
          }
        )
      )
  }

  private def lower(name: String): String =
    if (isCaseSensitive) name else name.toLowerCase(java.util.Locale.ROOT)

  private def columns(output: Seq[Attribute], said: Attribute => Said): Map[ExprId, Said] =
    output.map(a => a.exprId -> said(a)).toMap

  /** A common table expression has the same description at each place that reads it. */
  private def read(ref: CTERelationRef, outer: Map[ExprId, Said]): Origin = {
    val id = ref.cteId
    val definition = common.get(id)
    if (!known.contains(id)) {
      known(id) = None
      known(id) = definition.map(of(_, outer))
    }
    known(id).fold(Origin(Said("itself"), columns(ref.output, a => Said(lower(a.name))))) {
      origin =>
        renamed(origin, definition.get.output, ref.output)
    }
  }

  private def renamed(origin: Origin, from: Seq[Attribute], to: Seq[Attribute]): Origin =
    origin.and(from.zip(to).map { case (f, t) => t.exprId -> column(origin, f) }.toMap)

  private def column(origin: Origin, a: Attribute): Said =
    origin.columns.getOrElse(a.exprId, Said(lower(a.name)))

  private def aggregate(a: Aggregate, child: Origin, outer: Map[ExprId, Said]): Origin = {
    val words = this.words(child, outer)
    val by = a.groupingExpressions.map(words.said)
    Origin(
      Said.all(child.rows +: by, "groups of (", "; ", ")"),
      child.columns ++ aliases(a.aggregateExpressions, words),
      child.fields
    )
  }

  private def generate(g: Generate, child: Origin, outer: Map[ExprId, Said]): Origin = {
    val generator = words(child, outer).said(g.generator)
    val made = g.generatorOutput.zipWithIndex.map { case (a, i) =>
      a.exprId -> generator.in(s"column $i of ")
    }
    child
      .copy(rows = Said.all(Seq(child.rows, generator), "", if (g.outer) " outer " else " "))
      .and(made.toMap)
  }

  private def expand(e: Expand, child: Origin, outer: Map[ExprId, Said]): Origin = {
    val words = this.words(child, outer)
    val made = e.output.zipWithIndex.map { case (a, i) =>
      a.exprId -> Said.all(
        e.projections.map(p => words.said(p(i))).distinct,
        "each of (",
        ", ",
        ")"
      )
    }
    child
      .copy(rows = child.rows.in(s"${e.projections.length} copies of (", ")"))
      .and(made.toMap)
  }

  private def union(u: Union, outer: Map[ExprId, Said]): Origin = {
    val children = u.children.map(of(_, outer))
    val made = u.output.zipWithIndex.map { case (a, i) =>
      val each =
        u.children.zip(children).map { case (plan, o) => column(o, plan.output(i)).short }
      a.exprId -> Said.all(each, "(", " | ", ")")
    }
    Origin(Said.all(children.map(_.rows), "union of (", "; ", ")"), made.toMap)
  }

  private def join(j: Join, left: Origin, right: Origin, outer: Map[ExprId, Said]): Origin = {
    val both = Origin(left.rows, left.columns ++ right.columns, left.fields ++ right.fields)
    val on = j.condition.map(words(both, outer).said(_).in("on "))
    val kind = j.joinType.sql.toLowerCase(java.util.Locale.ROOT)
    val rows = Said.all(Seq(left.rows, right.rows), "(", s") $kind join (", ")")
    val made = j.output.filterNot(a => both.columns.contains(a.exprId))
    both
      .copy(rows = Said.all(rows +: on.toSeq, separator = " "))
      .and(columns(made, a => Said(s"${lower(a.name)} of a join")))
  }

  /** Sash's windows below: describes each field of their rows. */
  private def ofBuckets(
      stateful: TransformWithState,
      processor: BucketProcessor,
      outer: Map[ExprId, Said]
  ): Origin = {
    val child = of(stateful.child, outer)
    val input = stateful.child.output.zip(processor.input)
    val over = child.and(input.map { case (a, own) => own.exprId -> column(child, a) }.toMap)
    val words = this.words(over, outer)
    Origin(
      Said.all(child.rows +: processor.rowsOver.map(words.said), separator = " by "),
      Map.empty,
      Map(stateful.outputObjAttr.exprId -> processor.fields.map(words.said))
    )
  }

  private def unknown(plan: LogicalPlan, outer: Map[ExprId, Said]): Origin = {
    val children = plan.children.map(of(_, outer))
    val below = Origin(
      Said(""),
      children.flatMap(_.columns).toMap,
      children.flatMap(_.fields).toMap
    )
    val words = this.words(below, outer)
    val expressions =
      if (plan.expressions.nonEmpty) plan.expressions.map(words.said)
      else plan.children.flatMap(_.output).map(column(below, _).short) // DISTINCT, EXCEPT
    val name = plan.nodeName
    val made = aliases(plan.expressions, words)
    below
      .copy(rows = Said.all(children.map(_.rows) ++ expressions, s"$name(", "; ", ")"))
      .and(
        columns(
          plan.output.filterNot(a => below.columns.contains(a.exprId)),
          a => made.getOrElse(a.exprId, Said(s"${lower(a.name)} of $name"))
        )
      )
  }
}

private object Lineage {

  /** Whether a plan has no expressions but its own columns. */
  private def isSource(plan: LogicalPlan): Boolean =
    plan.children.isEmpty && plan.expressions.forall {
      case a: Attribute => plan.outputSet.contains(a)
      case _            => false
    }

  /**
   * Whether an operator is left out of the description: its rows are rows of its child. In a
   * subquery that does not hold if an aggregate or a limit above could tell. Operators are known
   * by name, since not every version has all of them.
   */
  private def isTransparent(plan: UnaryNode, isSubquery: Boolean): Boolean =
    Transparent(plan.nodeName) && !(isSubquery && ChoosesRows(plan.nodeName))

  private val ChoosesRows = Set("Filter", "Sample", "Sort", "TypedFilter")

  private val Transparent = Set(
    "CollectMetrics",
    "EventTimeWatermark",
    "Filter",
    "RebalancePartitions",
    "Repartition",
    "RepartitionByExpression",
    "ResolvedHint",
    "Sample",
    "Sort",
    "SubqueryAlias",
    "TypedFilter",
    "UpdateEventTimeWatermarkColumn",
    "View"
  )
}
