package io.sash.spark.streams.late

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}

import io.sash.spark.base.PassesRows

/**
 * Passes its rows on to a stateful operator, and writes each row that the operator drops as late
 * to a file.
 *
 * @param path the folder of the files
 * @param last a TIMESTAMP: a row is late if the watermark has passed it
 */
private[spark] final case class LateTable(child: LogicalPlan, path: String, last: Expression)
    extends PassesRows {
  override def output: Seq[Attribute] = child.output

  // a late row is written with all its columns, so the optimizer may remove none
  override lazy val references: AttributeSet = child.outputSet

  override protected def withNewChildInternal(newChild: LogicalPlan): LateTable =
    copy(child = newChild)
}

private[spark] object PlanLateTable extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case LateTable(child, path, last) => Seq(LateTableExec(path, last, planLater(child)))
    case _                            => Nil
  }
}
