package io.sash.spark

import org.apache.spark.sql.ExtendedExplainGenerator
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.internal.SQLConf

import io.sash.spark.hops.{BatchHops, HopWindowsExec}
import io.sash.spark.ordering.{KeptSort, OrderingExec}
import io.sash.spark.plan.{Refusal, SlidingWindowExec}
import io.sash.spark.streams.BucketProcessor

/**
 * The part of EXPLAIN that says which windows Sash took and why it left the others. It is printed
 * where `spark.sql.extendedExplainProviders` names this class.
 */
final class Explain extends ExtendedExplainGenerator with AdaptiveSparkPlanHelper {
  override def title: String = "Sash"

  override def generateExtendedInfo(plan: SparkPlan): String =
    if (!SashConf.enabled(SQLConf.get)) ""
    else {
      val lines = said(plan).distinct
      if (lines.isEmpty) "no window\n" else lines.mkString("", "\n", "\n")
    }

  private def said(plan: SparkPlan): Seq[String] = collect(plan) {
    case s: SlidingWindowExec => s.texts.map(c => s"slides: $c") ++ keptSort(s)
    case _: OrderingExec      => Seq("ordering: hash + adaptive")
    case p if p.productIterator.exists(_.isInstanceOf[BucketProcessor]) =>
      p.productIterator.collect { case b: BucketProcessor => b.explained }.toSeq
    case h: HopWindowsExec => Seq(s"hops: ${h.text}")
    case p if p.logicalLink.exists(_.getTagValue(BatchHops.Refused).isDefined) =>
      p.logicalLink
        .flatMap(_.getTagValue(BatchHops.Refused))
        .map(why => s"hops left to Spark: $why")
    case p if isWindow(p) =>
      p.logicalLink.flatMap(_.getTagValue(Refusal.Tag)).getOrElse(Nil).map {
        case (call, refusal) => s"left to Spark: $call: ${refusal.reason}"
      }
  }.flatten

  private def keptSort(window: SlidingWindowExec): Option[String] =
    window.getTagValue(KeptSort.Tag).map(kept => s"ordering: Spark's sort: ${kept.reason}")

  private def isWindow(plan: SparkPlan): Boolean =
    plan.logicalLink.exists(_.getTagValue(Refusal.Tag).isDefined) &&
      plan.nodeName.contains("Window")
}
