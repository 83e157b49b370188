package io.sash.spark.streams.plan

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{FilterExec, ProjectExec, SparkPlan}

import io.sash.spark.base.StreamVersions
import io.sash.spark.history.HistoryExec
import io.sash.spark.streams.checkpoint.{NumberedFiles, StateFile}
import io.sash.spark.streams.late.{LateBatch, LateTableExec}
import io.sash.spark.streams.state.StreamMetrics
import io.sash.spark.streams.task.{BucketProcessor, OperatorBatch}

/**
 * In the plan of each micro-batch, passes to Sash's processors the values that Spark passes to
 * its own operators only: the watermark of late rows, the state's location, metrics. From version
 * to version, the operators and these values have moved and grown; the names of the fields have
 * stayed.
 */
private[spark] object StatefulOperators extends Rule[SparkPlan] {

  /** The location of the state in a plan that is only explained. */
  private val Nowhere = "<unknown>"

  /** The property in which the thread of a query has the query's id. */
  private val QueryId = "sql.streaming.queryId"

  override def apply(plan: SparkPlan): SparkPlan = {
    val isRealTime = StreamVersions.isRealTime(plan)
    val ours = plan.collect { case operator if isOurs(operator) => operator }
    ours.foreach(checkState)
    val isLater = ours.exists(o => placeOf(o).nonEmpty && batchOf(o).exists(_ > 0))
    plan.transformUp {
      case history: HistoryExec if isLater => history.withoutRows
      case operator if isOurs(operator)    => withBatch(operator, isRealTime)
      // if the extension is both configured and found, the rule runs twice
      case any @ (_: ProjectExec | _: FilterExec | _: StreamMetricsExec) => any
      case other => other.mapChildren(unsafe)
    }
  }

  /** Whether the operator has a processor without a batch, which the rule has not seen yet. */
  private def isOurs(operator: SparkPlan): Boolean = operator.productIterator.exists {
    case processor: BucketProcessor => processor.batch.isEmpty
    case _                          => false
  }

  /**
   * Adds a ProjectExec above an operator of objects. The rows of such an operator only suit a
   * Project; Python's operators, for one, cast them to UnsafeRow.
   */
  private def unsafe(plan: SparkPlan): SparkPlan = {
    val isObjects = plan match {
      case FilterExec(_, child) => hasObjects(child)
      case _                    => hasObjects(plan)
    }
    if (isObjects) ProjectExec(plan.output, plan) else plan
  }

  private def hasObjects(plan: SparkPlan): Boolean =
    plan.isInstanceOf[StreamMetricsExec] ||
      plan.productIterator.exists(_.isInstanceOf[BucketProcessor])

  /**
   * Passes the values to the processor. In real-time mode a plan may only have operators that
   * Spark knows, so StreamMetricsExec is left out.
   */
  private def withBatch(operator: SparkPlan, isRealTime: Boolean): SparkPlan = {
    val metrics = StreamMetrics.create(operator.session.sparkContext)
    val fields = operator.productElementNames.zip(operator.productIterator).map {
      case (_, processor: BucketProcessor) =>
        processor.in(OperatorBatch(lateOf(operator), isRealTime, metrics))
      case (_, other) => other.asInstanceOf[AnyRef]
    }
    val copied = operator.makeCopy(fields.toArray)
    val ours = lateBatchOf(operator).fold(copied)(LateTableExec.in(copied, _))
    if (isRealTime) ours
    else StreamMetricsExec(placeOf(operator).map(_.getName), ours, metrics, runOf(operator))
  }

  /** Refuses an operator whose state is of another query. */
  private def checkState(operator: SparkPlan): Unit = for {
    place <- placeOf(operator)
    batch <- batchOf(operator)
    processor <- operator.productIterator.collectFirst { case p: BucketProcessor => p }
  } new StateFile(place, conf(operator))
    .check(processor.text, batch, passedBefore(operator, place, batch))

  private def conf(operator: SparkPlan): Configuration =
    operator.session.sessionState.newHadoopConf()

  /** The watermark of late rows, in microseconds. */
  private def lateOf(operator: Product): Option[Long] =
    fieldOf(operator, LateEvents).collect { case Some(millis: Long) => millis * 1000L }

  private val LateEvents = "eventTimeWatermarkForLateEvents"

  /**
   * The watermark, in microseconds, that the batch before has passed. It is the one of late rows,
   * unless an operator has one watermark for both.
   */
  private def passedBefore(operator: SparkPlan, place: Path, batch: Long): Option[Long] =
    if (batch == 0 || StreamSettings.allowsSeveral(operator.conf)) lateOf(operator)
    else {
      val offsets = new Path(place.getParent.getParent, s"offsets/${batch - 1}")
      Some(NumberedFiles.watermark(NumberedFiles.json(offsets, conf(operator))))
    }

  /** The number of the batch; None if the plan is only explained. */
  private def batchOf(operator: Product): Option[Long] =
    stateOf(operator).flatMap(fieldOf(_, "storeVersion")).collect { case batch: Long => batch }

  /** The batch for the table of late rows; None if the plan is only explained. */
  private def lateBatchOf(operator: SparkPlan): Option[LateBatch] = for {
    place <- placeOf(operator)
    batch <- batchOf(operator)
    late <- lateOf(operator)
    query <- Option(operator.session.sparkContext.getLocalProperty(QueryId))
  } yield LateBatch(query, place.getName, batch, late)

  /** The run of the query; None if the plan is only explained. */
  private def runOf(operator: Product): Option[Any] =
    stateOf(operator).flatMap(fieldOf(_, "queryRunId"))

  /** The directory of the operator's state; None if the plan is only explained. */
  private def placeOf(operator: Product): Option[Path] =
    for {
      info <- stateOf(operator)
      root <- fieldOf(info, "checkpointLocation")
      number <- fieldOf(info, "operatorId")
      if root != Nowhere
    } yield new Path(root.toString, number.toString)

  private def stateOf(operator: Product): Option[Product] =
    fieldOf(operator, "stateInfo").collect { case Some(info: Product) => info }

  private def fieldOf(of: Product, name: String): Option[Any] =
    of.productElementNames.zip(of.productIterator).collectFirst { case (`name`, value) => value }
}
