package io.sash.spark.streams.checkpoint

import scala.reflect.runtime.universe
import scala.util.hashing.MurmurHash3

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.streaming.OutputMode

import io.sash.spark.StreamSuite
import io.sash.spark.names.AllSashFunctions
import io.sash.spark.streams.task.StreamProcessor

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
      s"$ts" -> Seq(
        "windows: range from the first to the row",
        "answers: at once"
      ),
      s"$ts RANGE BETWEEN CURRENT ROW AND CURRENT ROW" -> Seq(
        "windows: range from the row to the row",
        "answers: at once"
      ),
      s"$ts RANGE INTERVAL 5 SECONDS PRECEDING" -> Seq(
        "windows: range from bound 0 to the row",
        "bounds of windows: (ts + -5000000 us)",
        "answers: at once"
      ),
      s"$ts RANGE BETWEEN INTERVAL 2 MONTHS PRECEDING AND INTERVAL 1 MONTH PRECEDING" -> Seq(
        "windows: range from bound 0 to bound 1",
        "bounds of windows: ts + (- INTERVAL '2' MONTH), ts + (- INTERVAL '1' MONTH)",
        "answers: at once"
      ),
      s"$ts RANGE BETWEEN CURRENT ROW AND INTERVAL 5 SECONDS FOLLOWING" -> Seq(
        "windows: range from the row to bound 0 ahead",
        "bounds of windows: (ts + 5000000 us)",
        "answers: 0 rows and 0 groups later"
      ),
      "PARTITION BY k, count_window(9) ORDER BY ts" -> Seq(
        "windows: rows from 8 before to the row",
        "answers: at once"
      ),
      "PARTITION BY k, time_window(INTERVAL 9 SECONDS) ORDER BY ts" -> Seq(
        "windows: range from bound 0 to the row",
        "bounds of windows: (ts + -9000000 us)",
        "answers: at once"
      ),
      "PARTITION BY k, gap_window(INTERVAL 9 SECONDS) ORDER BY ts" -> Seq(
        "windows: gap_window from the row to bound 0",
        "bounds of windows: (ts + 9000000L)",
        "answers: at once"
      ),
      "PARTITION BY k, gap_window(INTERVAL 1 MONTH) ORDER BY ts" -> Seq(
        "windows: gap_window from the row to bound 0",
        "bounds of windows: (ts + INTERVAL '1' MONTH)",
        "answers: at once"
      ),
      "PARTITION BY k, gap_window(INTERVAL 9 SECONDS, INTERVAL 60 SECONDS) ORDER BY ts" -> Seq(
        "windows: gap_window from bound 0 to bound 1",
        "bounds of windows: (ts - 60000000L), (ts + 9000000L)",
        "answers: at once"
      ),
      "PARTITION BY k, window_and(count_window(3), gap_window(INTERVAL 9 SECONDS)) ORDER BY ts" -> Seq(
        "windows: (rows from 2 before to the row and gap_window from the row to bound 0)",
        "bounds of windows: (ts + 9000000L)",
        "answers: at once"
      ),
      "PARTITION BY k, punctuation_window(x > 9) ORDER BY ts" -> Seq(
        "windows: punctuation_window at bound 0",
        "bounds of windows: (IF(((x > 9) <=> true), 1L, 0L))",
        "answers: at once"
      ),
      "PARTITION BY k, groups_window(3, 1) ORDER BY ts" -> Seq(
        "windows: groups from 3 before to 1 after",
        "answers: 0 rows and 1 groups later"
      ),
      "PARTITION BY k, delta_window(d, 2.5D) ORDER BY ts" -> Seq(
        "windows: delta_window 0",
        "conditions of windows: delta_window(d, 2.5D)",
        "answers: at once"
      ),
      "PARTITION BY k, predicate_window(sum(x), t -> t < 9) ORDER BY ts" -> Seq(
        "windows: predicate_window 0",
        "conditions of windows: predicate_window(sum(x), total -> lambdafunction((v0 < 9L), v0))",
        "answers: at once"
      ),
      "PARTITION BY k, count_window(9), window_slide(3) ORDER BY ts" -> Seq(
        "windows: rows from 8 before to the row at each row of 3",
        "answers: at once"
      ),
      "PARTITION BY k, window_slide(INTERVAL 7 SECONDS) ORDER BY ts ROWS 9 PRECEDING" -> Seq(
        "windows: rows from 9 before to the row at each pane of bound 0",
        "bounds of windows: pane_number(ts, 7000000, 0)",
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
          "aggregates: count(x) in window 0",
          "partials: recipe 1 (BIGINT)",
          "algorithms: two-stacks-lite"
        )
      ),
      (
        "sum(x)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: sum(x) in window 0",
          "partials: recipe 1 (BIGINT, BIGINT, BIGINT)",
          "algorithms: two-stacks-lite"
        )
      ),
      (
        "sum(x) FILTER (WHERE d > 2)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: sum(x) FILTER (WHERE (d > 2)) in window 0",
          "partials: recipe 1 (BIGINT, BIGINT, BIGINT)",
          "algorithms: two-stacks-lite"
        )
      ),
      (
        "avg(make_dt_interval(x))",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: avg(make_dt_interval(x, 0, 0, 0.000000BD)) in window 0",
          "partials: recipe 1 (BIGINT, BIGINT, BIGINT)",
          "algorithms: two-stacks-lite"
        )
      ),
      (
        "sum(d)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: sum(d) in window 0",
          "partials: recipe 1 (DOUBLE)",
          "algorithms: two-stacks-lite"
        )
      ),
      (
        "stddev(d)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: stddev_samp(d) in window 0",
          "partials: recipe 1 (DOUBLE, DOUBLE, DOUBLE)",
          "algorithms: two-stacks-lite"
        )
      ),
      (
        "max_by(s, d)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: max_by(s, d) in window 0",
          "partials: recipe 1 (STRING, DOUBLE)",
          "algorithms: two-stacks-lite"
        )
      ),
      (
        "first(x) IGNORE NULLS",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: first(x) IGNORE NULLS in window 0",
          "partials: recipe 1 (INT, BOOLEAN)",
          "algorithms: two-stacks-lite"
        )
      ),
      (
        "count(DISTINCT x)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: count(DISTINCT x) in window 0",
          "partials: recipe 1 (BOOLEAN, INT)",
          "algorithms: slickdeque-inv"
        )
      ),
      (
        "rank_in_frame(d)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: rank_in_frame(d) in window 0",
          "partials: recipe 1 (BOOLEAN, BIGINT)",
          "algorithms: slickdeque-inv"
        )
      ),
      (
        "sum(DISTINCT d)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: sum(DISTINCT d) in window 0",
          "partials: recipe 1 (BOOLEAN, DOUBLE)",
          "algorithms: slickdeque-inv"
        )
      ),
      (
        "median(x)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: percentile(x, 0.5D, 1L) in window 0",
          "partials: recipe 1 (BOOLEAN, BIGINT)",
          "algorithms: slickdeque-inv"
        )
      ),
      (
        "median(d)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: percentile(d, 0.5D, 1L) in window 0",
          "partials: recipe 1 (BOOLEAN, BIGINT)",
          "algorithms: slickdeque-inv"
        )
      ),
      (
        "percentile_disc(0.3) WITHIN GROUP (ORDER BY d DESC)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: percentile_disc(0.3BD) WITHIN GROUP (ORDER BY d DESC) in window 0",
          "partials: recipe 1 (BOOLEAN, BIGINT)",
          "algorithms: slickdeque-inv"
        )
      ),
      (
        "mode(s)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: mode(s) in window 0",
          "partials: recipe 1 (BOOLEAN, STRING)",
          "algorithms: slickdeque-inv"
        )
      ),
      (
        "collect_list(x)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: collect_list(x) in window 0",
          "partials: recipe 1 (BOOLEAN, INT)",
          "algorithms: recalculate"
        )
      ),
      (
        "collect_set(x)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: collect_set(x) in window 0",
          "partials: recipe 1 (BOOLEAN, INT)",
          "algorithms: slickdeque-inv"
        )
      ),
      (
        "approx_count_distinct(s)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: approx_count_distinct(s) in window 0",
          "partials: recipe 1 ((BIGINT, BIGINT, BIGINT, BIGINT, BIGINT, BIGINT, BIGINT, BIGINT, BIGINT, BIGINT,... ~f62237f408c15933)",
          "algorithms: two-stacks-lite"
        )
      ),
      (
        "arg_max(s, d)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: arg_max(s, d) in window 0",
          "partials: recipe 1 (STRING, DOUBLE)",
          "algorithms: two-stacks-lite"
        )
      ),
      (
        "m4(d, ts)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: m4(d, ts) in window 0",
          "partials: recipe 1 (TIMESTAMP, DOUBLE, TIMESTAMP, DOUBLE, TIMESTAMP, DOUBLE, TIMESTAMP, DOUBLE)",
          "algorithms: two-stacks-lite"
        )
      ),
      (
        "max_count(x)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: max_count(x) in window 0",
          "partials: recipe 1 (INT, BIGINT)",
          "algorithms: two-stacks-lite"
        )
      ),
      (
        "geometric_mean(d)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: geometric_mean(d) in window 0",
          "partials: recipe 1 (DOUBLE, BIGINT)",
          "algorithms: two-stacks-lite"
        )
      ),
      (
        "longest_increasing_run(d, ts)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: longest_increasing_run(d, ts) in window 0",
          "partials: recipe 1 (BIGINT, DOUBLE, DOUBLE, TIMESTAMP, TIMESTAMP, TIMESTAMP, BIGINT, TIMESTAMP, BIGINT, TIMESTAMP, TIMESTAMP, BIGINT)",
          "algorithms: two-stacks-lite"
        )
      ),
      (
        "coefficient_of_variation(d)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: coefficient_of_variation(d) in window 0",
          "partials: recipe 1 (DOUBLE, DOUBLE, DOUBLE)",
          "algorithms: two-stacks-lite"
        )
      ),
      (
        "value_range(d)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: value_range(d) in window 0",
          "partials: recipe 1 (DOUBLE, DOUBLE)",
          "algorithms: two-stacks-lite"
        )
      ),
      (
        "relative_variation(d)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: relative_variation(d) in window 0",
          "partials: recipe 1 (DOUBLE, DOUBLE)",
          "algorithms: two-stacks-lite"
        )
      ),
      (
        "monoid_agg(x, v -> v, (a, b) -> a + b)",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: monoid_agg(x, 1, _0, (_0 + _1), NULL, NULL, NULL) in window 0",
          "partials: recipe 1 (INT, BOOLEAN)",
          "algorithms: two-stacks-lite"
        )
      ),
      (
        "monoid_agg(array(x), v -> v, (a, b) -> zip_with(a, b, (p, q) -> p + q))",
        s"$ts ROWS 3 PRECEDING",
        Seq(
          "aggregates: monoid_agg(array(x), 1, _0, zip_with(_0, _1, lambdafunction((v0 + v1), v0, v1)), NULL, NULL, NULL) in window 0",
          "partials: recipe 1 (ARRAY<INT>, BOOLEAN)",
          "algorithms: two-stacks-lite"
        )
      ),
      (
        "max(d)",
        "PARTITION BY k, delta_window(d, 2.5D) ORDER BY ts",
        Seq(
          "aggregates: max(d) in window 0",
          "partials: recipe 1 (DOUBLE), recipe 1 (DOUBLE, BOOLEAN), recipe 1 (DOUBLE, BOOLEAN)",
          "algorithms: two-stacks-lite"
        )
      ),
      (
        "median(x)",
        "PARTITION BY k, delta_window(d, 2.5D) ORDER BY ts",
        Seq(
          "aggregates: percentile(x, 0.5D, 1L) in window 0",
          "partials: recipe 1 (ARRAY<(BIGINT)>), recipe 1 (DOUBLE, BOOLEAN), recipe 1 (DOUBLE, BOOLEAN)",
          "algorithms: two-stacks-lite"
        )
      )
    )
  ) test(s"the monoid of $call OVER ($over)") {
    val text = textOf(s"SELECT id, $call OVER ($over) AS a FROM events")
    assert(parts(text, "aggregates", "partials", "algorithms") == said)
  }

  test("another order") {
    val texts = Seq("ts", "ts, id", "ts, id DESC").map { by =>
      textOf(
        s"SELECT id, sum(x) OVER (PARTITION BY k ORDER BY $by ROWS 3 PRECEDING) AS a FROM events"
      )
    }
    assert(texts.distinct.length == texts.length)
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
        "hops: 20000000 us every 5000000 us from -25000000 us of precisetimestampconversion(ts)",
        "group by: k",
        "aggregates: sum(x)",
        "columns: INT, INT, BIGINT, TIMESTAMP, INT",
        "partials: recipe 1 (BIGINT, BIGINT, BIGINT), recipe 1 (BIGINT)",
        "answered: in append mode",
        "buckets: 8"
      )
    )
  }

  test("the columns of hop windows do not depend on their order in the source") {
    val texts = Seq("k, ts, x, s, d", "d, s, x, ts, k").map { columns =>
      textOf(
        s"SELECT k, window, sum(x), max(s), min(d) FROM (SELECT $columns FROM events) " +
          "GROUP BY k, window(ts, '20 seconds', '5 seconds')"
      )
    }
    assert(texts.distinct.length == 1, texts)
  }

  private val plus = "v -> v, (a, b) -> a + b"

  /** Calls of one function, and whether a state goes on from the first with the second. */
  private val pairs: Seq[(String, String, Boolean)] = Seq(
    ("avg(x)", "mean(x)", true),
    ("stddev(x)", "stddev_samp(x)", true),
    ("std(x)", "stddev(x)", true),
    ("variance(x)", "var_samp(x)", true),
    ("first(x)", "first_value(x)", true),
    ("last(x)", "last_value(x)", true),
    ("every(x > 1)", "bool_and(x > 1)", true),
    ("some(x > 1)", "any(x > 1)", true),
    ("array_agg(x)", "collect_list(x)", true),
    ("approx_percentile(x, 0.5)", "percentile_approx(x, 0.5)", true),
    ("sum(x)", "try_sum(x)", true),
    ("sum(x)", "SUM(X)", true),
    ("sum(pow(x, 2))", "sum(power(x, 2))", true),
    ("sum(nvl(x, 0))", "sum(nvl(X, 0))", true),
    ("sum(e.x)", "sum(x)", true),
    ("sum(x)", "sum(CAST(x AS INT))", true),
    ("median(x)", "percentile(x, 0.5)", false),
    (s"monoid_agg(x, $plus)", s"monoid_agg(x, $plus, s -> s * 2)", true),
    (s"monoid_agg(x, $plus)", "monoid_agg(x, w -> w, (p, q) -> p + q)", true),
    (s"monoid_agg(x, $plus)", "monoid_agg(x, v -> v, (a, b) -> b + a)", false),
    (s"monoid_agg(x, $plus)", "monoid_agg(x, v -> v + 1, (a, b) -> a + b)", false),
    (s"monoid_agg(x, $plus)", s"monoid_agg(x, $plus, s -> s, 0)", false),
    (s"monoid_agg(x, $plus, s -> s, 0)", s"monoid_agg(x, $plus, s -> s, 1)", false),
    (
      s"monoid_agg(x, $plus, s -> s, 0)",
      s"monoid_agg(x, $plus, s -> s, 0, (a, b) -> a - b)",
      false
    ),
    (
      "monoid_agg(array(x), v -> v, (a, b) -> zip_with(a, b, (p, q) -> p - q))",
      "monoid_agg(array(x), v -> v, (a, b) -> zip_with(a, b, (p, q) -> q - p))",
      false
    ),
    ("stddev(x)", "variance(x)", false),
    ("sum(x)", "sum(x + 1)", false),
    ("sum(x)", "sum(CAST(x AS BIGINT))", false),
    ("sum(x)", "sum(DISTINCT x)", false),
    ("sum(x)", "sum(x) FILTER (WHERE d > 2)", false),
    ("sum(nvl(x, 0))", "sum(nvl(x, 1))", false),
    ("max_by(s, d)", "max_by(d, s)", false),
    ("first(x)", "first(x) IGNORE NULLS", false),
    ("last(x)", "last(x) IGNORE NULLS", false),
    ("any_value(x)", "any_value(x) IGNORE NULLS", false),
    ("collect_list(x)", "collect_list(x) RESPECT NULLS", false),
    ("approx_count_distinct(x)", "approx_count_distinct(x, 0.1)", false),
    (
      "percentile_cont(0.3) WITHIN GROUP (ORDER BY d)",
      "percentile_cont(0.3) WITHIN GROUP (ORDER BY d DESC)",
      false
    ),
    (
      "percentile_disc(0.3) WITHIN GROUP (ORDER BY d)",
      "percentile_disc(0.3) WITHIN GROUP (ORDER BY d DESC)",
      false
    ),
    ("mode() WITHIN GROUP (ORDER BY x)", "mode() WITHIN GROUP (ORDER BY x DESC)", false),
    ("listagg(s, ',')", "listagg(s, ';')", false),
    ("lag(x, 1)", "lag(x, 2)", false),
    ("lag(x, 1)", "lag(x, 1, 7)", false),
    ("row_number()", "rank()", false),
    ("rank()", "dense_rank()", false)
  )

  private def called(call: String): String = {
    val ofRank = Seq("lag(", "rank(", "dense_rank(", "row_number(").exists(call.startsWith)
    val over = if (ofRank) ts else s"$ts ROWS 3 PRECEDING"
    textOf(s"SELECT id, $call OVER ($over) AS a FROM events e")
  }

  for ((before, after, goesOn) <- pairs)
    test(s"from $before to $after ${if (goesOn) "goes on" else "is refused"}") {
      assert((called(before) == called(after)) == goesOn, called(after))
    }

  /** Arguments of Spark's aggregates that are in their SQL, or in the number of cells. */
  private val told =
    Set("ignoreNulls", "relativeSD", "reverse", "children", "kExpr", "orderExpressions")

  /** Arguments that no partial depends on: settings, and an argument of an unused function. */
  private val untold = Set("evalContext", "evalMode", "nullOnDivideByZero", "groupByExprs")

  test("a description has each argument of an aggregate that partials depend on") {
    val registry = spark.sessionState.functionRegistry
    val infos = registry.listFunction().flatMap(registry.lookupFunction)
    val classes = infos.filter(_.getGroup == "agg_funcs").map(i => Class.forName(i.getClassName))
    assert(classes.length > 60, "vacuous")
    val found = classes
      .filter(classOf[Expression].isAssignableFrom(_))
      .flatMap(valuesOf)
      .filterNot(_.endsWith("AggBufferOffset"))
      .toSet
    assert(told.subsetOf(found), found)
    assert((found -- told -- untold).isEmpty)
  }

  private val Expressions = universe.typeOf[Expression]

  /** The parameters of a case class that are values. */
  private def valuesOf(c: Class[_]): Seq[String] = {
    val parameters = universe
      .runtimeMirror(c.getClassLoader)
      .classSymbol(c)
      .primaryConstructor
      .asMethod
      .paramLists
      .flatten
    parameters.filterNot(p => p.typeSignature <:< Expressions).map(_.name.toString)
  }

  test("recipes: raise `recipe` of a monoid where the meaning of its cells changes") {
    val now = StateTextSuite.Recipes.map { case (call, _) => call -> recipeOf(call) }
    assert(now == StateTextSuite.Recipes, now.mkString("\n", "\n", "\n"))
  }

  test("each of Sash's aggregates has a recipe here") {
    val called = StateTextSuite.Recipes.map { case (call, _) => call.takeWhile(_ != '(') }
    assert(AllSashFunctions.All.map(_.name).diff(called) == Nil)
  }

  /** The recipe of a call, and a hash of the expressions that compute its cells. */
  private def recipeOf(call: String): String = {
    val rows = "(SELECT id, k, CAST(x AS INT) vi, d, ts, x > 1 AS vb FROM events)"
    val query = s"SELECT id, $call OVER ($ts ROWS 3 PRECEDING) AS a FROM $rows"
    val program = streaming()(processorOf(sql(query)(_), OutputMode.Append())) match {
      case p: StreamProcessor => p.program
    }
    val slots = program.trees.head.slots
    val cells = Seq("left" -> slots.columns, "right" -> slots.right).flatMap { case (side, of) =>
      of.zipWithIndex.map { case (c, i) => c.exprId -> c.withName(s"$side$i") }
    }.toMap
    val computed = slots.parts.flatMap(p => p.identity ++ p.lift ++ p.combine).map {
      _.transform { case a: Attribute => cells.getOrElse(a.exprId, a) }.toString
        .replaceAll("#\\d+L?|io\\.sash\\.(\\w+\\.)+", "") // neither ids nor packages
    }
    f"${program.trees.head.signature.takeWhile(_ != '(')}${MurmurHash3.orderedHash(computed)}%x"
  }
}

