package io.sash.spark.lateral

import org.apache.spark.sql.catalyst.expressions.{AttributeSet, SubExprUtils, SubqueryExpression}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Filter, LogicalPlan}

/**
 * Subqueries within a subquery. A correlated one is allowed in WHERE, if it reads columns of a
 * table, since such a condition stays in its place. Other columns of the outer subquery are
 * replaced, and a nested subquery would still read the old ones.
 */
private[lateral] object NestedSubqueries {

  /** The reason, if Spark has to run a subquery because of a nested one. */
  def refusal(subquery: LogicalPlan): Option[String] = {
    val ofTables = AttributeSet(subquery.collectLeaves().flatMap(_.output))
    val moved = for {
      operator <- subquery.collect { case p => p }
      nested <- operator.expressions.flatMap(_.collect { case s: SubqueryExpression => s })
      read = SubExprUtils.getOuterReferences(nested.plan)
      if read.nonEmpty
      if !isOnRows(operator) || !read.forall(_.references.subsetOf(ofTables))
    } yield read.map(LateralSourceText(_)).mkString(", ")
    moved.headOption.map(read =>
      s"a subquery within it reads $read; Sash takes that in WHERE alone, over columns of a table"
    )
  }

  private def isOnRows(operator: LogicalPlan): Boolean = operator match {
    case Filter(_, rows) => !rows.exists(_.isInstanceOf[Aggregate])
    case _               => false
  }
}
