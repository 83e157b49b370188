package io.sash.spark.labels

import scala.util.{Left, Right}

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.catalyst.trees.TreePattern._

import io.sash.spark.base.{Filtered, SashConf}

/**
 * Runs correlated aggregates over a range as windows. For each row around the subquery (the
 * label) such an aggregate reads rows of another table (the events): LATERAL, inner or left, and
 * scalar subqueries in SELECT and WHERE. [[LabelUnion]] makes the plan.
 *
 * The rule runs after analysis, before Spark takes correlated subqueries apart.
 */
private[spark] object LabelWindows extends Rule[LogicalPlan] {

  /**
   * The tag of expressions in a subquery that is left to Spark, with the reason. They are an
   * aggregate function, expressions of ORDER BY, ends of a range, or an as-of join's distance.
   * Spark makes another plan, and some expression stays in it.
   */
  val Refused: TreeNodeTag[String] = TreeNodeTag("sash.labels")

  /** The reason why a scalar subquery among aggregates is left to Spark. */
  val InGroups = "it stands in a query with GROUP BY or aggregates; compute it below"

  /** The reason why a scalar subquery with LIMIT is left to Spark. */
  val OfRows = "a scalar subquery has one row; write LIMIT 1, or LATERAL for several rows"

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!SashConf.labelsEnabled(conf)) plan
    else {
      val rewrite = new LabelRewrite(conf.sessionLocalTimeZone, Some(new EventFilters(plan)))
      plan.transformDownWithSubqueriesAndPruning(
        _.containsAnyPattern(
          LATERAL_JOIN,
          SCALAR_SUBQUERY,
          EXISTS_SUBQUERY,
          IN_SUBQUERY,
          AS_OF_JOIN
        )
      ) {
        case p if rewrite.isDefinedAt(p) => rewrite(p)
      }
    }
}

/**
 * Replaces one operator with correlated subqueries.
 *
 * @param filters the filters of events in batch; none if labels and events are streams
 */
