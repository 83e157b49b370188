package io.sash.spark.streams.start

import org.apache.spark.sql.catalyst.expressions.{Attribute, EqualTo, Literal, Or}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.streaming.WriteToStreamStatement
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.OutputMode
import org.apache.spark.sql.types.{LongType, StringType}

import io.sash.spark.base.{SashConf, StreamVersions}
import io.sash.spark.history.History
import io.sash.spark.multisets.Distinct
import io.sash.spark.streams.plan.{OfBuckets, OfStream, OwnWatermark, StatefulPlan}
import io.sash.spark.streams.program.{ChangeFeed, StreamProgram}
import io.sash.spark.streams.task.StreamProcessor

/** Lets rows of a stream change its earlier rows, as far as these are pending. */
private[start] object FollowChanges {

  def apply(query: LogicalPlan, ids: Seq[String], conf: SQLConf): LogicalPlan =
    AnalysisHelper.allowInvokingTransformsInAnalyzer(query.transformUp {
      case OfStream(stateful, processor) if processor.program.changes.isEmpty =>
        val changes = changesOf(processor.program, ids, conf)
        StatefulPlan.withProcessor(
          stateful.copy(child = withBefore(stateful.child, conf)),
          new StreamProcessor(processor.program.copy(changes = changes))
        )
    })

  /**
   * The rows of a plan, whose conditions let the old row of an update pass. So the windows tell
   * an update after which a row meets a condition from one whose old row was late.
   */
  private def withBefore(plan: LogicalPlan, conf: SQLConf): LogicalPlan = plan.transformUp {
    case filter @ Filter(condition, child) if !condition.exists(_.isInstanceOf[OwnWatermark]) =>
      child.output.filter(a => conf.resolver(a.name, ChangeFeed.Kind)) match {
        case Seq(kind) if kind.dataType == StringType && !condition.references.contains(kind) =>
          filter.copy(condition = Or(condition, EqualTo(kind, Literal(ChangeFeed.Before))))
        case _ => filter
      }
  }

  private def changesOf(
      program: StreamProgram,
      ids: Seq[String],
      conf: SQLConf
  ): Option[ChangeFeed] = for {
    kind <- column(program, ChangeFeed.Kind, conf)
    version <- column(program, ChangeFeed.Version, conf)
    found = ids.flatMap(column(program, _, conf)) if found.length == ids.length
  } yield ChangeFeed(kind, version, found)

  private def column(program: StreamProgram, name: String, conf: SQLConf): Option[Attribute] =
    program.input.filter(a => conf.resolver(a.name, name)) match {
      case Seq(one) => Some(one)
      case _        => None
    }

  /** The reason why rows cannot change earlier ones, if so. */
  def fault(
      write: WriteToStreamStatement,
      query: LogicalPlan,
      ids: Seq[String],
      conf: SQLConf
  ): Option[String] = {
    val programs = query.collect { case OfStream(_, processor) => processor.program }
    val others = query.collect { case plan @ OfBuckets(_, _) => plan }.length - programs.length
    val setting = s"${SashConf.StreamChangesBy.key}=${ids.mkString(",")}"
    if (others > 0)
      Some(s"$setting and hop windows, whose partials keep no single row; unset it")
    else if (programs.isEmpty) None
    else if (write.outputMode != OutputMode.Update())
      Some(s"$setting, with which an answer may change or go; write in update mode")
    else if (query.exists(_.isInstanceOf[History]))
      Some(s"$setting beside history_until; unset one of them")
    else if (StreamVersions.isRealTime(write))
      Some(
        s"$setting in real-time mode, which takes both rows of an update apart; write with " +
          "another trigger"
      )
    else programs.flatMap(fault(_, setting, ids, conf)).headOption
  }

  private def fault(
      program: StreamProgram,
      setting: String,
      ids: Seq[String],
      conf: SQLConf
  ): Option[String] = {
    val names = ids ++ Seq(ChangeFeed.Kind, ChangeFeed.Version)
    val lacking = names.filter(column(program, _, conf).isEmpty)
    def typeOf(name: String) = column(program, name, conf).map(_.dataType)
    if (lacking.nonEmpty)
      Some(
        s"$setting over rows without one column ${lacking.mkString(" and ")}; name it beside " +
          "the windows in their SELECT, or unset the setting"
      )
    else if (!typeOf(ChangeFeed.Kind).contains(StringType))
      Some(s"$setting over rows whose ${ChangeFeed.Kind} is not a STRING; cast it")
    else if (!typeOf(ChangeFeed.Version).contains(LongType))
      Some(s"$setting over rows whose ${ChangeFeed.Version} is not a BIGINT; cast it")
    else
      ids.find(!typeOf(_).exists(Distinct.canKey)).map { id =>
        s"$setting, where values of $id are not told apart by their bytes; name another column"
      }
  }
}
