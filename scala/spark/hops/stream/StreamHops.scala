package io.sash.spark.hops.stream

import scala.util.{Left, Right}

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.analysis.UnsupportedOperationChecker
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, Count}
import org.apache.spark.sql.catalyst.optimizer.ColumnPruning
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.streaming.WriteToStreamStatement
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.sash.SqlInternals
import org.apache.spark.sql.types._

import io.sash.spark.base.{Filtered, NoWatermark, SashConf, StreamVersions}
import io.sash.spark.hops._
import io.sash.spark.monoids.{AggregateMonoid, Algorithm, Place}
import io.sash.spark.streams.checkpoint.{Checkpoint, StateSignature}
import io.sash.spark.streams.late.LateTable
import io.sash.spark.streams.plan._
import io.sash.spark.streams.program.AnswerMode

/** Replaces each Aggregate over hop windows of a stream by a stateful operator. */
private[spark] final class StreamHops(
    statement: WriteToStreamStatement,
    checkpoint: Checkpoint,
    conf: SQLConf
) extends Logging {

  /**
   * The statement's query with those operators. It is analyzed already, so that a rule of the
   * analyzer would skip it.
   */
  def query: LogicalPlan = {
    val original = statement.inputQuery
    val planned = if (SashConf.hopsEnabled(conf)) withHops(original) else original
    // Spark takes Sash's operators for operators of append mode, and would accept operators above
    // that count updated windows twice; so the original is checked
    val mayCount = mode.contains(AnswerMode.Update) && (planned ne original)
    if (mayCount && conf.isUnsupportedOperationCheckEnabled)
      UnsupportedOperationChecker.checkForStreaming(
        withoutDistinct(original),
        statement.outputMode
      )
    if (planned eq original) checkpoint.dropBegunHops()
    planned
  }

  /**
   * The query with Sash's operators; `original` itself if it has no hop windows, or Spark answers
   * them.
   */
  private def withHops(original: LogicalPlan): LogicalPlan =
    AnalysisHelper.allowInvokingTransformsInAnalyzer {
      val found = original.transformUp(hops)
      if (found eq original) original
      else
        // Spark drops unread columns when it optimizes, too late for Sash's state
        ColumnPruning(found)
          .transform {
            case Project(list, h: FoundHops) => Project(list, h.readBy(list))
            case Project(list, Filter(met, h: FoundHops)) =>
              Project(list, Filter(met, h.readBy(list :+ met)))
          }
          .transformUp { case h: FoundHops => planned(h.hop.copy(child = h.child)) }
    }

  /** The query with hop windows over all inputs where Sash answers them over DISTINCT ones. */
  private def withoutDistinct(original: LogicalPlan): LogicalPlan =
    AnalysisHelper.allowInvokingTransformsInAnalyzer(original.transformUp {
      case aggregate: Aggregate
          if aggregate.isStreaming && HopAggregate.of(aggregate)(reason).exists(_.isRight) =>
        aggregate.transformExpressions {
          case call: AggregateExpression if call.isDistinct => call.copy(isDistinct = false)
        }
    })

  private val hops: PartialFunction[LogicalPlan, LogicalPlan] = {
    case aggregate: Aggregate if aggregate.isStreaming =>
      HopAggregate.of(aggregate)(reason) match {
        case None => aggregate
        case Some(Right(hop)) =>
          val found = FoundHops(hop, hop.child, keepsRows = latePath.nonEmpty)
          Project(
            hop.results,
            Filtered(hop.conditions, found)
          )
        case Some(Left(why)) =>
          val said = aggregate.aggregateExpressions.map(_.sql).mkString(", ")
          logOnce(s"Spark keeps the hops of $said: $why")
          BatchHops.refused(aggregate, why)
      }
  }

  /** Logs a text once for the statement, since the analyzer runs the rule more than once. */
  private def logOnce(text: String): Unit = {
    val before = statement.getTagValue(StreamHops.Logged).getOrElse(Set.empty)
    if (!before(text)) logInfo(text)
    statement.setTagValue(StreamHops.Logged, before + text)
  }

  private val latePath = SashConf.lateRowsPath(conf)

  private val mode: Option[AnswerMode] = AnswerMode.of(statement.outputMode)

  /** The reason why Spark answers the hop windows, if so. */
  private def reason(hop: HopAggregate): Option[String] = {
    val provider = checkpoint.stateStoreProvider
    if (StreamVersions.isRealTime(statement))
      Some("in real-time mode a window is answered with each of its rows")
    else if (mode.isEmpty) Some("complete mode answers all windows again in each batch")
    else if (!StreamSettings.isRocksDB(provider))
      Some(s"${SQLConf.STATE_STORE_PROVIDER_CLASS.key} is $provider, not RocksDB's")
    else if (!hop.window.metadata.contains(EventTimeWatermark.delayKey))
      Some("without a watermark no window is ever over")
    else if (!StreamSettings.allowsSeveral(conf))
      Some(s"${SQLConf.STATEFUL_OPERATOR_ALLOW_MULTIPLE.key} is false")
    else
      Option.when(checkpoint.hasSparksHops)("the checkpoint has state of Spark's own operator")
  }

  private def planned(hop: HopAggregate): LogicalPlan = {
    val columns = new InputColumns(_.metadata.contains(EventTimeWatermark.delayKey))
    val calls = hop.calls.map(columns.of)
    val keys = hop.keys.zip(hop.keyValues).map { case (k, value) =>
      Alias(SqlInternals.normalized(value), k.name)(explicitMetadata = NoWatermark.Explicit)
    }
    val paneOf = PaneOf(hop.time, hop.hops)
    val pane = Alias(paneOf, "pane")()
    // Spark drops rows by this column, and counts them, once all their windows are over
    val lastEnd = Alias(
      PreciseTimestampConversion(
        BoundOf(paneOf, hop.hops, last = true, end = true),
        LongType,
        TimestampType
      ),
      "last_end"
    )(explicitMetadata = Some(watermarkOf(hop.window)))
    val rows = Project(
      keys ++ columns.aliases ++ usedBy(calls, hop.child) ++ Seq(pane, lastEnd),
      latePath.fold(hop.rows) { path =>
        val windows = WindowsWith(paneOf, hop.hops)
        LateTable(hop.rows, path, lastEnd.child, Some(windows), hop.hops.slide)
      }
    )
    // the names are the same when the query starts again
    val answers = hop.calls.zipWithIndex.map { case (c, i) =>
      c.resultAttribute.withName(s"answer$i")
    }
    StatefulPlan(
      rows,
      keys.map(_.toAttribute),
      pane.toAttribute,
      SashConf.streamBuckets(conf),
      hop.keys.map(_.toAttribute) ++ (hop.window +: answers)
    ) { input =>
      val at = input.indexWhere(_.exprId == pane.exprId)
      new HopProcessor(program(hop, input, keys.map(_.toAttribute), at, calls))
    }
  }

  private def program(
      hop: HopAggregate,
      input: Seq[Attribute],
      keys: Seq[Attribute],
      pane: Int,
      calls: Seq[AggregateExpression]
  ): HopProgram = {
    val rows = Count(Seq(Literal(1))).toAggregateExpression()
    val monoids = (calls :+ rows).map(PaneCalls.monoid(_).toOption.get)
    val algorithm = Algorithm.choose(monoids, SashConf.algorithm(conf), Place.ForestOfPanes)
    val slots = algorithm.program(input, monoids)
    HopProgram(
      input,
      keys.map(k => input.indexWhere(_.exprId == k.exprId)),
      pane,
      hop.hops,
      algorithm,
      slots,
      monoids.exists(_.grows),
      calls.map(_.dataType),
      // the count of rows lies behind the answers
      HopAnswer.row(keys, calls.map(_.resultAttribute), hop.window.dataType, behind = 1),
      mode.get,
      calls,
      text(hop, input, monoids)
    )
  }

  private def text(
      hop: HopAggregate,
      input: Seq[Attribute],
      monoids: Seq[AggregateMonoid]
  ): String = {
    val signature = new Signature(hop.child, conf.caseSensitiveAnalysis)
    StateSignature.of(
      Seq(
        StateSignature.Hops -> s"${hop.hops.signature} of ${signature.of(hop.time)}",
        "group by" -> signature.all(hop.keyValues),
        StateSignature.Aggregates -> signature.all(hop.calls),
        StateSignature.Columns -> input.map(c => StateSignature.sqlOf(c.dataType)).mkString(", "),
        StateSignature.Partials -> PartialsSignature.of(monoids),
        StateSignature.Answered -> mode.get.signature,
        StateSignature.Buckets -> SashConf.streamBuckets(conf).toString
      ),
      (hop.time +: (hop.keyValues ++ hop.calls)).exists(signature.isZoned)
    )
  }

  /** The columns of the child that aggregates read directly. */
  private def usedBy(
      calls: Seq[AggregateExpression],
      child: LogicalPlan
  ): Seq[Attribute] = {
    val used = AttributeSet.fromAttributeSets(calls.map(_.references))
    child.output.filter(used.contains)
  }

  private def watermarkOf(window: Attribute): Metadata =
    new MetadataBuilder()
      .putLong(
        EventTimeWatermark.delayKey,
        window.metadata.getLong(EventTimeWatermark.delayKey)
      )
      .build()
}

private object StreamHops {

  /** The tag of a statement with the texts that are logged already. */
  private val Logged: TreeNodeTag[Set[String]] = TreeNodeTag("sash.logged")
}

/**
 * Hop windows that Sash will answer, before it is known which answers are read.
 *
 * @param keepsRows whether late rows are kept with all their columns
 */
private final case class FoundHops(hop: HopAggregate, child: LogicalPlan, keepsRows: Boolean)
    extends UnaryNode {
  override def output: Seq[Attribute] =
    hop.keys.map(_.toAttribute) ++ (hop.window +: hop.calls.map(_.resultAttribute))

  override def producedAttributes: AttributeSet = outputSet

  override lazy val references: AttributeSet =
    if (keepsRows) child.outputSet
    else
      AttributeSet.fromAttributeSets((hop.keyValues ++ hop.calls :+ hop.time).map(_.references))

  def readBy(list: Seq[Expression]): FoundHops = {
    val read = AttributeSet.fromAttributeSets(list.map(_.references))
    copy(hop = hop.copy(calls = hop.calls.filter(c => read.contains(c.resultAttribute))))
  }

  override protected def withNewChildInternal(newChild: LogicalPlan): FoundHops =
    copy(child = newChild)
}
