package io.sash.spark.lateral

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.execution.joins.BroadcastNestedLoopJoinExec

import io.sash.spark.{Explain, SashSuite}

/** A suite of correlated subqueries: the same rows with Sash and by Spark's join of all pairs. */
trait LateralSuite extends SashSuite {

  /** The rows as sorted text. The last digits of doubles depend on the order of addition. */
  protected def sorted(rows: Seq[Row]): Seq[String] = rows.map {
    _.toSeq
      .map {
        case d: Double if !d.isNaN && !d.isInfinite => f"$d%.9g"
        case other                                  => String.valueOf(other)
      }
      .mkString(",")
  }.sorted

  protected def joinsPairs(frame: DataFrame): Boolean =
    collect(frame.queryExecution.executedPlan) { case j: BroadcastNestedLoopJoinExec =>
      j
    }.nonEmpty

  protected def told(frame: DataFrame): String =
    new Explain().generateExtendedInfo(frame.queryExecution.executedPlan)

  /** The same rows with Sash on and off; answers the frame with Sash. */
  protected def check(query: => DataFrame): DataFrame = {
    val expected = withSash(enabled = false)(query.collect().toSeq)
    val frame = query
    assert(sorted(frame.collect().toSeq) == sorted(expected))
    frame
  }

  /** Likewise, and windows made the rows. */
  protected def checkWindows(query: String): Unit = withClue(s"$query\n") {
    val frame = check(spark.sql(query))
    assert(sliding(frame).nonEmpty && !joinsPairs(frame), told(frame))
  }
}
