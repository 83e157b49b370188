package io.sash.spark.plan

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Window}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.execution.{ProjectExec, SparkPlan, SparkStrategy}

import io.sash.spark.base.{SashConf, SparkVersions}
import io.sash.spark.kinds.ResolveWindowKinds
import io.sash.spark.monoids.{Algorithm, OnlySash, Refusal}
import io.sash.spark.ordering.{KeptSort, KeyOrder, OrderingExec}
import io.sash.spark.windows.WindowCall

/**
 * Plans a `SlidingWindowExec` for the window expressions that Sash accepts, above the operator
 * that orders its rows. The other expressions of the node become a window of Spark's below it,
 * and then one Spark sort serves both. A filter above the window on columns of its input becomes
 * part of the operator.
 */
private[sash] final case class SlidingWindowStrategy(session: SparkSession)
    extends SparkStrategy {

  private def conf: SQLConf = session.sessionState.conf

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case window: Window =>
      WindowFilter
        .released(window)
        .fold(planned(window, Nil))(released => Seq(planLater(released)))
    case Filter(condition, window: Window) =>
      WindowFilter
        .released(window)
        .fold(RowConditions.planned(condition, window)(planned(window, _))) { w =>
          Seq(planLater(Filter(condition, w)))
        }
    case _ => Nil
  }

  private def planned(window: Window, conditions: Seq[Expression]): Seq[SparkPlan] =
    window match {
      case _ if SashConf.enabled(conf) =>
        val (theirs, ours) = window.windowExpressions.partitionMap { e =>
          refusal(e, window).map(r => (e, r)).toLeft(e)
        }
        theirs.foreach { case (e, r) => checkSparks(e, r.reason) }
        // Spark adds plain columns to the window of a correlated subquery
        window.setTagValue(
          Refusal.Tag,
          theirs.collect { case (e, r) if !e.isInstanceOf[Attribute] => (described(e), r) }
        )
        if (ours.isEmpty) Nil else Seq(split(window, ours, theirs.map(_._1), conditions))
      case _ =>
        window.windowExpressions.foreach(checkSparks(_, ResolveWindowKinds.Off))
        Nil
    }

  private def split(
      window: Window,
      ours: Seq[NamedExpression],
      theirs: Seq[NamedExpression],
      conditions: Seq[Expression]
  ): SparkPlan = {
    val below =
      if (theirs.isEmpty) window.child else SparkVersions.withExpressions(window, theirs)
    val sliding = ordered(window, ours, conditions, planLater(below))
    if (theirs.isEmpty) sliding else ProjectExec(window.output, sliding)
  }

  private def ordered(
      window: Window,
      ours: Seq[NamedExpression],
      conditions: Seq[Expression],
      child: SparkPlan
  ): SlidingWindowExec = {
    val (keys, within) = (window.partitionSpec, window.orderSpec)
    val kept = KeptSort.of(KeyOrder(keys, within), conf)
    val input = if (kept.isEmpty) OrderingExec(keys, within, child) else child
    val sliding =
      SlidingWindowExec(ours, keys, within, conditions, SashConf.algorithm(conf), input)
    kept.foreach(sliding.setTagValue(KeptSort.Tag, _))
    sliding
  }

  private def refusal(e: NamedExpression, window: Window): Option[Refusal] = {
    val calls = e.collect { case w: WindowExpression => w }
    val unordered = window.partitionSpec.find(p => !RowOrdering.isOrderable(p.dataType))
    if (calls.isEmpty) {
      Some(Refusal.NoWindowFunction)
    } else {
      unordered
        .map(p => Refusal.Unordered(p.sql))
        .orElse(
          calls.iterator
            .map(WindowCall.of(_, Algorithm.Auto).swap.toOption)
            .collectFirst { case Some(r) => r }
        )
    }
  }

  /** Throws if the expression has a window or an aggregate that Spark cannot run. */
  private def checkSparks(e: Expression, why: String): Unit =
    e.foreach {
      case a: OnlySash => throw a.notRun(why)
      case _           => ()
    }

  private def described(e: NamedExpression): String =
    e.collectFirst { case w: WindowExpression => w }.fold(e.sql)(WindowCall.textOf)
}
