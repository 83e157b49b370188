package io.sash.spark.streams

import java.io.File
import java.lang.reflect.Modifier

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.streaming.OutputMode

import io.sash.spark.base.{Described, SashConf}
import io.sash.spark.kinds.WindowKind
import io.sash.spark.monoids.WindowAggregate

/**
 * The description of a state, in literal texts. A checkpoint has the text, so a text that changes
 * here refuses the checkpoints of earlier versions.
 */
class StateTextSuite extends StreamSuite {

  private val ts = "PARTITION BY k ORDER BY ts"

  private def textOf(query: String, mode: OutputMode = OutputMode.Append()): String =
    streaming()(textOf(sql(query)(_), mode))

  private def parts(text: String, names: String*): Seq[String] =
    text.linesIterator.filter(l => names.contains(l.take(l.indexOf(": ")))).toSeq

  for (
    (over, said) <- Seq[(String, Seq[String])](
      s"$ts ROWS 3 PRECEDING" -> Seq(
        "windows: rows from 3 before to the row",
        "answers: at once"
      ),
      s"$ts ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING" -> Seq(
        "windows: rows from the first to 2 before",
        "answers: at once"
      ),
      s"$ts ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING" -> Seq(
        "windows: rows from 1 before to 2 after",
        "answers: 2 rows and 0 groups later"
      ),
      s"$ts" -> Seq("windows: range from the first to the row", "answers: at once"),
      s"$ts RANGE BETWEEN CURRENT ROW AND CURRENT ROW" -> Seq(
        "windows: peers",
        "answers: at once"
      ),
      s"$ts RANGE INTERVAL 5 SECONDS PRECEDING" -> Seq(
        "windows: range from bound 0 to the row",
        "bounds of windows: (ts + -5000000 us) with TIMESTAMP",
        "answers: at once"
      ),
      s"$ts RANGE BETWEEN INTERVAL 2 MONTHS PRECEDING AND INTERVAL 1 MONTH PRECEDING" -> Seq(
        "windows: range from bound 0 to bound 1",
        "bounds of windows: ts + (- INTERVAL '2' MONTH) with TIMESTAMP, ts + (- INTERVAL '1' MONTH) with TIMESTAMP",
        "answers: at once"
      ),
      s"$ts RANGE BETWEEN CURRENT ROW AND INTERVAL 5 SECONDS FOLLOWING" -> Seq(
        "windows: range from bound 0 to bound 1 ahead",
        "bounds of windows: ts with TIMESTAMP, (ts + 5000000 us) with TIMESTAMP",
        "answers: 0 rows and 0 groups later"
      ),
      s"PARTITION BY k, count_window(9) ORDER BY ts" -> Seq(
        "windows: rows from 8 before to the row",
        "answers: at once"
      ),
      s"PARTITION BY k, time_window(INTERVAL 9 SECONDS) ORDER BY ts" -> Seq(
        "windows: range from bound 0 to the row",
        "bounds of windows: (ts + -9000000 us) with TIMESTAMP",
        "answers: at once"
      ),
      s"PARTITION BY k, gap_window(INTERVAL 9 SECONDS) ORDER BY ts" -> Seq(
        "windows: session until bound 0",
        "bounds of windows: (ts + 9000000L) with strict with TIMESTAMP",
        "answers: at once"
      ),
      s"PARTITION BY k, gap_window(INTERVAL 1 MONTH) ORDER BY ts" -> Seq(
        "windows: session until bound 0",
        "bounds of windows: (ts + INTERVAL '1' MONTH) with strict with TIMESTAMP",
        "answers: at once"
      ),
      s"PARTITION BY k, gap_window(INTERVAL 9 SECONDS, INTERVAL 60 SECONDS) ORDER BY ts" -> Seq(
        "windows: session until bound 0 from bound 1",
        "bounds of windows: (ts + 9000000L) with strict with TIMESTAMP, " +
          "(ts - 60000000L) with strict with TIMESTAMP",
        "answers: at once"
      ),
      s"PARTITION BY k, window_and(count_window(3), gap_window(INTERVAL 9 SECONDS)) ORDER BY ts" ->
        Seq(
          "windows: (rows from 2 before to the row and session until bound 0)",
          "bounds of windows: (ts + 9000000L) with strict with TIMESTAMP",
          "answers: at once"
        ),
      s"PARTITION BY k, punctuation_window(x > 9) ORDER BY ts" -> Seq(
        "windows: punctuation at bound 0",
        "bounds of windows: (IF(((x > 9) with INT <=> true), 1L, 0L)) with BOOLEAN",
        "answers: at once"
      ),
      s"PARTITION BY k, groups_window(3, 1) ORDER BY ts" -> Seq(
        "windows: groups from 3 before to 1 after",
        "answers: 0 rows and 1 groups later"
      ),
      s"PARTITION BY k, delta_window(d, 2.5D) ORDER BY ts" -> Seq(
        "windows: condition 0",
        "conditions of windows: delta_window(d, 2.5D) with DOUBLE",
        "answers: at once"
      ),
      s"PARTITION BY k, predicate_window(sum(x), t -> t < 9) ORDER BY ts" -> Seq(
        "windows: condition 0",
        "conditions of windows: predicate_window(sum(x), total -> (total < 9L)) with INT",
        "answers: at once"
      ),
      s"PARTITION BY k, count_window(9), window_slide(3) ORDER BY ts" -> Seq(
        "windows: rows from 8 before to the row at each row of 3",
        "answers: at once"
      ),
      s"PARTITION BY k, window_slide(INTERVAL 7 SECONDS) ORDER BY ts ROWS 9 PRECEDING" -> Seq(
        "windows: rows from 9 before to the row at each pane of bound 0",
        "bounds of windows: (precisetimestampconversion(ts) - pmod(precisetimestampconversion(ts), 7000000L)) with fromType TIMESTAMP with toType BIGINT with TIMESTAMP with fromType TIMESTAMP with toType BIGINT with TIMESTAMP",
        "answers: at once"
      )
    )
  ) test(s"the window of max(x) OVER ($over)") {
    val text = textOf(s"SELECT id, max(x) OVER ($over) AS a FROM events")
    val names = Seq("windows", "bounds of windows", "conditions of windows", "answers")
    val now = parts(text, names: _*).filterNot(_.endsWith(": "))
    assert(now == said)
  }

