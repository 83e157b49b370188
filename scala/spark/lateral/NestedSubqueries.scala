package io.sash.spark.lateral

import org.apache.spark.sql.catalyst.expressions.{AttributeSet, SubExprUtils, SubqueryExpression}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Filter, LogicalPlan}

/**
 * Subqueries within a subquery. One that reads the rows around it may do so in WHERE, over the
 * columns of a table: such a condition stays where it is. Other columns of a subquery are
 * replaced, and a subquery within it would still read the old ones.
 */
private[lateral] object NestedSubqueries {

  /** The reason why Spark has to run a subquery. */
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
