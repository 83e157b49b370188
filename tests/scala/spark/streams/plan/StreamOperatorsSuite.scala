package io.sash.spark.streams.plan

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.plans.logical.TransformWithState
import org.apache.spark.sql.expressions.Window
import org.apache.spark.sql.functions.{count, expr, max, sum}
import org.apache.spark.sql.streaming.OutputMode

import org.scalatest.tags.Slow

import io.sash.spark.{StreamSuite, Thorough}

/** Several operators with state in one query. */
@Slow
class StreamOperatorsSuite extends StreamSuite {

  private val batches =
    StreamSuite.batches(11, count = 4, size = 60, jitterSeconds = 25, keys = 3)

  private val over = sql(
    "SELECT id, ts, sum(x) OVER (PARTITION BY k ORDER BY ts, id ROWS 4 PRECEDING) AS a FROM events"
  ) _

  private val hops = sql(
    """SELECT unix_micros(window.start) * 8 + coalesce(k, 7) AS id, window, k, count(*) AS c, sum(x) AS a
      |  FROM events GROUP BY k, window(ts, '10 seconds', '5 seconds')""".stripMargin
  ) _

  /** In batch Spark has no duplicates within a watermark. */
  private def distinct(rows: DataFrame): DataFrame =
    if (rows.isStreaming) rows.dropDuplicatesWithinWatermark("id") else rows.dropDuplicates("id")

  private def join(left: DataFrame, right: DataFrame, on: String): DataFrame =
    left.as("l").join(right.as("r"), expr(on)).selectExpr("l.id", "l.a", "r.a AS b")

  private val byTime = "l.id = r.id AND l.ts = r.ts"

  for {
    (name, query) <- Seq[(String, DataFrame => DataFrame)](
      "a join of windows of one partition" -> (rows =>
        join(over(rows), over(rows.where("d > 50")), byTime)
      ),
      "a join of the same windows" -> { rows =>
        val both = over(rows)
        join(both, both, byTime)
      },
      "windows over a join" -> sql(
        """SELECT id, sum(y) OVER (PARTITION BY k ORDER BY ts, id ROWS 4 PRECEDING) AS a,
          |  count(*) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL 10 SECONDS PRECEDING) AS b
          |  FROM events LEFT JOIN (SELECT id AS i, ts AS t, x AS y FROM events WHERE d > 50)
          |  ON id = i AND t BETWEEN ts - INTERVAL 5 SECONDS AND ts + INTERVAL 5 SECONDS""".stripMargin
      ),
      "duplicates dropped below" -> (rows => over(distinct(rows.union(rows)))),
      "duplicates dropped above" -> (rows => distinct(over(rows))),
      "windows over a union" -> (rows => over(rows.where("d < 50").union(rows.where("d >= 50")))),
      "a union of windows" -> (rows =>
        over(rows.where("d < 50")).union(over(rows.where("d >= 50")))
      )
    )
  } test(s"a stream's answers are the batch's: $name", each(6): _*) {
    // rows without a match leave an outer join later
    val atOnce = name != "windows over a join"
    streaming() {
      checkStream(batches, delaySeconds = 15, restartBefore = Set(2, 3), atOnce = atOnce)(query)
    }
  }

  test("LIMIT counts over all runs") {
    for (query <- Seq(over(_: DataFrame).limit(7), hops(_: DataFrame).limit(7)))
      withSource("15 seconds") { source =>
        run(source, batches, restartBefore = Set(2, 3))(query)
        assert(source.rows.distinct.length == 7 && source.rows.length == 7)
      }
  }

  test("hops below Spark's own windows") {
    streaming()(checkHops(batches) { rows =>
      hops(rows)
        .groupBy(expr("window(window_time(window), '20 seconds')"))
        .agg(expr("sum(c)"), expr("max(a)"))
        .selectExpr("unix_micros(window.start) AS id", "*")
    })
  }

  test("hops beside Spark's own windows", Thorough) {
    streaming()(checkHops(batches, mode = OutputMode.Update()) { rows =>
      val windows = rows.groupBy(expr("window(ts, '10 seconds')")).count()
      hops(rows)
        .select("id", "c")
        .union(windows.selectExpr("-unix_micros(window.start)", "count"))
    })
  }

  test("a join of hops over distinct rows", Thorough) {
    streaming()(checkHops(batches) { rows =>
      def of(some: DataFrame) = hops(some.dropDuplicates("id", "ts"))
      join(of(rows), of(rows.where("d > 50")), "l.k = r.k AND l.window = r.window")
    })
  }

  /** Queries in one another. */
  private val nested = sql(
    """SELECT id, f1, f2, f3 FROM (
      |  SELECT *, max(y3) OVER (PARTITION BY k ORDER BY ts, id ROWS 3 PRECEDING) AS f3 FROM (
      |    SELECT *, x * 3 AS y3 FROM (
      |      SELECT *, sum(y2) OVER (PARTITION BY k ORDER BY ts, id ROWS 2 PRECEDING) AS f2 FROM (
      |        SELECT *, x * 2 AS y2,
      |          count(x) OVER (PARTITION BY k ORDER BY ts, id ROWS 1 PRECEDING) AS f1
      |        FROM events))))""".stripMargin
  ) _

  private val w = Window.partitionBy("k").orderBy("ts", "id")

  /** Each step is analyzed, and planned, by itself. */
  private def chained(rows: DataFrame): DataFrame = rows
    .withColumn("f1", count("x").over(w.rowsBetween(-1, 0)))
    .withColumn("y2", expr("x * 2"))
    .withColumn("f2", sum("y2").over(w.rowsBetween(-2, 0)))
    .as("named")
    .withColumn("f3", max(expr("y2 + 1")).over(w.rowsBetween(-3, 0)))
    .withColumn("f1", expr("f1 + 1"))

  for (
    (name, query, operators) <- Seq[(String, DataFrame => DataFrame, Int)](
      ("queries in one another", nested, 1),
      ("a chain of withColumn", chained(_).select("id", "f1", "f2", "f3"), 1),
      (
        "a chain in which a window reads an answer",
        chained(_)
          .withColumn("f4", sum("f1").over(w.rowsBetween(-1, 0)))
          .selectExpr("id", "f3", "f4"),
        2
      ),
      (
        "a chain with another partition",
        chained(_)
          .withColumn("f4", sum("x").over(Window.partitionBy("s").orderBy("ts", "id")))
          .selectExpr("id", "f3", "f4"),
        2
      ),
      (
        "a chain with a filter on an answer",
        chained(_)
          .where("f2 > 20")
          .withColumn("f4", sum("x").over(w.rowsBetween(-1, 0)))
          .selectExpr("id", "f3", "f4"),
        2
      ),
      (
        "a chain above a union of a chain with itself",
        rows => {
          val once = chained(rows).select("id", "k", "ts", "x", "f3")
          once
            .union(once.selectExpr("id", "k + 10", "ts", "x", "f3"))
            .withColumn("f4", sum("x").over(w.rowsBetween(-1, 0)))
            .where("k < 10")
            .select("id", "f3", "f4")
        },
        3
      )
    )
  ) test(s"windows of one order are one operator, with the batch's answers: $name", each(3): _*) {
    streaming() {
      checkStream(batches, delaySeconds = 15, restartBefore = Set(2))(query)
    }
    withSource("15 seconds") { source =>
      source.start(query)
      source.add(batches.head)
      val found = source.execution.analyzed.collect { case t: TransformWithState => t }
      source.stop()
      assert(found.length == operators)
    }
  }
}