  for (
    (call, over, said) <- Seq[(String, String, Seq[String])](
      (
        "count(x)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: count(x) with INT in window 0",
          "algorithms: two-stacks-lite",
          "definitions: af08b5abdf5271fc"
        )
      ),
      (
        "sum(x)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: sum(x) with INT in window 0",
          "algorithms: two-stacks-lite",
          "definitions: a0f456d866f9c57"
        )
      ),
      (
        "sum(x) FILTER (WHERE d > 2)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: sum(x) FILTER (WHERE (d > CAST(2 AS DOUBLE)) with DOUBLE) with INT with BOOLEAN in window 0",
          "algorithms: two-stacks-lite",
          "definitions: 23c57df1de7a917d"
        )
      ),
      (
        "avg(make_dt_interval(x))",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: avg(make_dt_interval(x, 0, 0, 0.000000BD) with INT) with INTERVAL DAY TO SECOND in window 0",
          "algorithms: two-stacks-lite",
          "definitions: adf25c50e604afc8"
        )
      ),
      (
        "sum(d)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: sum(d) with DOUBLE in window 0",
          "algorithms: two-stacks-lite",
          "definitions: 893551f9e16faa67"
        )
      ),
      (
        "stddev(d)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: stddev(d) with nullOnDivideByZero true with DOUBLE in window 0",
          "algorithms: two-stacks-lite",
          "definitions: d8e318fc1be7e3fd"
        )
      ),
      (
        "max_by(s, d)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: max_by(s, d) with STRING with DOUBLE in window 0",
          "algorithms: two-stacks-lite",
          "definitions: a477d96594199bca"
        )
      ),
      (
        "first(x) IGNORE NULLS",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: first(x) with ignoreNulls true with INT in window 0",
          "algorithms: two-stacks-lite",
          "definitions: e6bdac09823ac8e8"
        )
      ),
      (
        "count(DISTINCT x)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: count(DISTINCT x) with INT in window 0",
          "algorithms: slickdeque-inv",
          "definitions: 35fa54aa587f981d"
        )
      ),
      (
        "rank_in_frame(d)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: rank_in_frame(d) with DOUBLE in window 0",
          "algorithms: slickdeque-inv",
          "definitions: cf851eba5acc3e89"
        )
      ),
      (
        "sum(DISTINCT d)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: sum(DISTINCT d) with DOUBLE in window 0",
          "algorithms: slickdeque-inv",
          "definitions: a2259b3f62d0a8a9"
        )
      ),
      (
        "median(x)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: percentile(x, 0.5D, 1L) with INT in window 0",
          "algorithms: slickdeque-inv",
          "definitions: 3741535fd252d794"
        )
      ),
      (
        "median(d)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: percentile(d, 0.5D, 1L) with DOUBLE in window 0",
          "algorithms: slickdeque-inv",
          "definitions: cef1220ec4c1073"
        )
      ),
      (
        "percentile_disc(0.3) WITHIN GROUP (ORDER BY d DESC)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: percentile_disc(CAST(0.3BD AS DOUBLE)) WITHIN GROUP (ORDER BY d DESC) with reverse true with DOUBLE in window 0",
          "algorithms: slickdeque-inv",
          "definitions: cef1220ec4c1073"
        )
      ),
      (
        "mode(s)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: mode(s) with STRING in window 0",
          "algorithms: slickdeque-inv",
          "definitions: b5107a93dd08588c"
        )
      ),
      (
        "collect_list(x)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: collect_list(x) with ignoreNulls true with INT in window 0",
          "algorithms: recalculate",
          "definitions: 35fa54aa587f981d"
        )
      ),
      (
        "collect_set(x)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: collect_set(x) with ignoreNulls true with INT in window 0",
          "algorithms: slickdeque-inv",
          "definitions: 35fa54aa587f981d"
        )
      ),
      (
        "approx_count_distinct(s)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: approx_count_distinct(s) with relativeSD 0.05 with STRING in window 0",
          "algorithms: two-stacks-lite",
          "definitions: e45e59231d73629f"
        )
      ),
      (
        "arg_max(s, d)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: arg_max(s, d) with STRING with DOUBLE in window 0",
          "algorithms: two-stacks-lite",
          "definitions: d31a59b4cf52bfd8"
        )
      ),
      (
        "m4(ts, d)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: m4(ts, d) with TIMESTAMP with DOUBLE in window 0",
          "algorithms: two-stacks-lite",
          "definitions: 89d6b75a27c15806"
        )
      ),
      (
        "max_count(x)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: max_count(x) with INT in window 0",
          "algorithms: two-stacks-lite",
          "definitions: 5ba41e70b09fdf8"
        )
      ),
      (
        "geometric_mean(d)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: geometric_mean(d) with DOUBLE in window 0",
          "algorithms: two-stacks-lite",
          "definitions: cd601f4805da9206"
        )
      ),
      (
        "longest_increasing_run(ts, d)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: longest_increasing_run(ts, d) with TIMESTAMP with DOUBLE in window 0",
          "algorithms: two-stacks-lite",
          "definitions: 4dbce5c8404b5d9b"
        )
      ),
      (
        "coefficient_of_variation(d)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: coefficient_of_variation(d) with DOUBLE in window 0",
          "algorithms: two-stacks-lite",
          "definitions: d8e318fc1be7e3fd"
        )
      ),
      (
        "value_range(d)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: value_range(d) with DOUBLE in window 0",
          "algorithms: two-stacks-lite",
          "definitions: a52d1fd96bb1636b"
        )
      ),
      (
        "relative_variation(d)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: relative_variation(d) with DOUBLE in window 0",
          "algorithms: two-stacks-lite",
          "definitions: a52d1fd96bb1636b"
        )
      ),
      (
        "monoid_agg(x, v -> v, (a, b) -> a + b)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: monoid_agg(x) with 1 required with INT in window 0",
          "algorithms: two-stacks-lite",
          "definitions: 8011b73e490ce82e"
        )
      ),
      (
        "monoid_agg(array(x), v -> v, (a, b) -> zip_with(a, b, (p, q) -> p + q))",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: monoid_agg(array(x) with INT) with 1 required with ARRAY<INT> in window 0",
          "algorithms: two-stacks-lite",
          "definitions: e15f0cfbe13a8329"
        )
      ),
      (
        "max(d)",
        s"PARTITION BY k, delta_window(d, 2.5D) ORDER BY ts",
        Seq(
          "aggregates: max(d) with DOUBLE in window 0",
          "algorithms: two-stacks-lite",
          "definitions: 6ae338fc4cf1f40"
        )
      ),
      (
        "median(x)",
        s"PARTITION BY k, delta_window(d, 2.5D) ORDER BY ts",
        Seq(
          "aggregates: percentile(x, 0.5D, 1L) with INT in window 0",
          "algorithms: two-stacks-lite",
          "definitions: 5355cf8cba71b265"
        )
      )
    )
  ) test(s"the monoid of $call OVER ($over)") {
    val text = textOf(s"SELECT id, $call OVER ($over) AS a FROM events")
    val now = parts(text, "aggregates", "algorithms", "definitions")
    assert(now == said)
  }

  for (
    (mode, said) <- Seq(
      OutputMode.Append() -> "answered: in append mode",
      OutputMode.Update() -> "answered: in update mode"
    )
  ) test(said) {
    val text = textOf(s"SELECT id, max(x) OVER ($ts) AS a FROM events", mode)
    assert(parts(text, "answered") == Seq(said))
  }

  test("hop windows") {
    val text = textOf(
      "SELECT k, window, sum(x) FROM events GROUP BY k, window(ts, '20 seconds', '5 seconds')"
    )
    assert(
      text.linesIterator.toSeq == Seq(
        "hops: 20000000 us every 5000000 us from -25000000 us of precisetimestampconversion(ts) with fromType TIMESTAMP with toType BIGINT with TIMESTAMP",
        "group by: k with INT",
        "aggregates: sum(x) with INT",
        "arguments: ",
        "rows: source 0",
        "definitions: 81b83d3a2f0e23c0",
        "columns: INT, INT, BIGINT, TIMESTAMP, INT",
        "answered: in append mode",
        "buckets: 8",
        "columns of sources: k INT, ts TIMESTAMP, x INT"
      )
    )
  }

  test("lambdas with other higher-order functions") {
    val texts = Seq("p + q", "p * q").map { body =>
      val call = s"monoid_agg(array(x), v -> v, (a, b) -> zip_with(a, b, (p, q) -> $body))"
      textOf(s"SELECT id, $call OVER ($ts) AS a FROM events")
    }
    assert(texts.head != texts.last)
  }

  /** Expressions that are described by their children, or that no state depends on. */
  private def needsNone(c: Class[_]): Boolean =
    classOf[WindowKind].isAssignableFrom(c) || classOf[WindowAggregate[_]].isAssignableFrom(c) ||
      Set(
        "AnswerOfPanes",
        "InputRow",
        "ManyHops",
        "MightHaveLabel",
        "MonoidCall",
        "OwnWatermark",
        "PanePartial",
        "PartOfTime",
        "PendingKind",
        "WindowFilter",
        "WindowOfPanes",
        "WindowsOf"
      )(c.getSimpleName)

  test("each expression has words of its own") {
    val classes = new File(SashConf.getClass.getProtectionDomain.getCodeSource.getLocation.toURI)
    def found(in: File): Seq[File] =
      in.listFiles.toSeq.flatMap(f => if (f.isDirectory) found(f) else Seq(f))
    val expressions = found(classes)
      .map(f => classes.toPath.relativize(f.toPath).toString)
      .filter(_.endsWith(".class"))
      .map(f =>
        Class.forName(f.stripSuffix(".class").replace('/', '.'), false, getClass.getClassLoader)
      )
      .filter(c =>
        classOf[Expression].isAssignableFrom(c) && !Modifier.isAbstract(c.getModifiers)
      )
    assert(expressions.length > 20, "vacuous")
    val without = expressions.filterNot { c =>
      classOf[Described].isAssignableFrom(c) || needsNone(c)
    }
    assert(without.isEmpty)
  }
}
