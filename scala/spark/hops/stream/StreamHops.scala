package io.sash.spark.hops.stream

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.analysis.UnsupportedOperationChecker
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.streaming.WriteToStreamStatement
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.internal.SQLConf

import io.sash.spark.base.{SashConf, StreamVersions}
import io.sash.spark.hops.{BatchHops, HopAggregate}
import io.sash.spark.streams.checkpoint.Checkpoint
import io.sash.spark.streams.plan.StreamSettings
import io.sash.spark.streams.program.AnswerMode

/** Replaces each Aggregate over hop windows of a stream by a stateful operator. */
private[spark] final class StreamHops(
    statement: WriteToStreamStatement,
    checkpoint: Checkpoint,
    conf: SQLConf
) extends Logging {

  /**
   * The statement's query with these operators. The query is analyzed already, so that a rule of
   * the analyzer would skip it.
   */
  def query: LogicalPlan = {
    val original = statement.inputQuery
    val planned = if (SashConf.hopsEnabled(conf)) plans(original) else original
    // To Spark, Sash's operators are operators of append mode. It would accept operators above
    // that count updated windows twice. So the original is checked.
    val mayCount = mode.contains(AnswerMode.Update) && (planned ne original)
    if (mayCount && conf.isUnsupportedOperationCheckEnabled)
      UnsupportedOperationChecker.checkForStreaming(
        withoutDistinct(original),
        statement.outputMode
      )
    if (planned eq original) checkpoint.dropBegunHops()
    planned
  }

  /** The query without DISTINCT in hop windows that Sash answers, since the check refuses it. */
  private def withoutDistinct(original: LogicalPlan): LogicalPlan =
    AnalysisHelper.allowInvokingTransformsInAnalyzer(original.transformUp {
      case aggregate: Aggregate
          if aggregate.isStreaming && HopAggregate.of(aggregate)(reason).exists(_.isRight) =>
        aggregate.transformExpressions {
          case call: AggregateExpression if call.isDistinct => call.copy(isDistinct = false)
        }
    })

  private def keptBySpark(aggregate: Aggregate, why: String): LogicalPlan = {
    val said = aggregate.aggregateExpressions.map(_.sql).mkString(", ")
    logOnce(s"Spark keeps the hops of $said: $why")
    BatchHops.refused(aggregate, why)
  }

  /** Logs a text once per statement, since the analyzer runs the rule more than once. */
  private def logOnce(text: String): Unit = {
    val before = statement.getTagValue(StreamHops.Logged).getOrElse(Set.empty)
    if (!before(text)) logInfo(text)
    statement.setTagValue(StreamHops.Logged, before + text)
  }

  private val mode: Option[AnswerMode] = AnswerMode.of(statement.outputMode)

  private val plans = new HopPlans(
    mode.getOrElse(AnswerMode.Append), // without a mode, `reason` leaves all hops to Spark
    SashConf.lateRowsPath(conf),
    conf,
    reason,
    keptBySpark
  )

  /** The reason why Spark has to answer hop windows; none if Sash may. */
  private def reason(hop: HopAggregate): Option[String] = {
    val provider = checkpoint.stateStoreProvider
    if (StreamVersions.isRealTime(statement))
      Some("in real-time mode a window is answered with each of its rows")
    else if (mode.isEmpty) Some("complete mode answers all windows again in each batch")
    else if (!StreamSettings.isRocksDB(provider))
      Some(s"${SQLConf.STATE_STORE_PROVIDER_CLASS.key} is $provider, not RocksDB's")
    else if (!hop.window.metadata.contains(EventTimeWatermark.delayKey))
      Some("without a watermark no window is ever over")
    else if (hop.keys.exists(_.metadata.contains(EventTimeWatermark.delayKey)))
      Some("an event time is grouped by beside the window, which Spark refuses")
    else if (!StreamSettings.allowsSeveral(conf))
      Some(s"${SQLConf.STATEFUL_OPERATOR_ALLOW_MULTIPLE.key} is false")
    else
      Option.when(checkpoint.hasSparksHops)("the checkpoint has state of Spark's own operator")
  }
}

private object StreamHops {

  /** Tags a statement with the texts that are logged already. */
  private val Logged: TreeNodeTag[Set[String]] = TreeNodeTag("sash.logged")
}
