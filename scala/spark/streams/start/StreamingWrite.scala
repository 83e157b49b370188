package io.sash.spark.streams.start

import java.util.Locale

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Expression}
import org.apache.spark.sql.catalyst.plans.LeftSemi
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.WriteToStreamStatement
import org.apache.spark.sql.internal.SQLConf

import io.sash.spark.base.{SashConf, SparkVersions, StreamVersions}
import io.sash.spark.history.History
import io.sash.spark.hops.stream.StreamHops
import io.sash.spark.streams.checkpoint.Checkpoint
import io.sash.spark.streams.plan._
import io.sash.spark.streams.plan.OperatorsWithState.{hasState, keepsRows}
import io.sash.spark.streams.program.{AnswerMode, StreamProgram}
import io.sash.spark.streams.task.StreamProcessor

/**
 * Runs when a query starts, since its output mode is not known earlier. It refuses queries in
 * which windows cannot run, and plans hop windows.
 */
private[spark] object StreamingWrite extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    case write: WriteToStreamStatement => new StreamingStart(write, conf).statement
    case other                         => other
  }
}

/** The checks and rewrites of a query that starts. */
private final class StreamingStart(write: WriteToStreamStatement, conf: SQLConf) {
  private type Step = LogicalPlan => LogicalPlan

  private val checkpoint = new Checkpoint(write, conf)
  private val isRealTime = StreamVersions.isRealTime(write)

  def statement: WriteToStreamStatement = {
    val planned = run(ofAll, write.inputQuery)
    if (planned.exists(isOurs)) WholeBatches.of(of(run(ofOurs, planned))) else write
  }

  private def run(steps: Seq[Step], query: LogicalPlan): LogicalPlan =
    steps.foldLeft(query)((query, step) =>
      AnalysisHelper.allowInvokingTransformsInAnalyzer(step(query))
    )

  private def of(query: LogicalPlan): WriteToStreamStatement =
    write.withNewChildren(Seq(query)).asInstanceOf[WriteToStreamStatement]

  /** The steps of every query. */
  private def ofAll: Seq[Step] = Seq(
    // each place that reads a common table expression needs an operator of its own; Spark's
    // optimizer inlines it in each batch, too
    SparkVersions.inlineCommonTables(_),
    // Spark's own error for another mode would be about its own operators
    check(modeFault),
    // with the error that Spark would raise in the first batch
    checkStore,
    // the analyzer has planned windows of rows in append mode
    inMode,
    query => new StreamHops(of(query), checkpoint, conf).query,
    // also for a query without windows, which would answer the rows of the table
    check(historyFault)
  )

  /** The steps of a query with operators of Sash. */
  private def ofOurs: Seq[Step] = Seq(
    // Spark would compute such a table once, and all its readers would share a watermark
    check(commonFault),
    // Spark keeps no row of a semi join that is final when it comes: the other side misses it
    check(semiFault),
    query => {
      SlowestStream.warn(write, query, conf)
      query
    },
    // each operator needs watermarks of its own
    StatefulPlan.numbered(_),
    query => SashConf.lateRowsPath(conf).fold(query)(KeepLateRows(query, _)),
    check(KeepLateRows.fault(write, _)),
    BeginWithHistory(_, isNew = !checkpoint.hasBatch)
  )

  /** @param fault the reason why the query cannot run, if so */
  private def check(fault: LogicalPlan => Option[String]): Step = query => {
    fault(query).foreach { what =>
      throw new AnalysisException(
        errorClass = "STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION",
        messageParameters = Map(
          "outputMode" -> write.outputMode.toString.toLowerCase(Locale.ROOT),
          "operation" -> what
        )
      )
    }
    query
  }

  private def commonFault(query: LogicalPlan): Option[String] =
    query
      .collect { case WithCTE(_, common) => common.find(_.isStreaming) }
      .flatten
      .headOption
      .map { shared =>
        val name = shared.child match {
          case alias: SubqueryAlias => s" ${alias.alias}"
          case _                    => ""
        }
        val uncertain = shared.flatMap(_.expressions).find(!_.deterministic)
        val why = uncertain.fold("")(e => s" (${source(e)})")
        s"$windows beside the common table expression$name, which is read several times and is " +
          s"not deterministic$why; make a view of it, or write it to a table in between"
      }

  private def semiFault(query: LogicalPlan): Option[String] = query.collectFirst {
    case Join(left, right, LeftSemi, on, _) if left.exists(hasState) && right.exists(hasState) =>
      s"$windows and other operators with state on both sides of the semi join" +
        s"${on.fold("")(c => s" on ${source(c)}")}, which would find no row; write one side to " +
        "a table in between"
  }

