package io.sash.spark.streams

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan}
import org.apache.spark.sql.streaming._

/**
 * Answers the hops of a bucket of keys: rows become partials of their panes, whatever their order,
 * and windows are answered as the mode says.
 *
 * @param late windows that ended by then, in microseconds, take no row any more: the watermark of
 *   the batch before, which Spark tells its operators and not a processor; see [[HopWatermark]]
 */
private[spark] final case class HopProcessor(program: HopProgram, late: Option[Long] = None)
    extends BucketProcessor {
  @transient private[this] var task: HopTask = _

  override def text: String = program.text

  override def init(outputMode: OutputMode, timeMode: TimeMode): Unit = {
    super.init(outputMode, timeMode)
    task = null
  }

  override protected def turn(
      before: BucketHeader,
      rows: Iterator[InternalRow],
      passed: Long
  ): BucketTurn = {
    if (task == null) {
      val known = late.getOrElse(
        throw new IllegalStateException("the watermark of late rows has not been told")
      )
      task = new HopTask(program, state, known)
    }
    val ready = task.ready()
    // Spark uses the row again
    rows.foreach(row => ready.add(row.asInstanceOf[UnsafeRow].copy()))
    val answers = task.answers(ready, before.sweep, passed)
    BucketTurn(answers, () => before.copy(sweep = answers.due))
  }

  override def toString: String = s"Hops of ${program.text}"
}

/** Tells processors of hops, batch by batch, which watermark Spark drops late rows by. */
private[spark] object HopWatermark extends ColumnarRule {
  private val Late = "eventTimeWatermarkForLateEvents"

  override def preColumnarTransitions: Rule[SparkPlan] = rule

  private object rule extends Rule[SparkPlan] {
    override def apply(plan: SparkPlan): SparkPlan = plan.transformUp {
      case operator if operator.productIterator.exists(_.isInstanceOf[HopProcessor]) =>
        val late = operator.productElementNames.zip(operator.productIterator).collectFirst {
          case (Late, Some(millis: Long)) => millis * 1000L
        }
        operator.makeCopy(operator.productIterator.map {
          case p: HopProcessor => p.copy(late = late)
          case other           => other.asInstanceOf[AnyRef]
        }.toArray)
    }
  }
}
