package io.sash.spark.streams.start

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.streaming.WriteToStreamStatement

import io.sash.spark.base.{SashConf, StreamVersions}
import io.sash.spark.streams.late.{LateFiles, LateTable}
import io.sash.spark.streams.plan.{OfStream, StoredColumn}

/**
 * Puts a [[LateTable]] below the windows of rows of a query. It stands below the projection of an
 * operator's own columns, so that a late row has the columns that the user knows, read or not.
 * Hop windows have their tables already.
 */
private[start] object KeepLateRows {

  def apply(query: LogicalPlan, path: String): LogicalPlan =
    AnalysisHelper.allowInvokingTransformsInAnalyzer(query.transformUp {
      case OfStream(stateful, processor) =>
        val time = stateful.child.output(processor.time)
        stateful.child match {
          case row @ Project(_, own @ Project(_, rows)) =>
            val kept = own.withNewChildren(Seq(keeping(rows, time, path)))
            stateful.withNewChildren(Seq(row.withNewChildren(Seq(kept)), stateful.initialState))
          case _ => stateful
        }
    })

  private def keeping(rows: LogicalPlan, time: Attribute, path: String): LogicalPlan =
    rows match {
      // the analyzer runs the rule more than once
      case _: LateTable | Project(_, _: LateTable) => rows
      case stored @ Project(list, from) if list.exists(StoredColumn.unapply(_).nonEmpty) =>
        stored.withNewChildren(Seq(keeping(from, time, path)))
      // the analyzer has selected the columns that the windows and their SELECT read
      case selected @ Project(_, from) if from.outputSet.contains(time) =>
        selected.withNewChildren(Seq(LateTable(from, path, time)))
      case _ => LateTable(rows, path, time)
    }

  /** The reason why the late rows of a query cannot be kept, if so. */
  def fault(write: WriteToStreamStatement, query: LogicalPlan): Option[String] = {
    val columns = query.collect { case table: LateTable => table.child.output }.flatten
    val setting = SashConf.StreamLateRowsPath.key
    if (columns.nonEmpty && StreamVersions.isRealTime(write))
      Some(
        s"$setting in real-time mode, which runs no operator that writes them; unset it, or " +
          "write with another trigger"
      )
    else
      LateFiles.unwritable(columns).headOption.map { c =>
        s"$setting with the column ${c.name} of type ${c.dataType.sql}, for which Parquet has " +
          "no type; cast it below the windows, or unset the setting"
      }
  }
}
