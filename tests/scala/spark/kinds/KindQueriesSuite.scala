package io.sash.spark.kinds

import io.sash.spark.{ErrorCondition, SashSuite}

/** Kinds of windows among the other clauses of a query, and aggregates of every make in them. */
class KindQueriesSuite extends SashSuite {
  import KindQueriesSuite._

  private def create(): Unit = spark
    .sql(
      "SELECT id, CAST(id % 3 AS INT) k, CAST(id % 5 AS INT) vi, CAST(id % 4 AS INT) vh, " +
        "id % 2 = 0 vb FROM range(12)"
    )
    .createOrReplaceTempView("queried")

  private def inEachMode(body: => Unit): Unit = for (mode <- Seq("CODEGEN_ONLY", "NO_CODEGEN"))
    withClue(s"$mode\n")(
      withSettings(
        "spark.sql.codegen.factoryMode" -> mode,
        "spark.sql.codegen.wholeStage" -> (mode == "CODEGEN_ONLY").toString
      )(body)
    )

  /** The second column by the first one. */
  private def answers(query: String): Seq[Any] = withClue(s"$query\n") {
    val frame = spark.sql(query)
    val rows = frame.collect().sortBy(_.getAs[Number](0).longValue).map(_.get(1)).toSeq
    assert(sliding(frame).nonEmpty, "vacuous: no operator of Sash ran")
    rows
  }

  test("time windows that another kind joins, over numbers of each type") {
    val kinds = Seq(
      "window_and(time_window(1), count_window(9))" -> Seq(1L, 2L, 2L, 2L),
      "window_or(time_window(1), count_window(3))" -> Seq(1L, 2L, 3L, 3L)
    )
    val types = Seq("TINYINT", "SMALLINT", "BIGINT", "DOUBLE", "DECIMAL(5, 1)")
    val counts =
      for (of <- types; (kind, _) <- kinds)
        yield s"count(*) OVER (PARTITION BY $kind ORDER BY CAST(id AS $of))"
    val expected = (0 until 4).map(i => types.flatMap(_ => kinds.map(_._2(i))))
    inEachMode {
      assert(
        answers(counts.mkString("SELECT id, array(", ", ", ") FROM range(4)")) == expected
      )
    }
  }

  test("predicates over aggregates of every make") {
    create()
    val columns = Predicates.map { case (predicate, _) =>
      s"count(*) OVER (PARTITION BY k, predicate_window($predicate) ORDER BY id)"
    }
    inEachMode {
      val frame = spark.sql(columns.mkString("SELECT id, ", ", ", " FROM queried"))
      val rows = frame.collect().sortBy(_.getLong(0))
      assert(sliding(frame).nonEmpty, "vacuous: no operator of Sash ran")
      for (((predicate, expected), i) <- Predicates.zipWithIndex)
        withClue(predicate)(assert(rows.map(_.getLong(i + 1)).toSeq == expected))
    }
  }

  test("a predicate whose aggregate waits for a cast, beside other clauses") {
    create()
    val over =
      "OVER (PARTITION BY k, predicate_window(percentile(vi, 0.5), m -> m >= 0) ORDER BY id)"
    val expected = (1L to 4L).flatMap(n => Seq(n, n, n))
    for (
      query <- Seq(
        s"SELECT id, count(*) $over FROM queried ORDER BY id",
        s"SELECT DISTINCT id, count(*) $over FROM queried",
        s"SELECT id, count(*) OVER w FROM queried WINDOW w AS ${over.drop(5)}",
        s"SELECT id, c FROM (SELECT *, count(*) $over c FROM queried)",
        s"SELECT min(id), max(c) FROM (SELECT *, count(*) $over c FROM queried) GROUP BY id"
      )
    ) assert(answers(query) == expected)
    // an aggregation that is meant
    val condition = ErrorCondition.of(
      intercept[Exception](
        spark.sql(s"SELECT id, sum(vi), count(*) $over FROM queried").collect()
      )
    )
    assert(condition == "MISSING_GROUP_BY")
  }

