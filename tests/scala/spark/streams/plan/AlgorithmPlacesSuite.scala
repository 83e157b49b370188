package io.sash.spark.streams.plan

import java.io.File
import java.nio.file.Files

import scala.jdk.CollectionConverters._
import scala.util.Try

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.SimpleMode
import org.apache.spark.sql.streaming.{OutputMode, StreamingQueryException}

import org.scalatest.tags.Slow

import io.sash.spark.StreamSuite
import io.sash.spark.base.SashConf
import io.sash.spark.monoids.{Algorithm, Place}

/** The algorithms that run in each place: EXPLAIN, the page and the setting agree. */
@Slow
class AlgorithmPlacesSuite extends StreamSuite {

  private val page = {
    val here = Iterator.iterate(new File("").getCanonicalFile)(_.getParentFile)
    val file = here.map(new File(_, "docs/algorithms.md")).find(_.exists).get
    Files.readAllLines(file.toPath).asScala.toSeq
  }

  private def cells(line: String): Seq[String] = line.split('|').toSeq.tail.map(_.trim)

  private val (places, rows) = {
    val start = page.indexWhere(_.startsWith("| `spark.sash.window.algorithm` |"))
    val table = page.drop(start).takeWhile(_.startsWith("|")).map(cells)
    (table.head.drop(2), table.drop(2))
  }

  private val frame = "PARTITION BY k ORDER BY ts ROWS 5 PRECEDING"

  private def over(call: String): DataFrame => DataFrame =
    sql(s"SELECT id, $call OVER ($frame) AS a FROM events")

  private def hops(call: String): DataFrame => DataFrame = sql(
    s"SELECT k, window, $call AS a FROM events GROUP BY k, window(ts, '60 seconds', '10 seconds')"
  )

  private def batch: DataFrame = spark.createDataFrame(
    StreamSuite.batches(1, count = 2, size = 20, jitterSeconds = 5, keys = 2).flatten
  )

  /** EXPLAIN's words for the algorithm of a place; None if Sash does not run the query. */
  private val explained: Map[String, String => Option[String]] = Map(
    Place.Ring.title -> (call =>
      sliding(over(call)(batch).queryExecution.sparkPlan)
        .flatMap(_.calls.map(_.toString.split(": ").last.split(" of ").head))
        .headOption
    ),
    Place.RingOfPanes.title -> { call =>
      val text = hops(call)(batch).queryExecution.explainString(SimpleMode)
      """panes, ([^\],]+)""".r.findFirstMatchIn(text).map(_.group(1).split(" of ").head)
    },
    Place.Forest.title -> (call => onStream(over(call))),
    Place.ForestOfPanes.title -> (call => onStream(hops(call)))
  )

  private def onStream(query: DataFrame => DataFrame): Option[String] = streaming() {
    Try(processorOf(query, OutputMode.Append()).explained).toOption
      .flatMap("""by (.*) over a forest""".r.findFirstMatchIn(_))
      .map(_.group(1))
  }

  test("the page has all places and all settings") {
    assert(places.toSet == explained.keySet)
    assert(
      rows.map(_.head.replace("`", "")).toSet == (Algorithm.Auto +: Algorithm.All.map(_.id)).toSet
    )
  }

  for (place <- Seq(Place.RingSuffixes, Place.RingStretches, Place.Members))
    test(s"the page has the cascade of ${place.title}") {
      assert(page.contains(s"| ${place.title} | ${place.cascade.map(_.title).mkString(", ")} |"))
    }

  for (row <- rows; cell <- row(1).split("`, `"); (place, said) <- places.zip(row.drop(2))) {
    val Seq(setting, call) = Seq(row.head, cell).map(_.replace("`", ""))
    test(s"$setting: $call, $place: $said") {
      withSettings(SashConf.WindowAlgorithm.key -> setting) {
        assert(explained(place)(call).getOrElse("-") == said)
      }
    }
  }

  private def batches =
    StreamSuite.batches(5, count = 4, size = 40, jitterSeconds = 25, keys = 3)

  for (algorithm <- Algorithm.All) {
    test(s"${algorithm.id}: a stream's answers are the batch's", each(4): _*) {
      streaming(SashConf.WindowAlgorithm.key -> algorithm.id) {
        checkStream(batches, delaySeconds = 15, restartBefore = Set(3)) {
          sql(
            s"""SELECT id, count(x) OVER w AS c, sum(x) OVER w AS s, max(d) OVER w AS m,
               |  count(DISTINCT x) OVER w AS d, collect_list(x) OVER w AS l,
               |  sum(x) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL 9 SECONDS PRECEDING) AS r,
               |  sum(x) OVER (PARTITION BY k, predicate_window(sum(x), t -> t < 90) ORDER BY ts, id) AS p,
               |  sum(x) OVER (PARTITION BY k, gap_window(INTERVAL 2 SECONDS) ORDER BY ts) AS g
               |FROM events WINDOW w AS (PARTITION BY k ORDER BY ts, id ROWS 5 PRECEDING)""".stripMargin
          )
        }
      }
    }

    for (call <- Seq("sum(x)", "max(d)", "sum(x), max(x)"))
      test(s"${algorithm.id}: hop windows of $call are Spark's", each(2): _*) {
        val rows = spark.createDataFrame(batches.flatten)
        val query = hops(call.replace(", ", " AS b, "))
        def answers(hopsOn: Boolean) = withSettings(
          SashConf.WindowAlgorithm.key -> algorithm.id,
          "spark.sash.hops.enabled" -> hopsOn.toString
        )(query(rows).collect().map(_.toString).sorted.toSeq)
        assert(answers(hopsOn = true) == answers(hopsOn = false))
      }
  }

  test("a checkpoint of another algorithm is refused, and the error names the setting") {
    streaming(SashConf.WindowAlgorithm.key -> "slickdeque-inv") {
      val other = Seq(SashConf.WindowAlgorithm.key -> "two-stacks-lite")
      val error = intercept[StreamingQueryException] {
        checkStream(batches, delaySeconds = 15, restartBefore = Set(2), later = other)(
          over("sum(x)")
        )
      }
      assert(error.getMessage.contains(s"set ${SashConf.WindowAlgorithm.key} as it was"))
    }
  }
}
