package io.sash.spark.hops

import scala.util.Random

import org.scalatest.tagobjects.Slow

import io.sash.spark.Explain

/** Hop windows whose answers come from all of their values. */
class HopMultisetsSuite extends HopChecks {
  private val w = "window(ts, '25 seconds', '10 seconds')"

  private val calls = Seq(
    "count(DISTINCT x), median(x) FILTER (WHERE d > 3), sum(x), avg(d), count(*), " +
      "count(DISTINCT g) FILTER (WHERE x > 50), max(s)",
    "sum(DISTINCT x), avg(DISTINCT d), max(DISTINCT s), stddev(DISTINCT x), try_sum(DISTINCT m)",
    "count(DISTINCT x, s), count(DISTINCT struct(k, g)), count(DISTINCT array(k, g)), " +
      "count(DISTINCT IF(id % 2 = 0, s, upper(s)) COLLATE UTF8_LCASE), count(DISTINCT NULL)",
    "count(DISTINCT IF(k = 1, -0.0D, IF(k = 2, double('NaN'), 0.0D))), count(DISTINCT ts)",
    "median(d), percentile(x, array(0.1, 0.5, 0.9)), percentile(float(d), 0.3), median(m)",
    "percentile_cont(0.9) WITHIN GROUP (ORDER BY d DESC), median(make_dt_interval(0, 0, 0, d)), " +
      "percentile_disc(0.4) WITHIN GROUP (ORDER BY x), median(IF(k = 1, double('NaN'), d))",
    "mode() WITHIN GROUP (ORDER BY x), mode(s, true), mode(x) = mode(x)",
    "sort_array(collect_set(x)), sort_array(collect_set(struct(k, g))), size(collect_set(d))",
    "sort_array(collect_list(DISTINCT x))",
    "listagg(DISTINCT s, ',') WITHIN GROUP (ORDER BY s DESC)",
    "array_sort(map_entries(value_counts(g))), top_counts(s, 2), entropy(s), mode_share(s)",
    "max(d), approx_count_distinct(DISTINCT g)",
    "sum(DISTINCT 5), count(DISTINCT 1, x), median(5), count(DISTINCT x + k), max(DISTINCT x)"
  )

  for {
    call <- calls
    tags = if (call == calls.head) Nil else Slow +: each(2)
  } test(s"answers of panes are Spark's: $call", tags: _*) {
    val query = s"SELECT k, window, $call FROM events GROUP BY k, $w"
    checkBoth(query, w)
  }

  for (
    window <- Seq(
      "window(ts, '10 seconds', '5 seconds')",
      "window(ts, '1 minute', '1 second')",
      "window(ts, '30 seconds', '7 seconds', '3 seconds')"
    )
  ) test(s"the windows of panes: $window", Slow +: each(2): _*) {
    val call = "median(x), count(DISTINCT g), avg(d)"
    check(s"SELECT window, $call FROM events GROUP BY $window")
    check(
      s"SELECT s, g, window.end, $call FROM events GROUP BY $window, s, g"
    )
    withSettings("spark.sash.window.algorithm" -> "recalculate") {
      check(s"SELECT k, window, $call FROM events GROUP BY k, $window")
    }
  }

  private val parts = Seq(
    "count(DISTINCT x)",
    "count(DISTINCT s, g)",
    "sum(DISTINCT x % 7)",
    "median(d)",
    "percentile(x, array(0.0, 0.3, 1.0))",
    "percentile_disc(0.7) WITHIN GROUP (ORDER BY d DESC)",
    "mode(g, true)",
    "sort_array(collect_set(s))",
    "top_counts(g, 2)",
    "sum(x)",
    "avg(d)",
    "max(s)",
    "count(*)"
  )

  for (seed <- 1 to 12) test(s"a random query, seed $seed", each(12): _*) {
    val rng = new Random(seed)
    def some(of: Seq[String], most: Int) = rng.shuffle(of).take(1 + rng.nextInt(most))
    val slide = 1 + rng.nextInt(20)
    val size = slide + 1 + rng.nextInt(60)
    val window =
      s"window(ts, '$size seconds', '$slide seconds', '${rng.nextInt(slide)} seconds')"
    val keys = some(Seq("k", "g", "s", "x % 2", "named_struct('a', g)"), 2)
    val called = some(parts, 4).map { call =>
      if (rng.nextInt(3) > 0 || call.contains("(collect") || call.contains("WITHIN")) call
      else s"$call FILTER (WHERE ${some(Seq("x > 40", "d < 3", "k IS NULL", "false"), 1).head})"
    }
    val where = some(Seq("", "WHERE x IS NOT NULL", "WHERE id % 3 = 0"), 1).head
    val codegen = some(Seq("CODEGEN_ONLY", "NO_CODEGEN"), 1).head
    withSettings("spark.sql.codegen.factoryMode" -> codegen) {
      check(
        s"SELECT ${keys.mkString(", ")}, window, ${called.mkString(", ")} FROM events $where " +
          s"GROUP BY ${keys.mkString(", ")}, $window"
      )
    }
  }

  test("a column that the optimizer finds constant is an input still") {
    check(
      s"SELECT k, window, count(DISTINCT c, x), sum(DISTINCT c), median(c) " +
        s"FROM (SELECT *, 5 AS c FROM events) GROUP BY k, $w"
    )
  }

  test("EXPLAIN names what is beside the slots") {
    events.createOrReplaceTempView("events")
    val frame =
      spark.sql(s"SELECT sum(x), median(x), count(DISTINCT g) FROM events GROUP BY k, $w")
    val said = new Explain().generateExtendedInfo(frame.queryExecution.executedPlan)
    assert(
      said.contains(
        "sum, percentile, count DISTINCT by windows of 5 panes, Two-Stacks Lite, " +
          "SlickDeque (Inv) of a tree of ranks and a multiset"
      )
    )
  }

  for (
    (call, why) <- Seq(
      "collect_list(x)" -> "collect_list depends on the order in which rows arrive",
      "listagg(s)" -> "listagg depends on the order in which rows arrive",
      "first(x)" -> "first depends on the order in which rows arrive",
      "percentile(x, 0.5, g + 1)" -> "percentile would have to go through all values",
      "median(CAST(m AS DECIMAL(38, 2)))" -> "percentile would have to go through all values",
      "median(x), approx_count_distinct(x)" -> "approx_count_distinct keeps objects",
      "max_by(s, id, 2)" -> "max_by keeps objects",
      "percentile_approx(DISTINCT x, 0.5)" -> "percentile_approx would give another approximation",
      "hll_sketch_estimate(hll_sketch_agg(x))" -> "hll_sketch_agg would give another approximation"
    )
  ) test(s"Spark keeps $call", Slow +: each(2): _*) {
    val single = if (call.startsWith("first")) s"$call = $call" else call
    checkLeft(s"SELECT $single FROM events WHERE id < 5 GROUP BY k, $w", why)
  }
}
