package io.sash.spark.streams.start

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.plans.logical.{EventTimeWatermark, LogicalPlan}
import org.apache.spark.sql.catalyst.streaming.WriteToStreamStatement
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.internal.SQLConf

import io.sash.spark.streams.plan.OfBuckets

/**
 * Says in the log, once a start, that windows over several streams wait for the slowest of them.
 */
private[start] object SlowestStream extends Logging {
  private val Warned: TreeNodeTag[Unit] = TreeNodeTag("sash.slowest")

  def warn(write: WriteToStreamStatement, query: LogicalPlan, conf: SQLConf): Unit = {
    val each = query.collect { case OfBuckets(stateful, _) => watermarks(stateful) }
    val most = each.maxByOption(_.length).getOrElse(Nil)
    val key = SQLConf.STREAMING_MULTIPLE_WATERMARK_POLICY
    if (most.length > 1 && conf.getConf(key) == "min" && write.getTagValue(Warned).isEmpty) {
      // the analyzer runs the rule more than once
      write.setTagValue(Warned, ())
      val times = most.mkString(", ")
      logWarning(
        s"Sash's windows are over ${most.length} streams with watermarks ($times). While " +
          s"${key.key} is min, all answers wait for the stream whose times are behind. If one " +
          "of them has few rows, set it to max before the first start, or send rows to that " +
          "stream from time to time"
      )
    }
  }

  private def watermarks(plan: LogicalPlan): Seq[String] = plan.collect {
    case w: EventTimeWatermark if w.isStreaming => w.eventTime.name
  }
}
