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
    case w: WriteToStreamStatement =>
      val checkpoint = new Checkpoint(w, conf)
      val inlined = of(w, inline(w.inputQuery))
      val over = if (inlined.inputQuery.exists(isOver)) planned(inlined, checkpoint) else inlined
      val query = new StreamHops(over, checkpoint, conf).query
      checkHistory(w, query)
      if (query.exists(isOurs)) {
        checkCommon(w, query)
        checkSemi(w, query)
        SlowestStream.warn(w, query, conf)
        val numbered =
          AnalysisHelper.allowInvokingTransformsInAnalyzer(StatefulPlan.numbered(query))
        val kept = SashConf.lateRowsPath(conf).fold(numbered)(KeepLateRows(numbered, _))
        KeepLateRows.fault(w, kept).foreach(refuse(w, _))
        val begun = AnalysisHelper.allowInvokingTransformsInAnalyzer {
          BeginWithHistory(kept, isNew = !checkpoint.hasBatch)
        }
        WholeBatches.of(of(w, begun))
      } else w
    case other => other
  }

  private def of(write: WriteToStreamStatement, query: LogicalPlan): WriteToStreamStatement =
    write.withNewChildren(Seq(query)).asInstanceOf[WriteToStreamStatement]

  /**
   * Inlines common table expressions, so that each place that reads one has an operator of its
   * own. Spark's optimizer does the same in each batch.
   */
  private def inline(query: LogicalPlan): LogicalPlan =
    AnalysisHelper.allowInvokingTransformsInAnalyzer(SparkVersions.inlineCommonTables(query))

  /**
   * Refuses a common table expression that is not inlined: Spark would compute it once, and all
   * its readers would share a watermark.
   */
  private def checkCommon(write: WriteToStreamStatement, query: LogicalPlan): Unit =
    query.foreach {
      case WithCTE(_, common) =>
        common.find(_.isStreaming).foreach { shared =>
          val name = shared.child match {
            case alias: SubqueryAlias => s" ${alias.alias}"
            case _                    => ""
          }
          val uncertain = shared.flatMap(_.expressions).find(!_.deterministic)
          val why = uncertain.fold("")(e => s" (${source(e)})")
          refuse(
            write,
            s"${windowsOf(write)} beside the common table expression$name, which is read " +
              s"several times and is not deterministic$why; make a view of it, or write it to " +
              "a table in between"
          )
        }
      case _ =>
    }

  /**
   * Refuses stateful operators on both sides of a semi join. Spark does not keep a row of the
   * join that is final when it comes, so the other side would not find it.
   */
  private def checkSemi(write: WriteToStreamStatement, query: LogicalPlan): Unit =
    query.foreach {
      case Join(left, right, LeftSemi, on, _)
          if left.exists(hasState) && right.exists(hasState) =>
        refuse(
          write,
          s"${windowsOf(write)} and other operators with state on both sides of the semi join" +
            s"${on.fold("")(c => s" on ${source(c)}")}, which would find no row; write " +
            "one side to a table in between"
        )
      case _ =>
    }

  /** Refuses a history with which the query cannot begin. */
  private def checkHistory(write: WriteToStreamStatement, query: LogicalPlan): Unit = {
    val inRealTime = Option.when(
      StreamVersions.isRealTime(write) && query.exists(_.isInstanceOf[History])
    )("in real-time mode, which reads no table; write with another trigger")
    val fault = CheckHistory.fault(query, p => keepsRows(p) && !isOurs(p))
    inRealTime.orElse(fault).foreach(why => refuse(write, s"history_until $why"))
  }

  /** The expression in SQL, without the tables of its columns. */
  private def source(e: Expression): String = e.transform { case a: AttributeReference =>
    a.withQualifier(Nil)
  }.sql

  /** The query's windows in the answer mode of its output mode. */
  private def planned(
      write: WriteToStreamStatement,
      checkpoint: Checkpoint
  ): WriteToStreamStatement = {
    // Spark's own error for another mode would be about its own operators
    val mode = AnswerMode
      .of(write.outputMode)
      .getOrElse(refuse(write, s"${over(write)}; write in append or update mode"))
    refusals(write, mode).collectFirst { case (true, what) => what }.foreach(refuse(write, _))
    if (!StreamSettings.isRocksDB(checkpoint.stateStoreProvider)) refuseStore(write, checkpoint)
    val answered = AnalysisHelper.allowInvokingTransformsInAnalyzer(write.inputQuery.transformUp {
      case OfStream(stateful, processor) if processor.program.mode != mode =>
        StatefulPlan.withProcessor(stateful, new StreamProcessor(processor.program.in(mode)))
    })
    of(write, answered)
  }

  /** The query's windows of rows, as the user wrote them. */
  private def over(write: WriteToStreamStatement): String = named(write, _ => true)

  /** The query's windows of rows, as the user wrote them; if there are none, hop windows. */
  private def windowsOf(write: WriteToStreamStatement): String = {
    val calls = over(write)
    if (calls.isEmpty) "hop windows" else calls
  }

  private def ahead(write: WriteToStreamStatement): String = named(write, _.later.nonEmpty)

  private def named(write: WriteToStreamStatement, which: StreamProgram => Boolean): String = {
    val all = write.inputQuery
      .collect { case OfStream(_, p) if which(p.program) => p.program.source }
      .flatten
      .distinct
    val more = if (all.length > MostNamed) s" and ${all.length - MostNamed} more" else ""
    all.take(MostNamed).mkString(", ") + more
  }

  private val MostNamed = 3

  private val BesideOther =
    "beside another operator with state (another order or partition, or another withColumn, " +
      "is one, too)"

  /**
   * The reasons why windows of rows cannot run in a query, and whether each is there. An operator
   * above or below may be one that cannot work with the windows' rows.
   */
  private def refusals(
      write: WriteToStreamStatement,
      mode: AnswerMode
  ): Seq[(Boolean, String)] = {
    val query = write.inputQuery
    val updates = mode == AnswerMode.Update
    val isRealTime = StreamVersions.isRealTime(write)
    val hasOther = query.collect { case p if hasState(p) => p }.size != 1
    val later = ahead(write)
    val looksAhead = later.nonEmpty
    val onAnswers = query.collectFirst {
      case e: EventTimeWatermark if e.child.exists(isOver) => e.eventTime.name
    }
    Seq(
      (!updates && isRealTime) ->
        (s"${over(write)} in real-time mode, which does not wait for the watermark; write in " +
          "update mode, or with another trigger"),
      (updates && hasOther) ->
        (s"${over(write)} $BesideOther, which would count rows that are answered again; write " +
          "in append mode"),
      (looksAhead && updates) ->
        (s"$later, frames that look ahead, whose rows wait for others; " +
          (if (isRealTime) "in real-time mode end the frame at the current row"
           else "write in append mode")),
      (looksAhead && hasOther) ->
        (s"$later, frames that look ahead, $BesideOther, which would take their rows for late " +
          "ones; write them to a table in between"),
      (hasOther && !StreamSettings.allowsSeveral(conf)) ->
        (s"${over(write)} beside another operator with state while " +
          s"${SQLConf.STATEFUL_OPERATOR_ALLOW_MULTIPLE.key} is false, which would take their " +
          "rows for late ones; set it to true"),
      onAnswers.nonEmpty ->
        (s"withWatermark on ${onAnswers.getOrElse("")} above ${over(write)}, whose answers it " +
          "would take for late ones; call it below them")
    )
  }

  private def refuse(write: WriteToStreamStatement, what: String): Nothing =
    throw new AnalysisException(
      errorClass = "STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION",
      messageParameters = Map(
        "outputMode" -> write.outputMode.toString.toLowerCase(Locale.ROOT),
        "operation" -> what
      )
    )

  /** Refuses the state store with the error that Spark would raise in the first batch. */
  private def refuseStore(write: WriteToStreamStatement, checkpoint: Checkpoint): Nothing =
    throw new AnalysisException(
      errorClass = "UNSUPPORTED_FEATURE.STORE_BACKEND_NOT_SUPPORTED_FOR_TWS",
      messageParameters = Map(
        "stateStoreProvider" -> (s"${checkpoint.stateStoreProvider}, " +
          s"${checkpoint.originOfProvider}, of ${over(write)},")
      )
    )

  private def isOver(plan: LogicalPlan): Boolean = OfStream.unapply(plan).nonEmpty

  private def isOurs(plan: LogicalPlan): Boolean = OfBuckets.unapply(plan).nonEmpty
}
