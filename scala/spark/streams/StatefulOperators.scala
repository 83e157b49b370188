package io.sash.spark.streams

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan}

/**
 * What Spark tells its operators with state, batch by batch on the driver, and not the processors in
 * them. The operators and what they are told have moved and grown from version to version; the
 * names of the fields have stayed.
 */
private[spark] object StatefulOperators extends ColumnarRule {

  /** Where EXPLAIN says that the state is. */
  private val Nowhere = "<unknown>"

  override def preColumnarTransitions: Rule[SparkPlan] = rule

  private object rule extends Rule[SparkPlan] {
    override def apply(plan: SparkPlan): SparkPlan = plan.transformUp {
      case operator if operator.productIterator.exists(_.isInstanceOf[BucketProcessor]) =>
        told(operator)
    }
  }

  private def told(operator: SparkPlan): SparkPlan = {
    val fields = operator.productIterator.map {
      case processor: BucketProcessor =>
        placeOf(operator).foreach { place =>
          new StateFile(place, operator.session.sessionState.newHadoopConf())
            .check(processor.text)
        }
        processor match {
          case hops: HopProcessor => hops.copy(late = lateOf(operator))
          case other              => other
        }
      case other => other.asInstanceOf[AnyRef]
    }
    operator.makeCopy(fields.toArray)
  }

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
