package io.sash.spark.streams.late

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}

import io.sash.spark.base.PassesRows

/**
 * Passes its rows on to a stateful operator, and writes each row that the operator drops as late
 * to a file. A row that is late for some of its hop windows is written, too.
 *
 * @param path the folder of the files
 * @param last a TIMESTAMP: the operator drops a row if the watermark has passed it. For hop
 *   windows it is the end of the row's last window
 * @param windows the number of the row's hop windows; None if the operator has none
 * @param slide from the end of one of these windows to the end of the next, in microseconds
 */
private[spark] final case class LateTable(
    child: LogicalPlan,
    path: String,
    last: Expression,
    windows: Option[Expression] = None,
    slide: Long = 1L
) extends PassesRows {
  override def output: Seq[Attribute] = child.output

  // a late row is written with all its columns, so the optimizer may remove none
  override lazy val references: AttributeSet = child.outputSet

  override protected def withNewChildInternal(newChild: LogicalPlan): LateTable =
    copy(child = newChild)
}

private[spark] object PlanLateTable extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case LateTable(child, path, last, windows, slide) =>
      Seq(LateTableExec(path, last, windows, slide, planLater(child)))
    case _ => Nil
  }
}
