package io.sash.spark.streams.late

import org.apache.spark.TaskContext
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}

import io.sash.spark.streams.task.KeyTurns

/**
 * Passes its rows on, and writes the late ones to files. It stands below the exchange of the
 * operator. A task there reads all of its rows, even if a sink reads few answers.
 *
 * The late rows of a batch follow from Spark's log of offsets and watermarks. So a batch that
 * runs again has the same late rows. Their files have the same names, and replace the earlier
 * ones. A task that runs twice writes the same file twice, and renames it as its last step.
 *
 * @param path the folder of the files
 * @param last as in a [[LateTable]]
 * @param windows as in a [[LateTable]]
 * @param slide as in a [[LateTable]]
 * @param batch the batch; None if the plan is only explained
 */
private[spark] final case class LateTableExec(
    path: String,
    last: Expression,
    windows: Option[Expression],
    slide: Long,
    child: SparkPlan,
    batch: Option[LateBatch] = None
) extends UnaryExecNode {
  override def output: Seq[Attribute] = child.output

  override def outputPartitioning: Partitioning = child.outputPartitioning

  override def outputOrdering: Seq[SortOrder] = child.outputOrdering

  override protected def doExecute(): RDD[InternalRow] = batch.fold(child.execute()) { of =>
    val files = LateFiles(session, path, of, child.output)
    files.clear(session.sessionState.newHadoopConf())
    val columns = Seq(last, windows.getOrElse(Literal(1L))) // a row of OVER has its own window
    val isOfHops = windows.nonEmpty
    val passed = PassedWindows(of.watermark, slide)
    val input = child.output
    child.execute().mapPartitionsWithIndex { (partition, rows) =>
      val windowsOf = UnsafeProjection.create(columns, input)
      windowsOf.initialize(partition)
      val file = new LateFile(files, partition)
      TaskContext.get().addTaskCompletionListener[Unit](_ => file.abort())
      val all = rows.map { row =>
        val own = windowsOf(row)
        val missed = if (own.isNullAt(0)) 0L else passed.of(own.getLong(0), own.getLong(1))
        if (missed > 0) file.write(row, Option.when(isOfHops)(Missed(missed, own.getLong(1))))
        row
      }
      KeyTurns.ending(all)(file.commit())
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): LateTableExec =
    copy(child = newChild)
}

private[spark] object LateTableExec {

  /** Passes the batch to the tables below an operator. Tables of lower operators have theirs. */
  def in(operator: SparkPlan, batch: LateBatch): SparkPlan = operator.transform {
    case table: LateTableExec if table.batch.isEmpty => table.copy(batch = Some(batch))
  }
}

/** The hop windows that a watermark has passed. Their ends are `slide` apart. */
private[late] final case class PassedWindows(watermark: Long, slide: Long) {

  /**
   * How many of a row's `all` windows the watermark has passed. The last of them ends at `end`.
   */
  def of(end: Long, all: Long): Long =
    if (end <= watermark) all
    else math.max(0L, all - 1 - (end - watermark - 1) / slide)
}

/**
 * The batch in which rows are late.
 *
 * @param query the id of the query, which stays the same when the query starts again
 * @param operator the number of the operator in the query
 * @param batch the number of the batch
 * @param watermark the watermark of late rows, in microseconds
 */
private[spark] final case class LateBatch(
    query: String,
    operator: String,
    batch: Long,
    watermark: Long
)