  private def historyFault(query: LogicalPlan): Option[String] =
    Option
      .when(isRealTime && query.exists(_.isInstanceOf[History]))(
        "in real-time mode, which reads no table; write with another trigger"
      )
      .orElse(CheckHistory.fault(query, p => keepsRows(p) && !isOurs(p)))
      .map(why => s"history_until $why")

  /** The expression in SQL, without the tables of its columns. */
  private def source(e: Expression): String = e.transform { case a: AttributeReference =>
    a.withQualifier(Nil)
  }.sql

  /** The query's windows of rows, as the user wrote them. */
  private def over: String = named(_ => true)

  /** The query's windows of rows, as the user wrote them; if there are none, hop windows. */
  private def windows: String = if (over.isEmpty) "hop windows" else over

  private def named(which: StreamProgram => Boolean): String = {
    val all = write.inputQuery
      .collect { case OfStream(_, p) if which(p.program) => p.program.answers.written }
      .flatten
      .distinct
    val more = if (all.length > 3) s" and ${all.length - 3} more" else ""
    all.take(3).mkString(", ") + more
  }

  private val besideOther =
    "beside another operator with state (another order or partition, or another withColumn, " +
      "is one, too)"

  /** The reason why windows of rows cannot run in the query's output mode. */
  private def modeFault(query: LogicalPlan): Option[String] =
    if (!query.exists(isOver)) None
    else
      AnswerMode.of(write.outputMode) match {
        case None       => Some(s"$over; write in append or update mode")
        case Some(mode) => refusals(query, mode).collectFirst { case (true, what) => what }
      }

  /**
   * The reasons why windows of rows cannot run in a query, each with whether it applies. Some are
   * about an operator above or below that cannot work with the windows' rows.
   */
  private def refusals(query: LogicalPlan, mode: AnswerMode): Seq[(Boolean, String)] = {
    val updates = mode == AnswerMode.Update
    val hasOther = query.collect { case p if hasState(p) => p }.size != 1
    val later = named(_.later.nonEmpty)
    val looksAhead = later.nonEmpty
    val onAnswers = query.collectFirst {
      case e: EventTimeWatermark if e.child.exists(isOver) => e.eventTime.name
    }
    Seq(
      (!updates && isRealTime) ->
        (s"$over in real-time mode, which does not wait for the watermark; write in update " +
          "mode, or with another trigger"),
      (updates && hasOther) ->
        (s"$over $besideOther, which would count rows that are answered again; write in append " +
          "mode"),
      (looksAhead && updates) ->
        (s"$later, frames that look ahead, whose rows wait for others; " +
          (if (isRealTime) "in real-time mode end the frame at the current row"
           else "write in append mode")),
      (looksAhead && hasOther) ->
        (s"$later, frames that look ahead, $besideOther, which would take their rows for late " +
          "ones; write them to a table in between"),
      (hasOther && !StreamSettings.allowsSeveral(conf)) ->
        (s"$over beside another operator with state while " +
          s"${SQLConf.STATEFUL_OPERATOR_ALLOW_MULTIPLE.key} is false, which would take their " +
          "rows for late ones; set it to true"),
      onAnswers.nonEmpty ->
        (s"withWatermark on ${onAnswers.getOrElse("")} above $over, whose answers it would " +
          "take for late ones; call it below them")
    )
  }

  private def checkStore: Step = query => {
    val provider = checkpoint.stateStoreProvider
    if (query.exists(isOver) && !StreamSettings.isRocksDB(provider))
      throw new AnalysisException(
        errorClass = "UNSUPPORTED_FEATURE.STORE_BACKEND_NOT_SUPPORTED_FOR_TWS",
        messageParameters =
          Map("stateStoreProvider" -> s"$provider, ${checkpoint.originOfProvider}, of $over,")
      )
    query
  }

  /** The query's windows of rows in the answer mode of its output mode. */
  private def inMode: Step = query =>
    AnswerMode.of(write.outputMode).fold(query) { mode =>
      query.transformUp {
        case OfStream(stateful, processor) if processor.program.mode != mode =>
          StatefulPlan.withProcessor(stateful, new StreamProcessor(processor.program.in(mode)))
      }
    }

  private def isOver(plan: LogicalPlan): Boolean = OfStream.unapply(plan).nonEmpty

  private def isOurs(plan: LogicalPlan): Boolean = OfBuckets.unapply(plan).nonEmpty
}
