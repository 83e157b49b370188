package io.sash.spark.lateral

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.plans.{Inner, LeftOuter}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.trees.TreePattern.{AGGREGATE, JOIN}

/**
 * Joins over a range that are grouped by columns of the left side. Sash does not rewrite them,
 * since only the user knows whether each left row is a group of its own. EXPLAIN shows the
 * subquery to write instead.
 */
private[lateral] object GroupedJoins extends PredicateHelper {

  /** The text of each such join, and the advice. */
  def in(plan: LogicalPlan): Seq[(String, String)] =
    if (!plan.containsAllPatterns(AGGREGATE, JOIN)) Nil
    else
      plan.collectWithSubqueries { case a: Aggregate if !a.isStreaming => of(a) }.flatten

  private def of(groups: Aggregate): Option[(String, String)] = {
    val calls = groups.aggregateExpressions.flatMap(_.collect { case c: AggregateExpression =>
      c
    })
    for {
      join <- joinBelow(groups.child)
      condition <- join.condition
      if join.joinType == LeftOuter || join.joinType == Inner
      conjuncts = splitConjunctivePredicates(CorrelatedRows.spelled(condition))
      if conjuncts.exists(isRange(join, _))
      by = groups.groupingExpressions
      if by.nonEmpty && by.forall(_.references.subsetOf(join.left.outputSet))
      if calls.nonEmpty && calls.forall(_.references.subsetOf(join.right.outputSet))
      // a left join keeps a left row without a match, and count(*) counts that row
      if join.joinType == Inner || calls.forall(_.references.nonEmpty)
    } yield {
      val on = conjuncts.map(LateralSourceText.condition).mkString(" AND ")
      val keys = by.map(LateralSourceText(_)).mkString(", ")
      val list = calls.map(LateralSourceText(_)).distinct.mkString(", ")
      val having = if (join.joinType == Inner) " HAVING count(*) > 0" else ""
      val word = if (join.joinType == LeftOuter) "LEFT JOIN" else "JOIN"
      s"$word ON $on GROUP BY $keys" ->
        (s"Spark joins the pairs, and then groups them; if GROUP BY tells the left rows apart, " +
          s"write LATERAL (SELECT $list … WHERE $on$having)")
    }
  }

  private def joinBelow(plan: LogicalPlan): Option[Join] = plan match {
    case j: Join                                                        => Some(j)
    case Project(list, child) if list.forall(_.isInstanceOf[Attribute]) => joinBelow(child)
    case SubqueryAlias(_, child)                                        => joinBelow(child)
    case _                                                              => None
  }

  private def isRange(join: Join, c: Expression): Boolean = c match {
    case _: EqualTo | _: EqualNullSafe => false
    case c: BinaryComparison           => readsBoth(join, c)
    case _                             => false
  }

  private def readsBoth(join: Join, c: Expression): Boolean =
    Seq(join.left, join.right).forall(side => c.references.exists(side.outputSet.contains))
}
