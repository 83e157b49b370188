package io.sash.spark.streams.plan

import org.scalatest.tags.Slow

import io.sash.spark.{StreamSuite, Thorough}
import io.sash.spark.multisets.WrapMovingAggregatesSuite

/** OVER on streams of unusual expressions, and beside unusual neighbours. */
@Slow
class StreamNeighboursSuite extends StreamSuite {
  import StreamSuite.at

  private val batches =
    StreamSuite.batches(11, count = 5, size = 40, jitterSeconds = 25, keys = 3)

  private def checkRuns(call: String): Unit =
    withSource("1 second") { source =>
      source.start(sql(s"SELECT id, $call AS a FROM events"))
      source.add(Seq(at(1, 10)))
      source.add(Seq(at(2, 100)))
      source.stop()
      assert(source.rows.map(_.getLong(0)) == Seq(1L))
    }

  for (
    (name, call) <- Seq(
      "an aggregate" -> "max(current_date()) OVER (PARTITION BY k ORDER BY ts ROWS 2 PRECEDING)",
      "a predicate" -> ("count(*) OVER (PARTITION BY k, predicate_window(count(x), " +
        "n -> n < 3 AND current_date() > DATE'2020-01-01') ORDER BY ts)"),
      "a mark" -> ("count(*) OVER (PARTITION BY k, punctuation_window(ts > current_timestamp()) ORDER BY ts)")
    )
  ) test(s"now: $name", each(3): _*) {
    checkRuns(call)
  }

  for (
    (name, call) <- Seq(
      "a mark" -> "count(*) OVER (PARTITION BY k, punctuation_window(x > (SELECT 1)) ORDER BY ts)",
      "lag's default" -> "lag(x, 1, (SELECT 3)) OVER (PARTITION BY k ORDER BY ts)",
      "an aggregate" -> "sum(x + (SELECT 3)) OVER (PARTITION BY k ORDER BY ts ROWS 2 PRECEDING)"
    )
  ) test(s"a subquery: $name", each(3): _*) {
    sql(s"SELECT id, $call AS a FROM events")(spark.createDataFrame(Seq(at(1, 10)))).collect()
    checkRuns(call)
  }

  for (
    (name, call) <- Seq(
      "lag's default" -> "lag(s, 1, current_user()) OVER (PARTITION BY k ORDER BY ts)",
      "an aggregate" -> "max(current_database()) OVER (PARTITION BY k ORDER BY ts ROWS 2 PRECEDING)"
    )
  ) test(s"who: $name", each(2): _*) {
    checkRuns(call)
  }

  test("who and now in hops") {
    withSource("1 second") { source =>
      source.start(
        sql(
          "SELECT window.start, max(current_user()) AS u, max(current_timestamp()) AS n, current_timestamp() AS b " +
            "FROM events GROUP BY window(ts, '10 seconds', '5 seconds')"
        )
      )
      source.add(Seq(at(1, 10)))
      source.add(Seq(at(2, 100)))
      source.stop()
      assert(source.rows.length == 2)
    }
  }

  test("a row exactly at the watermark") {
    withSource("0 seconds") { source =>
      source.start(
        sql(
          "SELECT id, sum(x) OVER (PARTITION BY k ORDER BY ts ROWS 2 PRECEDING) AS a FROM events"
        )
      )
      source.add(Seq(at(1, 10)))
      source.stop()
      assert(source.rows.length == 1)
    }
  }

  test("no batches without data, once each") {
    streaming("spark.sql.streaming.noDataMicroBatches.enabled" -> "false") {
      inDirectory { c =>
        val source = new Source("1 second", c)
        source.start(
          sql(
            "SELECT id, count(*) OVER (PARTITION BY k ORDER BY ts ROWS 2 PRECEDING) AS a FROM events"
          )
        )
        (1 to 5).foreach(i => source.add(Seq(at(i, i * 10, k = i % 2))))
        source.stop()
        assert(source.rows.map(_.getLong(0)).sorted == Seq(1L, 2L, 3L))
      }
    }
  }

