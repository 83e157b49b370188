package io.sash.spark.lateral

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.execution.SparkPlan

import io.sash.spark.base.SashConf
import io.sash.spark.windows.OfSubquery

/** Collects the subqueries that are left to Spark, each with its reason, for EXPLAIN. */
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

  /** Removes old reasons: other settings may have left this subquery to Spark before. */
  def forget(subquery: LogicalPlan): Unit =
    calls(subquery).foreach(_.unsetTagValue(LeftSubqueries.Lines))

  /**
   * Expressions of the subquery that remain in Spark's physical plan and carry the reason. Other
   * queries may share the expressions of a view below, but not these.
   */
  private def calls(subquery: LogicalPlan): Seq[Expression] =
    subquery
      .collect { case p if SubExprUtils.hasOuterReferences(p) => p.expressions }
      .flatten
      .flatMap(_.collect { case e @ (_: AggregateFunction | _: SortOrder | _: BinaryComparison) =>
        e
      })

  /** Adds an as-of join, or a join that is grouped by its left rows. */
  def add(around: String, why: String): Unit = lines += s"$around: $why"

  /**
   * A copy of the plan whose operators are tagged with the lines for EXPLAIN. Spark rewrites the
   * plan, but some tagged operator or expression remains. Without the copy, other queries over
   * the same tables would show the lines, too.
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

  /** The lines of a node of the physical plan. */
  def in(plan: SparkPlan): Seq[String] = {
    // if Spark replaces a condition by TRUE, its tag moves to a literal that all queries share
    val expressions = plan.expressions.flatMap(_.collect { case e if e.children.nonEmpty => e })
    (plan.logicalLink.toSeq.flatMap(_.getTagValue(Lines)) ++
      expressions.flatMap(_.getTagValue(Lines))).flatten
  }

  /** The reason, if the feature is switched off. */
  val Off: String = s"${SashConf.LateralEnabled.key} is false"

  /** The reason for an IN that is not a conjunct of WHERE. */
  val In =
    "IN inside of an expression may be NULL; write EXISTS with the equality among its conditions"

  /** The reason for NOT IN. */
  val NotIn =
    "NOT IN is NULL where the subquery has a NULL; if NULLs are to be skipped, write NOT " +
      "EXISTS with the equality among its conditions"

  /** The reason, if a subquery or its outer rows depend on a query further out. */
  val Beyond = "it depends on rows of a query around the one that it stands in"

  /** The reason why subqueries in such an operator are left to Spark. */
  def place(operator: LogicalPlan): String = operator match {
    case _: Join => "it stands in a condition of JOIN; write it in WHERE, or in SELECT below"
    case _: Sort => "it stands in ORDER BY; compute it as a column of SELECT"
    case other   => s"it stands in ${other.nodeName}; compute it in SELECT of a query below"
  }

  /** Tags operators and expressions with the lines of their query. */
  val Lines: TreeNodeTag[Seq[String]] = TreeNodeTag("sash.labels")
}
