package io.sash.spark.features

import org.apache.spark.sql.{SparkSession, SparkSessionExtensions}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.SparkPlan

import io.sash.spark.links.Standing

/** The features that do not stand down. Each is loaded at its first use. */
private[spark] object Features {

  def inject(extensions: SparkSessionExtensions): Unit = {
    val early = Standing.All.flatMap(name => new Guard(name).run(noRules)(of(name).earlyRules))
    new EarlyRules(early).inject(extensions)
    Standing.All.foreach(name => new Guard(name).run(())(of(name).inject(extensions)))
  }

  private def noRules: Seq[SparkSession => Rule[LogicalPlan]] = Nil

  /** The lines of all features that EXPLAIN prints about a node of a plan. */
  def explained(plan: SparkPlan): Seq[String] =
    Standing.All.flatMap(name => new Guard(name).run(Seq.empty[String])(of(name).explained(plan)))

  private def of(name: String): Feature = name match {
    case Standing.Windows   => WindowsFeature
    case Standing.Functions => FunctionsFeature
    case Standing.Labels    => LabelsFeature
    case Standing.Hops      => HopsFeature
    case Standing.Streams   => StreamsFeature
    case Standing.Ordering  => OrderingFeature
  }
}
