package io.sash.spark.streams.start

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.streaming.WriteToStreamStatement
import org.apache.spark.sql.internal.SQLConf

import io.sash.spark.base.{NoWatermark, SashConf, StreamVersions}
import io.sash.spark.history.History
import io.sash.spark.kinds.SlidingAggregate
import io.sash.spark.streams.plan.{OfStream, OperatorsWithState, StatefulPlan, StreamSettings}
import io.sash.spark.streams.program.{StreamProgram, StreamRange, StreamShape}
import io.sash.spark.streams.task.StreamProcessor
import io.sash.spark.times.{CutToHop, TimestampPlusMicros}

/**
 * Lets late rows count in the windows of later ones. Spark drops a row by the column that has the
 * watermark. So the operator gets another such column: the last time whose window holds the row.
 */
private[start] object CountLateRows {

  def apply(query: LogicalPlan): LogicalPlan =
    AnalysisHelper.allowInvokingTransformsInAnalyzer(query.transformUp {
      // the analyzer runs the rule more than once
      case OfStream(stateful, processor) if processor.program.reach.isEmpty =>
        stateful.child match {
          case Project(row, Project(own, rows)) =>
            counting(stateful, processor.program, row, own, rows)
          case _ => stateful
        }
    })

  private def counting(
      stateful: TransformWithState,
      program: StreamProgram,
      row: Seq[NamedExpression],
      own: Seq[NamedExpression],
      rows: LogicalPlan
  ): LogicalPlan = {
    val time = own(program.time).toAttribute
    val plain = Alias(time, time.name)(explicitMetadata = NoWatermark.Explicit)
    val reach = Alias(TimestampPlusMicros(time, longest(program)), "reach")(
      explicitMetadata = Some(time.metadata)
    )
    def overPlain(e: NamedExpression): NamedExpression = e
      .transform {
        case a: Attribute if a.exprId == time.exprId => plain.toAttribute
      }
      .asInstanceOf[NamedExpression]
    val inner = Project(own.updated(program.time, plain) :+ reach, rows)
    val columns = (row.init.map(overPlain) :+ reach.toAttribute) :+ overPlain(row.last)
    val child = Project(columns, inner)
    StatefulPlan.withProcessor(
      stateful.copy(
        child = child,
        dataAttributes = child.output,
        initialStateDataAttrs = child.output
      ),
      new StreamProcessor(program.counting(reach.toAttribute))
    )
  }

  /** How far the longest window reaches back, in microseconds. */
  private def longest(program: StreamProgram): Long =
    program.windows.map(w => spanOf(program, w).get).max

  /** How far a window reaches back, if late rows can count there. */
  private def spanOf(program: StreamProgram, window: StreamShape): Option[Long] =
    window match {
      case StreamShape(StreamRange(Some(first), None, _), None, None) =>
        program.marks(first) match {
          case TimestampPlusMicros(_, micros)                       => Some(-micros)
          case CutToHop(TimestampPlusMicros(_, micros), hop, false) => Some(hop - micros)
          case _                                                    => None
        }
      case _ => None
    }

  /** The reason why late rows cannot count, if so. */
  def fault(write: WriteToStreamStatement, query: LogicalPlan, conf: SQLConf): Option[String] = {
    val programs = query.collect { case OfStream(_, processor) => processor.program }
    val above = query.collectFirst {
      case OfStream(stateful, processor) if stateful.child.exists(OperatorsWithState.hasState) =>
        processor.program.source.distinct.mkString(", ")
    }
    val setting = s"${SashConf.StreamLateRows.key}=count"
    if (programs.isEmpty) None
    else if (StreamVersions.isRealTime(write))
      Some(s"$setting in real-time mode; set it to drop, or write with another trigger")
    else if (!StreamSettings.allowsSeveral(conf))
      Some(
        s"$setting while ${SQLConf.STATEFUL_OPERATOR_ALLOW_MULTIPLE.key} is false, which takes " +
          "rows in time for late ones; set it to true"
      )
    else if (above.nonEmpty)
      Some(
        s"$setting and ${above.get} above another operator with state, which no late row " +
          "passes; write the rows below to a table in between, or set it to drop"
      )
    else if (query.exists(_.isInstanceOf[History]))
      Some(s"$setting beside history_until; set it to drop, or replay the rows of the past")
    else if (programs.exists(_.timeToLive.nonEmpty))
      Some(
        s"$setting with ${SashConf.StreamKeyTimeToLive.key}, after which a late row's key may " +
          "have begun anew; unset one of them"
      )
    else programs.filter(_.reach.isEmpty).flatMap(fault).headOption
  }

  private def fault(program: StreamProgram): Option[String] = {
    val calls = program.source.distinct.mkString(", ")
    val setting = s"${SashConf.StreamLateRows.key}=count"
    val instead = s"or set it to drop, and keep late rows in ${SashConf.StreamLateRowsPath.key}"
    if (program.windows.exists(spanOf(program, _).isEmpty))
      Some(
        s"$calls with $setting, where a late row would move the windows of other rows; write " +
          s"RANGE BETWEEN INTERVAL … PRECEDING AND CURRENT ROW, $instead"
      )
    else if (!program.calls.forall(isOfAnyOrder))
      Some(
        s"$calls with $setting, which combines late rows out of their order; write sums, " +
          s"counts, means, extremes, variances or covariances, $instead"
      )
    else None
  }

  private def isOfAnyOrder(call: Expression): Boolean = {
    val found = call.collect { case a: AggregateExpression =>
      !a.isDistinct && isOfAnyOrder(functionOf(a.aggregateFunction))
    }
    found.nonEmpty && found.forall(identity)
  }

  private def functionOf(f: AggregateFunction): AggregateFunction = f match {
    case s: SlidingAggregate => s.function
    case other               => other
  }

  private def isOfAnyOrder(f: AggregateFunction): Boolean = f match {
    case _: Sum | _: Count | _: Average | _: Min | _: Max | _: CentralMomentAgg | _: Covariance |
        _: PearsonCorrelation | _: BitAggregate =>
      true
    case _ => false
  }
}