private object StateTextSuite {

  /** Aggregates of Sash's, and of Spark's whose partials Sash computes in a way of its own. */
  private val Recipes: Seq[(String, String)] = Seq(
    "geometric_mean(vi)" -> "recipe 1 dbd47450",
    "product(vi)" -> "recipe 1 2e4abcb0",
    "max_count(vi)" -> "recipe 1 53159010",
    "min_count(vi)" -> "recipe 1 94aa54ed",
    "arg_max(id, vi)" -> "recipe 1 9bf30f50",
    "arg_min(id, vi)" -> "recipe 1 6bf86997",
    "value_range(vi)" -> "recipe 1 dcbb4034",
    "relative_variation(vi)" -> "recipe 1 d40b7307",
    "coefficient_of_variation(vi)" -> "recipe 1 f89d97f2",
    "m4(vi, id)" -> "recipe 1 329f7d93",
    "longest_increasing_run(vi, id)" -> "recipe 1 e79089a8",
    "counter_increase(vi)" -> "recipe 1 58d76980",
    "counter_rate(vi, id)" -> "recipe 1 921d5521",
    "cusum(vi)" -> "recipe 1 e1ef19c0",
    "funnel(vb, vi = 1, vb)" -> "recipe 1 150f5df",
    "ewm_mean(vi, id, 2)" -> "recipe 1 4d55103e",
    "ewm_mean_by_rows(vi, 0.5)" -> "recipe 1 7f978509",
    "ema(vi, id, 2)" -> "recipe 1 98a0347d",
    "decayed_sum(vi, id, 2)" -> "recipe 1 75e5b01b",
    "decayed_count(id, 2)" -> "recipe 1 57e21c6b",
    "time_weighted_avg(vi, id)" -> "recipe 1 47f46745",
    "linear_weighted_avg(vi, id, 2)" -> "recipe 1 46925ece",
    "linear_weighted_sum(vi, id, 2)" -> "recipe 1 c4d545da",
    "time_weighted_avg(vi, id, vi, 2)" -> "recipe 2 ccc41c14",
    "first_n(vi, 2)" -> "recipe 1 cea1e8ae",
    "last_n(vi, 2)" -> "recipe 1 521e0795",
    "last_distinct_n(vi, 2)" -> "recipe 1 da538466",
    "max_n(vi, 2)" -> "recipe 1 195796d1",
    "min_n(vi, 2)" -> "recipe 1 d3051824",
    "max_n_by(id, vi, 2)" -> "recipe 1 8af8b830",
    "min_n_by(id, vi, 2)" -> "recipe 1 5975a53d",
    "value_counts(vi)" -> "recipe 1 7fc77596",
    "top_counts(vi, 2)" -> "recipe 1 7fc77596",
    "entropy(vi)" -> "recipe 1 7fc77596",
    "mode_share(vi)" -> "recipe 1 7fc77596",
    "rank_in_frame(vi)" -> "recipe 1 7930f71a",
    "dense_rank_in_frame(vi)" -> "recipe 1 7930f71a",
    "percent_rank_in_frame(vi)" -> "recipe 1 7930f71a",
    "cume_dist_in_frame(vi)" -> "recipe 1 7930f71a",
    "monoid_agg(vi, x -> x, (a, b) -> a + b, a -> a, 0, (a, b) -> a - b, NULL)" -> "recipe 1 3bad37a6",
    "sum(vi)" -> "recipe 1 d648e1ee",
    "avg(ts - timestamp_seconds(0))" -> "recipe 1 d9deb690",
    "stddev(d)" -> "recipe 1 95caeff0",
    "corr(d, vi)" -> "recipe 1 dcf85d24",
    "sum(DISTINCT d)" -> "recipe 1 ac69514e",
    "median(d)" -> "recipe 1 5a59c685",
    "mode(vi)" -> "recipe 1 7fc77596",
    "approx_count_distinct(vi)" -> "recipe 1 67512695"
  )
}
