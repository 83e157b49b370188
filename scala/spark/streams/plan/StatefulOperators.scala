package io.sash.spark.streams.plan

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{FilterExec, ProjectExec, SparkPlan}

import io.sash.spark.base.StreamVersions
import io.sash.spark.streams.checkpoint.StateFile
import io.sash.spark.streams.state.StreamMetrics
import io.sash.spark.streams.task.BucketProcessor

/**
 * Operators with processors of ours, in the plan of each batch: they are told what Spark tells its own
 * operators, and not the processors in them. The operators and what they are told have moved and
 * grown from version to version; the names of the fields have stayed.
 */
private[spark] object StatefulOperators extends Rule[SparkPlan] {

  /** Where EXPLAIN says that the state is. */
  private val Nowhere = "<unknown>"

  override def apply(plan: SparkPlan): SparkPlan = {
    val isRealTime = StreamVersions.isRealTime(plan)
    plan.transformUp {
      case operator if isOurs(operator) => told(operator, isRealTime)
      // the rule runs twice where the extension is named and found, too
      case any @ (_: ProjectExec | _: FilterExec | _: StreamMetricsExec) => any
      case other => other.mapChildren(unsafe)
    }
  }

  /** Whether the operator has a processor that has been told nothing yet. */
  private def isOurs(operator: SparkPlan): Boolean = operator.productIterator.exists {
    case processor: BucketProcessor => processor.metrics.isEmpty
    case _                          => false
  }

  /** A row as an operator of objects gives it is just fit for a Project; Python, for one, casts it. */
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

  /** In real-time mode no operator may be in the plan but those that Spark knows. */
  private def told(operator: SparkPlan, isRealTime: Boolean): SparkPlan = {
    val place = placeOf(operator)
    val metrics = StreamMetrics(operator.session.sparkContext)
    val fields = operator.productIterator.map {
      case processor: BucketProcessor =>
        place.foreach(new StateFile(_, conf(operator)).check(processor.text))
        processor.in(lateOf(operator), metrics)
      case other => other.asInstanceOf[AnyRef]
    }
    val ours = operator.makeCopy(fields.toArray)
    if (isRealTime) ours else StreamMetricsExec(place.map(_.getName), ours, metrics)
  }

  private def conf(operator: SparkPlan): Configuration =
    operator.session.sessionState.newHadoopConf()

  /** The watermark by which rows are late, in microseconds. */
  private def lateOf(operator: Product): Option[Long] =
    fieldOf(operator, "eventTimeWatermarkForLateEvents").collect { case Some(millis: Long) =>
      millis * 1000L
    }

  /** Where the operator's state is. */
  private def placeOf(operator: Product): Option[Path] =
    for {
      info <- fieldOf(operator, "stateInfo").collect { case Some(i: Product) => i }
      root <- fieldOf(info, "checkpointLocation")
      number <- fieldOf(info, "operatorId")
      if root != Nowhere
    } yield new Path(root.toString, number.toString)

  private def fieldOf(of: Product, name: String): Option[Any] =
    of.productElementNames.zip(of.productIterator).collectFirst { case (`name`, value) => value }
}
