package io.sash.spark.lateral

import scala.util.{Left, Right}

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern._

import io.sash.spark.base.{Filtered, SashConf}

/**
 * Runs correlated aggregates over a range as windows. For each outer row (the ''label''), such
 * an aggregate reads rows of another table (the ''events''). It may be an inner or left LATERAL
 * join, a scalar subquery or EXISTS in SELECT or WHERE, IN in WHERE, or an as-of join.
 * [[LateralUnion]] makes the plan.
 *
 * The rule runs after analysis, before Spark decorrelates subqueries.
 */
private[spark] object LateralWindows extends Rule[LogicalPlan] {

  /** The reason why a scalar subquery among aggregates is left to Spark. */
  val InGroups = "it stands in a query with GROUP BY or aggregates; compute it below"

  /** The reason why a scalar subquery with LIMIT is left to Spark. */
  val OfRows = "a scalar subquery has one row; write LIMIT 1, or LATERAL for several rows"

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!SashConf.enabled(conf)) plan
    else {
      val isOn = SashConf.lateralEnabled(conf)
      val rewrite = new LateralRewrite(conf.sessionLocalTimeZone, overStreams = false)
      val rewritten = plan.transformDownWithSubqueriesAndPruning(
        _.containsAnyPattern(
          LATERAL_JOIN,
          SCALAR_SUBQUERY,
          EXISTS_SUBQUERY,
          IN_SUBQUERY,
          AS_OF_JOIN
        )
      ) {
        case p if isOn && rewrite.isDefinedAt(p) => rewrite(p)
        case p =>
          rewrite.leaveAll(p, if (isOn) LeftSubqueries.place(p) else LeftSubqueries.Off)
          p
      }
      if (isOn)
        GroupedJoins.in(plan).foreach { case (around, why) => rewrite.reasons.add(around, why) }
      rewrite.reasons.tagged(rewritten)
    }
}

/**
 * Rewrites one operator that has correlated subqueries.
 *
 * @param overStreams whether labels and events are streams
 */