  test("many aggregates, restarted") {
    spark.udf.register("plus_one", (x: Int) => x + 1)
    spark.udf.register(
      "own_spread",
      org.apache.spark.sql.functions
        .udaf(WrapMovingAggregatesSuite.Spread, org.apache.spark.sql.Encoders.scalaInt)
    )
    streaming() {
      checkStream(batches, delaySeconds = 15, restartBefore = Set(2, 4))(
        sql(
          """SELECT id, percentile_approx(x, 0.5) OVER w a, collect_set(s) OVER w AS set_s, bool_and(x > 5) OVER w b,
            | max_by(s, id) OVER w m, bit_xor(x) OVER w bx, try_sum(x) OVER w ts2, count_if(x > 3) OVER w ci,
            | sum(plus_one(coalesce(x, 0))) OVER w po, own_spread(x) OVER w os, sum(x + (SELECT 3)) OVER w sq,
            | sum(size(transform(array(x), y -> y + 1))) OVER w l, listagg(s, ',') OVER w li, any_value(s) OVER w av
            | FROM events WINDOW w AS (PARTITION BY plus_one(k), upper(s) > 'K' ORDER BY ts, id ROWS 6 PRECEDING)""".stripMargin
        )
      )
    }
  }

  private val groupsQuery =
    """SELECT id, sum(x) OVER (PARTITION BY k, predicate_window(sum(x), t -> t BETWEEN 0 AND 200), window_slide(3)
      |   ORDER BY ts, id) AS a,
      | sum(x) OVER (PARTITION BY k, predicate_window(sum(x), t -> t BETWEEN 0 AND 200) ORDER BY ts, id) AS b,
      | count(*) OVER (PARTITION BY k, predicate_window(sum(x), t -> t BETWEEN 0 AND 200), window_slide(2)
      |   ORDER BY ts, id) AS c,
      | sum(x) OVER (PARTITION BY k ORDER BY ts, id ROWS 3 PRECEDING) AS e,
      | max(d) OVER (PARTITION BY k ORDER BY ts, id ROWS 3 PRECEDING) AS f,
      | max(d) OVER (PARTITION BY k ORDER BY ts, id ROWS BETWEEN 9 PRECEDING AND 4 PRECEDING) AS g,
      | sum(x) FILTER (WHERE d > 30) OVER (PARTITION BY k ORDER BY ts, id) AS h,
      | sum(x) OVER (PARTITION BY k, gap_window(INTERVAL 2 SECONDS) ORDER BY ts) AS i,
      | sum(x) OVER (PARTITION BY k, punctuation_window(x % 7 = 0), window_slide(INTERVAL 7 SECONDS) ORDER BY ts, id) AS j,
      | lag(x, 2) OVER (PARTITION BY k ORDER BY ts, id) AS l, lag(x) IGNORE NULLS OVER (PARTITION BY k ORDER BY ts, id) AS m,
      | rank() OVER (PARTITION BY k ORDER BY ts, id) AS n
      | FROM events""".stripMargin

  test("groups, append", Thorough) {
    streaming() {
      checkStream(batches, delaySeconds = 15, restartBefore = Set(2, 4))(sql(groupsQuery))
    }
  }

  test("groups, update", Thorough) {
    checkUpdates(batches, delaySeconds = 15, restartBefore = Set(2, 4))(
      sql(groupsQuery.linesIterator.filterNot(_.contains("gap_window")).mkString("\n"))
    )
  }

  test("state in Avro", Thorough) {
    streaming("spark.sql.streaming.stateStore.encodingFormat" -> "avro") {
      checkStream(batches, delaySeconds = 15, restartBefore = Set(2))(
        sql(
          "SELECT id, sum(x) OVER (PARTITION BY k ORDER BY ts, id ROWS 40 PRECEDING) AS a FROM events"
        )
      )
    }
  }

  test("a static side with windows of its own") {
    streaming() {
      checkStream(batches, delaySeconds = 15, restartBefore = Set(2))(
        sql(
          """SELECT e.id, r.n, sum(x) OVER (PARTITION BY e.k ORDER BY ts, id ROWS 3 PRECEDING) AS a,
            | sum(r.n) OVER (PARTITION BY e.k ORDER BY ts, id ROWS 3 PRECEDING) AS b FROM events e JOIN
            | (SELECT j, row_number() OVER (ORDER BY j DESC) AS n, sum(j) OVER (ORDER BY j) AS m FROM VALUES (0), (1), (2) AS v(j)) r
            | ON e.k = r.j""".stripMargin.replace(" JOIN", " LEFT JOIN")
        )
      )
    }
  }
}
