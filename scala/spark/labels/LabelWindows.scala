package io.sash.spark.labels

import scala.util.{Left, Right}

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.Literal.TrueLiteral
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.plans.{Inner, JoinType, LeftOuter}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.catalyst.trees.TreePattern.{LATERAL_JOIN, SCALAR_SUBQUERY}

import io.sash.spark.base.SashConf

/**
 * Runs correlated aggregates over a range as windows. For each row around the subquery (the
 * label) such an aggregate reads rows of another table (the events): LATERAL, inner or left, and
 * scalar subqueries in SELECT and WHERE. [[LabelUnion]] makes the plan.
 *
 * The rule runs after analysis, before Spark takes correlated subqueries apart.
 */
private[spark] object LabelWindows extends Rule[LogicalPlan] with PredicateHelper {

  /**
   * The tag of an aggregate function in a subquery that is left to Spark, with the reason. Spark
   * makes another plan of the subquery, and the function stays in it.
   */
  val Refused: TreeNodeTag[String] = TreeNodeTag("sash.labels")

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!SashConf.labelsEnabled(conf)) plan
    else
      plan.transformDownWithSubqueriesAndPruning(
        _.containsAnyPattern(LATERAL_JOIN, SCALAR_SUBQUERY)
      ) {
        case join: LateralJoin if !join.isStreaming   => joined(join)
        case project: Project if !project.isStreaming => projected(project)
        case filter: Filter if !filter.isStreaming    => filtered(filter)
      }

  /** A lateral join with the query that it runs for each label. */
  private final case class Step(join: LateralJoin, query: CorrelatedAggregate) {

    /** The query's columns. A left join keeps a label whose query has no row. */
    def columns: Seq[NamedExpression] = query.having match {
      case Some(condition) if join.joinType == LeftOuter =>
        query.results.map {
          case a: Alias => a.withNewChildren(Seq(orNull(condition, a.child))).asInstanceOf[Alias]
          case a        => Alias(orNull(condition, a), a.name)(a.exprId)
        }
      case _ => query.results
    }

    /** The condition of HAVING on which an inner join keeps the label. */
    def kept: Option[Expression] = query.having.filter(_ => join.joinType == Inner)
  }

  private def orNull(condition: Expression, value: Expression): Expression =
    If(condition, value, Literal(null, value.dataType))

  /** A chain of lateral joins over the same labels becomes one plan. */
  private def joined(join: LateralJoin): LogicalPlan = {
    val (labels, steps) = chain(join)
    if (steps.isEmpty) join
    else {
      val answered = LabelUnion(labels, steps.map(_.query), conf.sessionLocalTimeZone)
      val columns = steps.zipWithIndex.flatMap { case (s, i) =>
        s.columns.map(answered.named(i, _))
      }
      val kept = steps.zipWithIndex.flatMap { case (s, i) => s.kept.map(answered.over(i, _)) }
      filter(
        steps.flatMap(_.join.condition).filterNot(_ == TrueLiteral),
        Project(labels.output ++ columns, filter(kept, answered.plan))
      )
    }
  }

  private def filter(conditions: Seq[Expression], plan: LogicalPlan): LogicalPlan =
    conditions.reduceOption(And).fold(plan)(Filter(_, plan))

  /** The labels below a chain of lateral joins, and the joins that run as windows. */
  private def chain(plan: LogicalPlan): (LogicalPlan, Seq[Step]) = plan match {
    case join: LateralJoin if isMeant(join.joinType, join.condition) =>
      query(join.right.plan).fold((plan, Seq.empty[Step])) { query =>
        val (labels, below) = chain(join.left)
        if (readsOnly(query, labels)) (labels, below :+ Step(join, query))
        else (join.left, Seq(Step(join, query)))
      }
    case SubqueryAlias(_, child) =>
      val (labels, steps) = chain(child)
      if (steps.isEmpty) (plan, Nil) else (labels, steps)
    case _ => (plan, Nil)
  }

  private def isMeant(joinType: JoinType, condition: Option[Expression]): Boolean =
    joinType == Inner || (joinType == LeftOuter && condition.forall(_ == TrueLiteral))

  private def readsOnly(query: CorrelatedAggregate, labels: LogicalPlan): Boolean =
    query.ofLabels.forall(_.references.subsetOf(labels.outputSet))

  /** The aggregate of a subquery, unless Spark runs it; then the plan gets the reason. */
  private def query(subquery: LogicalPlan): Option[CorrelatedAggregate] =
    CorrelatedAggregate.of(subquery).flatMap {
      case Right(query) =>
        val refused = query.calls.flatMap(LabelUnion.refusal).headOption
        refused.foreach(leave(subquery, _))
        Option.when(refused.isEmpty)(query)
      case Left(why) =>
        leave(subquery, why)
        None
    }

  private def leave(subquery: LogicalPlan, why: String): Unit =
    subquery
      .collectFirst { case a: Aggregate => a.aggregateExpressions }
      .toSeq
      .flatten
      .flatMap(_.collectFirst { case c: AggregateExpression => c.aggregateFunction })
      .headOption
      .foreach(_.setTagValue(Refused, why))

  private def projected(project: Project): LogicalPlan =
    answers(project.child, project.projectList).fold[LogicalPlan](project) {
      case (answered, list) =>
        project.copy(list.map(_.asInstanceOf[NamedExpression]), answered.plan)
    }

  private def filtered(filter: Filter): LogicalPlan = {
    val (late, early) =
      splitConjunctivePredicates(filter.condition).partition(_.exists {
        case _: ScalarSubquery => true
        case e                 => !e.deterministic
      })
    answers(this.filter(early, filter.child), late).fold[LogicalPlan](filter) {
      case (answered, conditions) =>
        Project(filter.output, this.filter(conditions, answered.plan))
    }
  }

  /** The expressions with their subqueries replaced by answers; none if there is no window. */
  private def answers(
      labels: LogicalPlan,
      expressions: Seq[Expression]
  ): Option[(LabelUnion, Seq[Expression])] = {
    val found = expressions
      .flatMap(_.collect { case s: ScalarSubquery => s })
      .flatMap(s => query(s.plan).filter(readsOnly(_, labels)).map(s.exprId -> _))
      .distinctBy(_._1)
    Option.when(found.nonEmpty) {
      val answered = LabelUnion(labels, found.map(_._2), conf.sessionLocalTimeZone)
      val values = found.zipWithIndex.map { case ((id, query), i) =>
        val value = query.results.head match {
          case a: Alias => a.child
          case a        => a
        }
        id -> answered.over(i, query.having.fold(value)(orNull(_, value)))
      }.toMap
      val replaced = expressions.map(_.transform {
        case s: ScalarSubquery if values.contains(s.exprId) => values(s.exprId)
      })
      (answered, replaced)
    }
  }
}