private[lateral] final class LateralRewrite(zone: String, overStreams: Boolean)
    extends PartialFunction[LogicalPlan, LogicalPlan]
    with PredicateHelper {

  /** The subqueries that are left to Spark. */
  val reasons = new LeftSubqueries

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
    case groups: Aggregate =>
      leaveAll(groups, LateralWindows.InGroups)
      groups
    case other => other
  }

  /** Notes for EXPLAIN that all subqueries of an operator are left to Spark. */
  def leaveAll(operator: LogicalPlan, why: String): Unit = if (!operator.isStreaming) {
    operator match {
      case join: LateralJoin => leave(join.right, why)
      case join: AsOfJoin    => reasons.add(AsOf.sourceText(join), why)
      case _                 => operator.expressions.flatMap(subqueries).foreach(leave(_, why))
    }
  }

  /** Notes each IN that has not become an EXISTS. */
  private def leaveIn(e: Expression): Unit = subqueries(e).foreach {
    case q: ListQuery =>
      val isNot = e.exists {
        case Not(in: InSubquery) => in.query eq q
        case _                   => false
      }
      leave(q, if (isNot) LeftSubqueries.NotIn else LeftSubqueries.In)
    case _ =>
  }

  private def leave(subquery: SubqueryExpression, why: String): Unit =
    if (CorrelatedAggregate.hasRange(subquery.plan)) reasons.add(subquery, why)
    else leaveEqual(subquery)

  private def subqueries(e: Expression): Seq[SubqueryExpression] = e.collect {
    case s: SubqueryExpression => s
  }

  /** Rewrites a chain of lateral joins over the same labels at once. */
  private def joined(join: LateralJoin): LogicalPlan = {
    for {
      why <- LateralStep.refusal(join.joinType, join.condition)
      if query(join.right, LateralStep.keepsAll(join)).nonEmpty
    } reasons.add(join.right, why)
    val (labels, steps) = chain(join)
    if (steps.isEmpty) join else joined(labels, steps)
  }

  private def joined(join: AsOfJoin): LogicalPlan =
    AsOf.of(join) match {
      case Right(asOf) if asOf.steps.forall(s => readsOnly(s.query, join.left, join.left)) =>
        asOf.over(joined(join.left, asOf.steps.map(_.named(AsOf.sourceText(join)))))
      case refused =>
        reasons.add(AsOf.sourceText(join), refused.swap.getOrElse(LeftSubqueries.Beyond))
        join
    }

  private def joined(labels: LogicalPlan, steps: Seq[LateralStep]): LogicalPlan = {
    val answered = LateralUnion(labels, steps.map(_.query), zone, overStreams)
    // a step may read the columns of the steps before it
    val plan = steps.zipWithIndex.foldLeft(answered.plan) { case (below, (step, i)) =>
      step.joined(below, answered.over(i, _))
    }
    val columns = steps.flatMap(_.query.results.map(_.exprId)).toSet
    Project(labels.output ++ plan.output.filter(a => columns(a.exprId)), plan)
  }

  /** The labels below a chain of lateral joins, and the joins that run as windows. */
  private def chain(plan: LogicalPlan): (LogicalPlan, Seq[LateralStep]) = plan match {
    case join: LateralJoin if LateralStep.refusal(join.joinType, join.condition).isEmpty =>
      val subquery = query(join.right, LateralStep.keepsAll(join))
      subquery.fold((plan, Seq.empty[LateralStep])) { query =>
        val step = LateralStep(query, join.joinType, join.condition)
        val (labels, below) = chain(join.left)
        if (readsOnly(query, labels, join.left)) (labels, below :+ step)
        else if (readsOnly(query, join.left, join.left)) (join.left, Seq(step))
        else {
          reasons.add(join.right, LeftSubqueries.Beyond)
          (plan, Nil)
        }
      }
    case SubqueryAlias(_, child) =>
      val (labels, steps) = chain(child)
      if (steps.isEmpty) (plan, Nil) else (labels, steps)
    case _ => (plan, Nil)
  }

  /**
   * Whether `labels` are the only outer rows that a query reads.
   *
   * @param around the labels, perhaps with the answers of other queries; the query's columns and
   *   HAVING may read both
   */
  private def readsOnly(
      query: CorrelatedAggregate,
      labels: LogicalPlan,
      around: LogicalPlan
  ): Boolean =
    // Spark resolves references to a query further out only in operators that it knows
    !SubExprUtils.hasOuterReferences(labels) &&
      query.ofLabels.forall(_.references.subsetOf(labels.outputSet)) &&
      query.besideCalls.subsetOf(around.outputSet) &&
      (!overStreams || refusal(query, labels).isEmpty)

  /**
   * The reason, if a subquery compares a range and cannot run on a stream.
   *
   * @param keepsAll whether a label without a row of the subquery stays, with NULL
   */
  def refusal(
      subquery: SubqueryExpression,
      labels: LogicalPlan,
      keepsAll: Boolean
  ): Option[String] =
    parsed(subquery).flatMap {
      case Right(query) => refusal(query, keepsAll).orElse(refusal(query, labels))
      case Left(why)    => Some(why)
    }

  private def refusal(query: CorrelatedAggregate, keepsAll: Boolean): Option[String] =
    query.calls
      .flatMap(LateralUnion.refusal(_, overStreams))
      .headOption
      .orElse(if (keepsAll) LateralStep.refusal(query) else None)

  /**
   * The reason, if a query cannot run on a stream. Labels and events have to be streams with
   * watermarks on the times that the range compares.
   */
  private def refusal(original: CorrelatedAggregate, labels: LogicalPlan): Option[String] = {
    lazy val query = StreamTimeRange.overTimes(original, labels, zone)
    def times = StreamTimeRange.base(query, zone).toSeq :+ query.time
    if (!original.events.isStreaming)
      Some("the events are no stream; answer each micro-batch of labels in foreachBatch")
    else if (!labels.isStreaming)
      Some("its events are a stream and the rows around it are none; read both as streams")
    else
      StreamTimeRange
        .fault(query, zone)
        .orElse(query.ofLabel.headOption.map { c =>
          s"${LateralSourceText(c)} is a condition on the outer row; put it into a CASE above"
        })
        .orElse(times.find(!StreamTimeRange.hasWatermark(_)).map { t =>
          s"${LateralSourceText(t)} has no watermark; call withWatermark on it, in both streams"
        })
  }

  /** The aggregate of a subquery. None if Spark runs it; then the reason is noted. */
  private def query(
      subquery: SubqueryExpression,
      keepsAll: Boolean
  ): Option[CorrelatedAggregate] =
    parsed(subquery) match {
      case Some(Right(query)) =>
        val refused = refusal(query, keepsAll)
        refused.fold(reasons.forget(subquery.plan))(reasons.add(subquery, _))
        Option.when(refused.isEmpty)(query.copy(text = SubquerySourceText(subquery)))
      case Some(Left(why)) =>
        reasons.add(subquery, why)
        None
      case None =>
        leaveEqual(subquery)
        None
    }

  private def leaveEqual(subquery: SubqueryExpression): Unit =
    if (SubExprUtils.hasOuterReferences(subquery.plan) && readsTable(subquery.plan))
      reasons.add(subquery, CorrelatedAggregate.withoutRange(subquery.plan))

  private def parsed(
      subquery: SubqueryExpression
  ): Option[Either[String, CorrelatedAggregate]] = subquery match {
    case _: Exists | _: ListQuery => CorrelatedAggregate.exists(subquery.plan)
    case _                        => CorrelatedAggregate.of(subquery.plan)
  }

  private def readsTable(plan: LogicalPlan): Boolean =
    plan.collectLeaves().exists(!_.isInstanceOf[OneRowRelation])

  /** Likewise, for a subquery that must have one row at most. */
  private def one(
      subquery: SubqueryExpression,
      labels: LogicalPlan
  ): Option[CorrelatedAggregate] = {
    val readQuery = query(subquery, keepsAll = true)
    readQuery
      .flatMap { query =>
        if (query.list.nonEmpty) Some(LateralWindows.OfRows)
        else Option.unless(readsOnly(query, labels, labels))(LeftSubqueries.Beyond)
      }
      .fold(readQuery) { why =>
        reasons.add(subquery, why)
        None
      }
  }

  private def projected(project: Project): LogicalPlan =
    answers(project.child, project.projectList).fold[LogicalPlan](project) {
      case (answered, list) =>
        project.copy(list.map(_.asInstanceOf[NamedExpression]), answered.plan)
    }

  private def filtered(filter: Filter): LogicalPlan = {
    val (late, early) =
      splitConjunctivePredicates(filter.condition).map(c => c -> RangeExists.ofIn(c)).partition {
        case (_, c) =>
          SubExprUtils.containsOuter(c) || c.exists {
            case _: ScalarSubquery | _: Exists => true
            case e                             => !e.deterministic
          }
      }
    early.foreach { case (condition, _) => leaveIn(condition) }
    val labels = Filtered(early.map(_._1), filter.child)
    answers(labels, late.map(_._2)).fold[LogicalPlan](filter) { case (answered, conditions) =>
      val asWritten = conditions.zip(late).map {
        // Spark runs this one, as IN if it was IN
        case (_: Exists, (condition, _)) => condition
        case (condition, _)              => condition
      }
      Project(filter.output, Filtered(asWritten, answered.plan))
    }
  }

  /** The expressions with subqueries replaced by answers; none if no subquery is rewritten. */
  private def answers(
      labels: LogicalPlan,
      expressions: Seq[Expression]
  ): Option[(LateralUnion, Seq[Expression])] = {
    expressions.foreach(leaveIn)
    val rewritable = expressions
      .flatMap(subqueries)
      .collect { case s @ (_: ScalarSubquery | _: Exists) => one(s, labels).map(s.exprId -> _) }
      .flatten
      .distinctBy(_._1)
    Option.when(rewritable.nonEmpty) {
      val answered = LateralUnion(labels, rewritable.map(_._2), zone, overStreams)
      val values = rewritable.zipWithIndex.map { case ((id, query), i) =>
        id -> answered.over(i, query.orNull(LateralColumns.value(query.results.head)))
      }.toMap
      val replaced = expressions.map(_.transform {
        case s: SubqueryExpression if values.contains(s.exprId) => values(s.exprId)
      })
      (answered, replaced)
    }
  }
}
