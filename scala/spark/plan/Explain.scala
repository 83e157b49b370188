package io.sash.spark.plan

import org.apache.spark.sql.ExtendedExplainGenerator
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.internal.SQLConf

import io.sash.spark.ordering.OrderingExec

/** The part of EXPLAIN that says which windows Sash took and why it left the others. */
final class Explain extends ExtendedExplainGenerator with AdaptiveSparkPlanHelper {
  override def title: String = "Sash"

  override def generateExtendedInfo(plan: SparkPlan): String = {
    val lines = collect(plan) {
      case s: SlidingWindowExec => s.calls.map(c => s"slides: $c") ++ keptSort(s)
      case _: OrderingExec      => Seq("ordering: hash + adaptive")
      case p if isWindow(p) =>
        p.logicalLink.flatMap(_.getTagValue(Refusal.Tag)).getOrElse(Nil).map {
          case (call, refusal) => s"left to Spark: $call: ${refusal.reason}"
        }
    }.flatten
    if (lines.isEmpty) "no window\n" else lines.distinct.mkString("", "\n", "\n")
  }

  private def keptSort(window: SlidingWindowExec): Option[String] =
    window.getTagValue(KeptSort.Tag).map(kept => s"ordering: Spark's sort: ${kept.reason}")

  private def isWindow(plan: SparkPlan): Boolean =
    plan.logicalLink.exists(_.getTagValue(Refusal.Tag).isDefined) &&
      plan.nodeName.contains("Window")
}

object Explain {

  /** Makes the session's EXPLAIN print our part, or not; what the user has set there stays. */
  def show(conf: SQLConf, shown: Boolean): Unit = {
    val present = conf.getConf(SQLConf.EXTENDED_EXPLAIN_PROVIDERS).getOrElse(Nil)
    val ours = classOf[Explain].getName
    if (present.contains(ours) != shown) {
      val wanted = if (shown) present :+ ours else present.filter(_ != ours)
      conf.setConfString(SQLConf.EXTENDED_EXPLAIN_PROVIDERS.key, wanted.mkString(","))
    }
  }
}
