package io.sash.spark.lateral

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.execution.SparkPlan

import io.sash.spark.base.SashConf
import io.sash.spark.windows.OfSubquery

/** The subqueries of a query that are left to Spark, each with its reason. */
private[lateral] final class LeftSubqueries {
  private val lines = mutable.LinkedHashSet.empty[String]

  def add(subquery: SubqueryExpression, why: String): Unit = {
    val line = s"${SubquerySourceText(subquery)}: $why"
    calls(subquery.plan).foreach { e =>
      e.setTagValue(LeftSubqueries.Lines, Seq(line))
      if (e.isInstanceOf[SortOrder]) e.setTagValue(OfSubquery.Order, ())
    }
    lines += line
  }

  /** A subquery that runs as a window, and was perhaps left to Spark under other settings. */
  def forget(subquery: LogicalPlan): Unit =
    calls(subquery).foreach(_.unsetTagValue(LeftSubqueries.Lines))

  /**
   * Expressions of the subquery that stay in Spark's plan. Other queries may share the
   * expressions of a view below, and do not share these.
   */
  private def calls(subquery: LogicalPlan): Seq[Expression] =
    subquery
      .collect { case p if SubExprUtils.hasOuterReferences(p) => p.expressions }
      .flatten
      .flatMap(_.collect { case e @ (_: AggregateFunction | _: SortOrder | _: BinaryComparison) =>
        e
      })

  /** Likewise, for an as-of join. */
  def add(around: String, why: String): Unit = lines += s"$around: $why"

  /**
   * The plan with the lines for EXPLAIN. Spark makes another plan, and some operator or some
   * expression of the subquery stays in it. The copy keeps the lines from other queries over the
   * same tables.
   */
  def tagged(plan: LogicalPlan): LogicalPlan =
    if (lines.isEmpty) plan
    else {
      val copy = plan.clone()
      // a table is not copied
      copy.foreach(p => if (p.children.nonEmpty) p.setTagValue(LeftSubqueries.Lines, lines.toSeq))
      copy
    }
}

private[spark] object LeftSubqueries {

  /** The lines of a node of Spark's plan. */
  def in(plan: SparkPlan): Seq[String] = {
    // where Spark puts TRUE for a condition, the tag is on the literal that all queries share
    val expressions = plan.expressions.flatMap(_.collect { case e if e.children.nonEmpty => e })
    (plan.logicalLink.toSeq.flatMap(_.getTagValue(Lines)) ++
      expressions.flatMap(_.getTagValue(Lines))).flatten
  }

  /** The reason where the feature is switched off. */
  val Off: String = s"${SashConf.LateralEnabled.key} is false"

  /** The reason for IN that is no condition of WHERE by itself. */
  val In =
    "IN inside of an expression may be NULL; write EXISTS with the equality among its conditions"

  /** The reason for NOT IN. */
  val NotIn =
    "NOT IN is NULL where the subquery has a NULL; if NULLs are to be skipped, write NOT " +
      "EXISTS with the equality among its conditions"

  /** The reason where a subquery, or the rows around it, depend on a further query around. */
  val Beyond = "it depends on rows of a query around the one that it stands in"

  /** The reason why the subqueries of an operator are left to Spark. */
  def place(operator: LogicalPlan): String = operator match {
    case _: Join => "it stands in a condition of JOIN; write it in WHERE, or in SELECT below"
    case _: Sort => "it stands in ORDER BY; compute it as a column of SELECT"
    case other   => s"it stands in ${other.nodeName}; compute it in SELECT of a query below"
  }

  /** The tag of operators and expressions of a query in which subqueries are left to Spark. */
  val Lines: TreeNodeTag[Seq[String]] = TreeNodeTag("sash.labels")
}