  for (condition <- Seq("false", "id IS NULL", "CAST(NULL AS BOOLEAN)", "true", "vb"))
    test(s"FILTER (WHERE $condition)", each(2): _*) {
      create()
      // the same of a condition that is not folded
      val same = condition match {
        case "true" => "id >= 0"
        case "vb"   => "id % 2 = 0"
        case _      => "id < 0"
      }
      val calls = Seq("sum(vi)", "count(DISTINCT vi)", "max_count(vi)")
      def columns(filter: String) =
        for (over <- Frames; c <- calls) yield s"$c FILTER (WHERE $filter) OVER ($over)"
      val all = columns(condition) ++ columns(same)
      inEachMode {
        val frame = spark.sql(all.mkString("SELECT ", ", ", " FROM queried"))
        val rows = frame.collect().toSeq
        assert(sliding(frame).nonEmpty, "vacuous: no operator of Sash ran")
        for (i <- columns(condition).indices; row <- rows)
          withClue(all(i))(assert(row.get(i) == row.get(i + all.length / 2)))
        if (condition == "false")
          for ((over, i) <- Frames.zipWithIndex if !over.contains("slide"); row <- rows)
            withClue(over) {
              assert(
                row.toSeq
                  .slice(i * calls.length, (i + 1) * calls.length) == Seq[Any](null, 0L, 0L)
              )
            }
      }
    }

  test("frames that Spark runs have an answer for a FILTER that is folded, too") {
    create()
    for (over <- Seq("PARTITION BY k", "PARTITION BY k ORDER BY id", "ORDER BY id")) {
      val query =
        s"SELECT sum(vi) FILTER (WHERE false) OVER ($over), count(*) FILTER (WHERE 1 > 2) OVER ($over) FROM queried"
      assert(spark.sql(query).collect().forall(r => r.isNullAt(0) && r.getLong(1) == 0L), query)
    }
    val off = "SELECT sum(vi) FILTER (WHERE vb) OVER (PARTITION BY k ORDER BY id) FROM queried"
    val plan = spark.sql(off).queryExecution.executedPlan
    assert(!plan.exists(_.expressions.exists(_.exists(_.getClass.getName.contains("sash")))))
  }

  for ((query, expected) <- Grouped) test(s"over groups: $query", each(2): _*) {
    create()
    inEachMode(assert(answers(query) == expected))
  }

  for ((query, condition, text) <- Refused) test(s"refused: $query") {
    create()
    val error = intercept[Exception](spark.sql(query).collect())
    assert(ErrorCondition.of(error) == condition, error)
    assert(error.getMessage.contains(text), error)
  }
}

object KindQueriesSuite {
  private val Frames = Seq(
    "PARTITION BY k, delta_window(vi, 1) ORDER BY id",
    "PARTITION BY k, groups_window(1) ORDER BY id",
    "PARTITION BY k, range_window(vi) ORDER BY id",
    "PARTITION BY k, predicate_window(sum(vi), s -> s < 5) ORDER BY id",
    "PARTITION BY k, window_exclude('ties') ORDER BY id ROWS 2 PRECEDING",
    "PARTITION BY k, window_slide(2) ORDER BY id ROWS 2 PRECEDING",
    "PARTITION BY k ORDER BY id ROWS 2 PRECEDING",
    "PARTITION BY k ORDER BY id RANGE BETWEEN 3 PRECEDING AND 3 FOLLOWING"
  )

  private val Growing = (1L to 4L).flatMap(n => Seq(n, n, n))

