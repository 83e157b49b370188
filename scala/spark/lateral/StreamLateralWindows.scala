package io.sash.spark.lateral

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern._

import io.sash.spark.base.{SashConf, SashErrors}

/**
 * The counterpart of [[LateralWindows]] on streams. Labels and events are streams, and a
 * label is answered once the watermark has passed its time. The rule runs at the end of analysis,
 * before `StreamWindows` plans the windows that this rule makes.
 */
private[spark] object StreamLateralWindows extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!SashConf.lateralEnabled(conf)) plan
    else {
      val rewrite = new LateralRewrite(conf.sessionLocalTimeZone, overStreams = true)
      plan.resolveOperatorsDownWithPruning(
        _.containsAnyPattern(LATERAL_JOIN, SCALAR_SUBQUERY, EXISTS_SUBQUERY, LIST_SUBQUERY)
      ) {
        case p if p.resolved && askedBy(p).nonEmpty && p.exists(overStreams(_).nonEmpty) =>
          p.foreach(
            overTables(_).foreach(a => a.refusal(rewrite).foreach(a.fail))
          )
          val rewritten = if (rewrite.isDefinedAt(p) && overStreams(p).nonEmpty) rewrite(p) else p
          // Spark runs no subquery over a stream
          overStreams(rewritten).foreach(a => a.fail(a.fault(rewrite)))
          rewritten
      }
    }

  /** The correlated subqueries over streams. */
  private def overStreams(plan: LogicalPlan): Seq[Asked] = askedBy(plan).filter { a =>
    a.plan.isStreaming && SubExprUtils.hasOuterReferences(a.plan)
  }

  /**
   * The subqueries over tables whose outer rows are a stream. Spark would answer them by a
   * streaming aggregation, which fails in a query that also has a window.
   */
  private def overTables(plan: LogicalPlan): Seq[Asked] = askedBy(plan).filter { a =>
    !a.plan.isStreaming && a.labels.isStreaming && a.isAnswered
  }

  private def askedBy(operator: LogicalPlan): Seq[Asked] = operator match {
    case join: LateralJoin => Seq(Asked(join.right, operator))
    case _ if operator.children.nonEmpty =>
      operator.expressions.flatMap(_.collect { case s: SubqueryExpression => Asked(s, operator) })
    case _ => Nil
  }

  /** A subquery of an operator. */
  private final case class Asked(subquery: SubqueryExpression, operator: LogicalPlan) {
    def plan: LogicalPlan = subquery.plan

    /** The rows around the subquery. */
    def labels: LogicalPlan = operator.children.head

    /** Whether a subquery of this kind may become a window. */
    def isAnswered: Boolean = (subquery, operator) match {
      case (_: LateralSubquery, _)                                 => true
      case (_: ScalarSubquery | _: Exists, _: Project | _: Filter) => true
      case _                                                       => false
    }

    /** The reason, if the subquery compares a range and cannot run on a stream. */
    def refusal(rewrite: LateralRewrite): Option[String] =
      rewrite.refusal(subquery, labels, LateralStep.keepsAll(operator))

    private def word: String = subquery match {
      case _: LateralSubquery => "LATERAL"
      case _: Exists          => "EXISTS"
      case _: ListQuery       => "IN"
      case _                  => "scalar subquery"
    }

    /** Throws. If a Python function made the subquery, the message names it instead of SQL. */
    def fail(why: String): Unit = throw LateralSourceText
      .caller(plan)
      .fold(SashErrors.invalidArgument(word, "subquery", why))(
        SashErrors.invalidArgument(_, "events", why)
      )

    private def ofJoin: Option[String] = operator match {
      case LateralJoin(_, _, kind, on) => LateralStep.refusal(kind, on)
      case _                           => None
    }

    private def ofIn: Option[String] = subquery match {
      case q: ListQuery if CorrelatedAggregate.hasRange(q.plan) =>
        Some(
          "over a stream, IN is a condition of WHERE by itself; for NOT IN write NOT EXISTS " +
            "with the equality among its conditions"
        )
      case _ => None
    }

    def fault(rewrite: LateralRewrite): String = (subquery, operator) match {
      case (_: ScalarSubquery, _: Aggregate) => LateralWindows.InGroups
      case _ =>
        refusal(rewrite)
          .orElse(ofJoin)
          .orElse(ofIn)
          .getOrElse(
            "it compares no range of event times with the outer row; add one, as in " +
              "e.ts >= l.ts - INTERVAL 1 HOUR AND e.ts < l.ts"
          )
    }
  }
}
