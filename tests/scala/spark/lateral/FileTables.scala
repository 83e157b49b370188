package io.sash.spark.lateral

import java.nio.file.Files

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.FileSourceScanExec

import org.scalatest.BeforeAndAfterAll

/** A suite over labels and events in files, so that a plan names the columns that it reads. */
trait FileTables extends LateralSuite with BeforeAndAfterAll {
  private val folder = Files.createTempDirectory("sash").toString

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    write(
      "labels",
      "SELECT id, id % 3 AS k, id * 5 % 17 AS ts, CAST(id % 7 AS INT) AS q, " +
        "IF(id % 4 = 0, NULL, id % 5) AS z FROM range(30)"
    )
    // the values follow from key and time, so that events that tie are alike
    write(
      "events",
      "SELECT k, ts, k + ts AS a, IF(ts % 3 = 0, NULL, ts * 7 % 5) AS b, " +
        "IF(ts % 5 = 0, NULL, named_struct('x', ts, 'y', named_struct('u', k, 'v', -ts))) AS st, " +
        "CAST(ts AS STRING) AS s FROM (SELECT id % 4 AS k, id * 3 % 20 AS ts FROM range(40))"
    )
  }

  private def write(name: String, query: String): Unit = {
    spark.sql(query).coalesce(1).write.parquet(s"$folder/$name")
    spark.read.parquet(s"$folder/$name").createOrReplaceTempView(name)
  }

  /** The scans of a table. */
  private def scans(frame: DataFrame, table: String): Seq[FileSourceScanExec] =
    collectWithSubqueries(frame.queryExecution.executedPlan) {
      case s: FileSourceScanExec if s.relation.location.rootPaths.exists(_.getName == table) => s
    }

  /** The columns that each scan of the events reads, in the order of the table. */
  protected def columns(frame: DataFrame): Seq[String] =
    scans(frame, "events").map(_.requiredSchema.toDDL)

  /** The conditions that each scan of a table takes. */
  protected def pushed(frame: DataFrame, table: String): Seq[String] =
    scans(frame, table).map(_.metadata("PushedFilters"))
}