private[labels] final class LabelRewrite(zone: String, filters: Option[EventFilters])
    extends PartialFunction[LogicalPlan, LogicalPlan]
    with PredicateHelper {
  private val overStreams = filters.isEmpty

  override def isDefinedAt(plan: LogicalPlan): Boolean = plan match {
    case p @ (_: LateralJoin | _: Project | _: Filter | _: Aggregate) =>
      p.isStreaming == overStreams
    case join: AsOfJoin => !overStreams && !join.isStreaming && !join.left.isStreaming
    case _              => false
  }

  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    case join: LateralJoin => joined(join)
    case join: AsOfJoin    => joined(join)
    case project: Project  => projected(project)
    case filter: Filter    => filtered(filter)
    case groups: Aggregate => left(groups)
    case other             => other
  }

  /** Spark joins the answers of scalar subqueries below GROUP BY. */
  private def left(groups: Aggregate): LogicalPlan = {
    groups.expressions.flatMap(_.collect { case s: ScalarSubquery => s.plan }).foreach {
      subquery =>
        if (CorrelatedAggregate.of(subquery).nonEmpty) leave(subquery, LabelWindows.InGroups)
    }
    groups
  }

  /** A chain of lateral joins over the same labels becomes one plan. */
  private def joined(join: LateralJoin): LogicalPlan = {
    for (why <- LabelStep.refusal(join.joinType, join.condition) if query(join.right).nonEmpty)
      leave(join.right.plan, why)
    val (labels, steps) = chain(join)
    if (steps.isEmpty) join else joined(labels, steps)
  }

  private def joined(join: AsOfJoin): LogicalPlan =
    AsOf.of(join) match {
      case Right(asOf) if asOf.steps.forall(s => readsOnly(s.query, join.left, join.left)) =>
        asOf.over(joined(join.left, asOf.steps))
      case Right(_) => join
      case Left(why) =>
        join.orderExpression.setTagValue(LabelWindows.Refused, why)
        join
    }

  private def joined(labels: LogicalPlan, steps: Seq[LabelStep]): LogicalPlan = {
    val answered = LabelUnion(labels, steps.map(_.query), zone, filters)
    // a step may read the columns of the steps before it
    val plan = steps.zipWithIndex.foldLeft(answered.plan) { case (below, (step, i)) =>
      step.joined(below, answered.over(i, _))
    }
    val columns = steps.flatMap(_.query.results.map(_.exprId)).toSet
    Project(labels.output ++ plan.output.filter(a => columns(a.exprId)), plan)
  }

  /** The labels below a chain of lateral joins, and the joins that run as windows. */
  private def chain(plan: LogicalPlan): (LogicalPlan, Seq[LabelStep]) = plan match {
    case join: LateralJoin if LabelStep.refusal(join.joinType, join.condition).isEmpty =>
      query(join.right).fold((plan, Seq.empty[LabelStep])) { query =>
        val step = LabelStep(query, join.joinType, join.condition)
        val (labels, below) = chain(join.left)
        if (readsOnly(query, labels, join.left)) (labels, below :+ step)
        else if (readsOnly(query, join.left, join.left)) (join.left, Seq(step))
        else (plan, Nil)
      }
    case SubqueryAlias(_, child) =>
      val (labels, steps) = chain(child)
      if (steps.isEmpty) (plan, Nil) else (labels, steps)
    case _ => (plan, Nil)
  }

  /**
   * Whether a query can be asked for `labels`.
   *
   * @param around the labels, perhaps with the answers of other queries, which the query's
   *   columns and HAVING may read
   */
  private def readsOnly(
      query: CorrelatedAggregate,
      labels: LogicalPlan,
      around: LogicalPlan
  ): Boolean =
    // Spark removes references to a further query around only from operators that it knows
    !SubExprUtils.hasOuterReferences(labels) &&
      query.ofLabels.forall(_.references.subsetOf(labels.outputSet)) &&
      query.besideCalls.subsetOf(around.outputSet) &&
      (!overStreams || refusal(query, labels).isEmpty)

  /** The reason why a stream cannot answer a subquery, if it compares a range. */
  def refusal(subquery: SubqueryExpression, labels: LogicalPlan): Option[String] =
    parsed(subquery).flatMap {
      case Right(query) =>
        query.calls.flatMap(LabelUnion.refusal).headOption.orElse(refusal(query, labels))
      case Left(why) => Some(why)
    }

  /**
   * The reason why a stream cannot answer, if it cannot. Labels and events are streams, with
   * watermarks on the times that the range compares.
   */
  private def refusal(asked: CorrelatedAggregate, labels: LogicalPlan): Option[String] = {
    lazy val query = StreamRange.overTimes(asked, labels, zone)
    def times = StreamRange.base(query, zone).toSeq :+ query.time
    if (!asked.events.isStreaming)
      Some("the events are no stream; answer each micro-batch of labels in foreachBatch")
    else if (!labels.isStreaming)
      Some("its events are a stream and the rows around it are none; read both as streams")
    else
      StreamRange
        .fault(query, zone)
        .orElse(query.ofLabel.headOption.map { c =>
          s"${LabelText(c)} is a condition on the outer row; put it into a CASE above"
        })
        .orElse(times.find(!StreamRange.hasWatermark(_)).map { t =>
          s"${LabelText(t)} has no watermark; call withWatermark on it, in both streams"
        })
  }

  /** The aggregate of a subquery, unless Spark runs it; then the plan gets the reason. */
  private def query(subquery: SubqueryExpression): Option[CorrelatedAggregate] =
    parsed(subquery).flatMap {
      case Right(query) =>
        val refused = query.calls.flatMap(LabelUnion.refusal).headOption
        refused.foreach(leave(subquery.plan, _))
        Option.when(refused.isEmpty)(query)
      case Left(why) =>
        leave(subquery.plan, why)
        None
    }

  private def parsed(
      subquery: SubqueryExpression
  ): Option[Either[String, CorrelatedAggregate]] = subquery match {
    case _: Exists | _: ListQuery => CorrelatedAggregate.exists(subquery.plan)
    case _                        => CorrelatedAggregate.of(subquery.plan)
  }

  /** Likewise, if the subquery has one row at most. */
  private def one(subquery: SubqueryExpression): Option[CorrelatedAggregate] = {
    val found = query(subquery)
    if (found.exists(_.list.nonEmpty)) leave(subquery.plan, LabelWindows.OfRows)
    found.filter(_.list.isEmpty)
  }

  /** The optimizer removes some expressions, and EXPLAIN prints a reason once. */
  private def leave(subquery: LogicalPlan, why: String): Unit = {
    val ofTop = subquery.collectFirst {
      case a: Aggregate =>
        a.aggregateExpressions.flatMap(_.collectFirst { case c: AggregateExpression =>
          c.aggregateFunction
        })
      case s: Sort => s.order
    }
    (ofTop.toSeq.flatten ++ CorrelatedAggregate.ranges(subquery))
      .foreach(_.setTagValue(LabelWindows.Refused, why))
  }

  private def projected(project: Project): LogicalPlan =
    answers(project.child, project.projectList).fold[LogicalPlan](project) {
      case (answered, list) =>
        project.copy(list.map(_.asInstanceOf[NamedExpression]), answered.plan)
    }

  private def filtered(filter: Filter): LogicalPlan = {
    val (late, early) =
      splitConjunctivePredicates(filter.condition).map(RangeExists.ofIn).partition { c =>
        SubExprUtils.containsOuter(c) || c.exists {
          case _: ScalarSubquery | _: Exists => true
          case e                             => !e.deterministic
        }
      }
    answers(Filtered(early, filter.child), late).fold[LogicalPlan](filter) {
      case (answered, conditions) =>
        Project(filter.output, Filtered(conditions, answered.plan))
    }
  }

  /** The expressions with their subqueries replaced by answers; none if there is no window. */
  private def answers(
      labels: LogicalPlan,
      expressions: Seq[Expression]
  ): Option[(LabelUnion, Seq[Expression])] = {
    val found = expressions
      .flatMap(_.collect {
        case s: ScalarSubquery => s
        case e: Exists         => e
      })
      .flatMap(s => one(s).filter(readsOnly(_, labels, labels)).map(s.exprId -> _))
      .distinctBy(_._1)
    Option.when(found.nonEmpty) {
      val answered = LabelUnion(labels, found.map(_._2), zone, filters)
      val values = found.zipWithIndex.map { case ((id, query), i) =>
        id -> answered.over(i, query.orNull(LabelColumns.value(query.results.head)))
      }.toMap
      val replaced = expressions.map(_.transform {
        case s: SubqueryExpression if values.contains(s.exprId) => values(s.exprId)
      })
      (answered, replaced)
    }
  }
}