  /** By id: the rows of k = 0 are 0, 3, 6, 9, with vi 0, 3, 1, 4 and vh 0, 3, 2, 1. */
  private val Predicates: Seq[(String, Seq[Long])] = Seq(
    "percentile(vi, 0.5), m -> m >= 0" -> Growing,
    "percentile(vi, array(0.2, 0.9)), m -> m[0] >= 0" -> Growing,
    "approx_percentile(vi, 0.5), m -> m >= 0" -> Growing,
    "percentile(vi, 0.5, 1), m -> m >= 0" -> Growing,
    "percentile(vi, 0.5), m -> m >= 2" -> Seq(0, 0, 1, 1, 1, 0, 2, 2, 1, 3, 3, 2).map(_.toLong),
    "collect_list(vh), l -> exists(l, e -> e = 3)" ->
      Seq(0, 0, 0, 1, 0, 0, 2, 1, 0, 3, 2, 1).map(_.toLong),
    "collect_list(vh), l -> aggregate(l, 0, (a, b) -> a + b) <= 6" -> Growing,
    "collect_set(vh), l -> size(filter(l, e -> e > 1)) < 2" ->
      Seq(1, 1, 1, 2, 2, 2, 1, 3, 3, 2, 1, 3).map(_.toLong),
    "mode(vh, true), m -> exists(array(m), e -> e < 3)" -> Growing,
    "collect_list(struct(vh, vi)), l -> transform(l, e -> e.vh)[0] >= 0" -> Growing,
    "max_by(struct(vh), vi), m -> exists(array(m.vh), e -> e >= 0)" -> Growing
  )

  private val Grouped: Seq[(String, Seq[Long])] = Seq(
    "SELECT k, count(*) OVER (PARTITION BY delta_window(k + 1, 1) ORDER BY k) FROM queried GROUP BY k, k + 1" ->
      Seq(1L, 2L, 2L),
    "SELECT k + 1, count(*) OVER (PARTITION BY delta_window(k + 1, 1) ORDER BY k + 1) FROM queried GROUP BY k + 1" ->
      Seq(1L, 2L, 2L),
    "SELECT id % 4, sum(count(*)) OVER (PARTITION BY delta_window(2 * (id % 4), 1) ORDER BY id % 4) FROM queried GROUP BY id % 4" ->
      Seq(3L, 3L, 3L, 3L),
    "SELECT id % 4 g, sliding_agg(count(*), 'sum', delta_window(id % 4, 1)) OVER (ORDER BY id % 4) FROM queried GROUP BY g" ->
      Seq(3L, 6L, 6L, 6L),
    "SELECT id % 4 g, sum(count(*)) OVER (PARTITION BY predicate_window(sum(id % 4), m -> m < 4) ORDER BY id % 4) FROM queried GROUP BY 1" ->
      Seq(3L, 6L, 9L, 3L),
    "SELECT id % 4 g, count(*) OVER (PARTITION BY delta_window(max(vi), 1) ORDER BY id % 4) FROM queried GROUP BY id % 4" ->
      Seq(1L, 2L, 3L, 4L)
  )

  private val Invalid = "INVALID_PARAMETER_VALUE.PATTERN"

  private val Refused = Seq(
    (
      "SELECT id, sum(vi) OVER (PARTITION BY k, punctuation_window(lag(vi) OVER (PARTITION BY k ORDER BY id) > vi) ORDER BY id) FROM queried",
      Invalid,
      "name that as a column in a query below"
    ),
    (
      "SELECT id, sum(vi) OVER (PARTITION BY k, predicate_window(sum(max(vi) OVER (ORDER BY id)), m -> m < 9) ORDER BY id) FROM queried",
      Invalid,
      "name that as a column in a query below"
    ),
    (
      "SELECT * FROM (SELECT k, vh, vi FROM queried) PIVOT (sliding_agg(vi, 'sum', delta_window(vi, 2)) FOR vh IN (0, 1))",
      Invalid,
      "it is no window of an OVER clause"
    ),
    (
      "SELECT * FROM (SELECT k, vh, vi FROM queried) PIVOT (sliding_agg(vi, 'collect_list', groups_window(2)) FOR vh IN (0, 1))",
      Invalid,
      "it is no window of an OVER clause"
    ),
    (
      "SELECT count(*) OVER (PARTITION BY delta_window(vi, 1) ORDER BY id % 4) FROM queried GROUP BY id % 4",
      "MISSING_AGGREGATION",
      "vi"
    )
  )
}
