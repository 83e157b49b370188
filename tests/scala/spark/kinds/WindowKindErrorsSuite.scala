package io.sash.spark.kinds

import io.sash.spark.ErrorCondition

/** Kinds of windows that are refused, and what the error says. */
class WindowKindErrorsSuite extends ItemsSuite {
  import WindowKindErrorsSuite._

  private def refused(query: String): (String, String) = {
    val e = intercept[Throwable](spark.sql(query).collect())
    (ErrorCondition.of(e), e.getMessage)
  }

  for {
    (query, condition, message) <- Seq(
      (
        "PARTITION BY count_window(0) ORDER BY id",
        Range,
        "`size` must be between [1, 2147483647]"
      ),
      ("PARTITION BY count_window(-1) ORDER BY id", Range, "`size`"),
      (
        "PARTITION BY count_window(id) ORDER BY id",
        "DATATYPE_MISMATCH.NON_FOLDABLE_INPUT",
        "`size`"
      ),
      ("PARTITION BY count_window('3') ORDER BY id", Type, "`size`"),
      (
        "PARTITION BY count_window(2, 3) ORDER BY id",
        Arguments,
        "`count_window` requires 1 (see DESCRIBE FUNCTION EXTENDED count_window)"
      ),
      ("PARTITION BY time_window(-5) ORDER BY at", Range, "`size`"),
      (
        "PARTITION BY delta_window(p, 5) ORDER BY at",
        Difference,
        "can be subtracted; name an attribute that is a number, a date or a timestamp"
      ),
      ("PARTITION BY delta_window(x, -0.5) ORDER BY at", Range, "`delta`"),
      (
        "PARTITION BY delta_window(x, INTERVAL 1 DAY) ORDER BY at",
        Difference,
        "subtracted; write the delta as a number"
      ),
      (
        "PARTITION BY delta_window(DATE'2026-03-01', '1 hour') ORDER BY at",
        Difference,
        "subtracted; write the delta as whole days or months, as in '1 day'"
      ),
      (
        "PARTITION BY delta_window(timestamp_seconds(at), 3) ORDER BY at",
        Difference,
        "subtracted; write the delta as an interval, as in '1 hour'"
      ),
      ("PARTITION BY gap_window(0) ORDER BY at", Range, "`gap`"),
      ("PARTITION BY gap_window(INTERVAL 1 DAY) ORDER BY at", Misplaced, "cannot be added to"),
      ("PARTITION BY gap_window(1) ORDER BY at, id", Misplaced, OneOrder),
      ("PARTITION BY time_window(1) ORDER BY at, id", Misplaced, OneOrder),
      ("PARTITION BY punctuation_window(x) ORDER BY at", Type, "`punctuation`"),
      ("PARTITION BY groups_window(-1) ORDER BY at", Range, "`preceding`"),
      (
        "PARTITION BY predicate_window(sum(x), t -> t + 1) ORDER BY at",
        Misplaced,
        "not a BOOLEAN"
      ),
      (
        "PARTITION BY predicate_window(sum(x), t -> t < y) ORDER BY at",
        Misplaced,
        "argument only"
      ),
      ("PARTITION BY predicate_window(summ(x), t -> t < 1) ORDER BY at", Unknown, "`summ`"),
      ("PARTITION BY punctuation_window(rand() < 0.5) ORDER BY at", Misplaced, "a column of it"),
      (
        "PARTITION BY predicate_window(sum(x), t -> t < rand()) ORDER BY at",
        Misplaced,
        "deterministic"
      ),
      (
        "PARTITION BY predicate_window(sum(x), t -> current_user() = 'a') ORDER BY at",
        Misplaced,
        "put a constant there"
      ),
      ("PARTITION BY predicate_window(x, t -> t < 9) ORDER BY at", Pattern, "sum(x)"),
      ("PARTITION BY predicate_window(sum(x), 9) ORDER BY at", Pattern, "total -> total <= 100"),
      (
        "PARTITION BY predicate_window(sum(DISTINCT x), t -> t < 9) ORDER BY at",
        Pattern,
        "DISTINCT or FILTER"
      ),
      (
        "PARTITION BY predicate_window(sum(x) FILTER (WHERE y > 0), t -> t < 9) ORDER BY at",
        Pattern,
        "DISTINCT or FILTER"
      ),
      ("PARTITION BY k, count_window(3)", Misplaced, "add ORDER BY"),
      ("PARTITION BY count_window(3), gap_window(4) ORDER BY id", Misplaced, "window_and"),
      (
        "PARTITION BY window_or(rows_window(x), count_window(3)) ORDER BY id",
        Pattern,
        "`first`"
      ),
      ("PARTITION BY window_or(count_window(3), window_slide(3)) ORDER BY id", Pattern, "beside"),
      ("PARTITION BY window_or(count_window(3), 3) ORDER BY id", Pattern, "no kind of window"),
      (
        "PARTITION BY window_or(time_window(2, 'left'), count_window(3)) ORDER BY id",
        Misplaced,
        "the window of time_window(2, 'left') may have no rows"
      ),
      (
        "PARTITION BY window_or(window_and(count_window(9), time_window(2, 'neither')), " +
          "count_window(3)) ORDER BY id",
        Misplaced,
        "let it end with its row"
      ),
      (
        "PARTITION BY window_and(count_window(3), predicate_window(sum(x), t -> t < 9)) ORDER BY id",
        Pattern,
        "ask for it alone"
      ),
      ("PARTITION BY window_and(count_window(3), gap_window(4))", Misplaced, "add ORDER BY"),
      (
        "PARTITION BY window_and(count_window(3), gap_window(4)) ORDER BY at, id",
        Misplaced,
        OneOrder
      ),
      ("PARTITION BY window_and(count_window(0), gap_window(4)) ORDER BY at", Range, "`size`"),
      ("PARTITION BY window_slide(3), window_slide(4) ORDER BY id", Misplaced, "already"),
      ("PARTITION BY window_slide(0) ORDER BY id", Range, "`every`"),
      ("PARTITION BY window_slide(1.5) ORDER BY id", Type, "`every`"),
      (
        "PARTITION BY window_slide(x) ORDER BY id",
        "DATATYPE_MISMATCH.NON_FOLDABLE_INPUT",
        "`every`"
      ),
      ("PARTITION BY window_slide(INTERVAL 0 DAYS) ORDER BY id", Range, "`every`"),
      ("PARTITION BY window_slide(INTERVAL 1 DAY) ORDER BY id", Misplaced, "no panes"),
      ("PARTITION BY k, window_slide(2)", Misplaced, "add ORDER BY"),
      ("PARTITION BY k, window_exclude('ties')", Misplaced, "add ORDER BY"),
      ("PARTITION BY k, window_exclude('peers') ORDER BY id", Range, "'ties'"),
      ("PARTITION BY k, window_exclude(1) ORDER BY id", Type, "`rows`"),
      ("PARTITION BY rows_window(y) ORDER BY id", Type, "`preceding`"),
      ("PARTITION BY range_window(p) ORDER BY id", Type, "`preceding`"),
      ("PARTITION BY range_window(x) ORDER BY at, id", Misplaced, OneOrder),
      (
        "PARTITION BY time_window(1, hop => 2) ORDER BY at, id",
        Misplaced,
        OneOrder
      ),
      ("PARTITION BY time_window(1, 'neither') ORDER BY at", Misplaced, "write a larger `size`"),
      ("PARTITION BY time_window(4294967296) ORDER BY id", Misplaced, "is no INT, the type of"),
      (
        "PARTITION BY time_window(0.006) ORDER BY CAST(id AS DECIMAL(10, 2))",
        Misplaced,
        "is no DECIMAL(10,2), the type of the order; ORDER BY a CAST of"
      ),
      (
        "PARTITION BY time_window('1 month', 'both', true) ORDER BY timestamp_seconds(at)",
        Misplaced,
        "write an even number of them"
      ),
      (
        "PARTITION BY time_window('3 months', 'right', true) ORDER BY DATE'2026-03-01'",
        Misplaced,
        "write an even number of them"
      ),
      ("PARTITION BY range_window(INTERVAL 1 DAY) ORDER BY at", Misplaced, "cannot be added to"),
      ("PARTITION BY rows_window(x) ORDER BY id ROWS 3 PRECEDING", Misplaced, "leave out ROWS"),
      (
        "PARTITION BY delta_window(x, 3) ORDER BY id ROWS 3 PRECEDING",
        Misplaced,
        "leave out ROWS"
      )
    )
  } test(s"refused: $query") {
    create(seed = 1)
    val (actual, text) = refused(s"SELECT sum(x) OVER ($query) FROM items")
    assert(actual == condition, text)
    assert(text.contains(message), text)
  }

  for {
    kind <- Seq(
      "time_window('1 hour')",
      "time_window('1 hour', 'left')",
      "time_window('1 hour', 'both', true)",
      "gap_window('1 hour')",
      "gap_window(5, '1 hour')",
      "range_window('1 hour')",
      "window_and(time_window('1 hour'), count_window(3))",
      "count_window(3), window_slide('1 hour')"
    )
    order <- Seq("id", "CAST(id AS DOUBLE)", "CAST(id AS DECIMAL(9, 2)) DESC")
  } test(s"an interval is no distance of numbers: $kind ORDER BY $order") {
    create(seed = 1)
    val (condition, text) =
      refused(s"SELECT sum(x) OVER (PARTITION BY $kind ORDER BY $order) FROM items")
    assert(condition == Misplaced, text)
    val says =
      if (kind.contains("slide")) "slide by a number of rows"
      else "as a number, or order by a timestamp"
    assert(text.contains(says), text)
  }

  for {
    (kind, order, says) <- Seq(
      ("time_window(3)", "timestamp_seconds(id)", "as an interval, as in '1 hour'"),
      (
        "time_window('1 hour')",
        "DATE'2020-01-01'",
        "as whole days or months, as in '1 day', or ORDER BY CAST(DATE '2020-01-01' AS TIMESTAMP_NTZ)"
      ),
      ("gap_window('25 hours')", "DATE'2020-01-01'", "or ORDER BY CAST(DATE '2020-01-01'"),
      ("time_window(3)", "INTERVAL '1' DAY * id", "order by a number, a date or a timestamp")
    )
  } test(s"a size of another type than the order's: $kind ORDER BY $order") {
    create(seed = 1)
    val (condition, text) =
      refused(s"SELECT sum(x) OVER (PARTITION BY $kind ORDER BY $order) FROM items")
    assert(condition == Misplaced && text.contains(says), text)
  }

  for (
    kind <- Seq("time_window('1 hour')", "time_window('1 hour', 'left')", "gap_window('1 hour')")
  )
    test(s"to a TIME no interval is added, but to its number: $kind") {
      create(seed = 1)
      withSettings("spark.sql.timeType.enabled" -> "true") {
        val time = "to_time('08:00:00')"
        def query(order: String) =
          s"SELECT sum(x) OVER (PARTITION BY $kind ORDER BY $order) FROM items"
        val (condition, text) = refused(query(time))
        val number = "time_diff('MICROSECOND', TIME'00:00:00', time)"
        assert(
          condition == Misplaced && text.contains(s"take a number of it, as in $number"),
          text
        )
        val inMicros = query(number.replace("time)", s"$time)")).replace("'1 hour'", "3600000000")
        spark.sql(inMicros).collect()
      }
    }

  for {
    kind <- Seq("gap_window(2)", "time_window(2)", "window_min_periods(2)", "window_slide(2)")
    (function, instead) <- Seq(
      "row_number()" -> "write count(*), or",
      "rank()" -> "write rank_in_frame(id), or",
      "dense_rank()" -> "write dense_rank_in_frame(id), or",
      "percent_rank()" -> "write percent_rank_in_frame(id), or",
      "cume_dist()" -> "write cume_dist_in_frame(id), or",
      "nth_value(x, 2)" -> "write first_n(struct(x), 2), whose last element has the value, or",
      "ntile(2)" -> "",
      "lag(x)" -> "",
      "lead(x, 2)" -> ""
    )
  } test(s"no aggregate: $function over $kind") {
    create(seed = 1)
    val (condition, text) =
      refused(s"SELECT $function OVER (PARTITION BY $kind ORDER BY id) FROM items")
    assert(condition == Misplaced, text)
    val name = function.takeWhile(_ != '(')
    for (
      said <- Seq(
        s"$kind: it is about the window of an aggregate. $name(",
        s"$instead leave $kind out"
      )
    )
      assert(text.contains(said), text)
  }

  test("a kind that is no window is refused, and each of them while Sash is off") {
    create(seed = 1)
    for (
      query <- Seq(
        "SELECT count_window(3) FROM items",
        "SELECT sliding_agg(x, 'sum', delta_window(x, 3)) FROM items",
        "SELECT k, max(delta_window(x, 3)) FROM items GROUP BY k",
        "SELECT rank() OVER (PARTITION BY delta_window(x, 3) ORDER BY id) FROM items"
      )
    ) withClue(query)(assert(refused(query)._1 == Misplaced))
    val off = withSash(enabled = false) {
      refused("SELECT sum(x) OVER (PARTITION BY delta_window(x, 3) ORDER BY id) FROM items")
    }
    assert(off._1 == Unknown && off._2.contains("delta_window"), off)
    // switched off after the analysis
    val analyzed =
      spark.sql("SELECT sum(x) OVER (PARTITION BY delta_window(x, 3) ORDER BY id) FROM items")
    for (frame <- Seq(analyzed, analyzed.limit(5))) {
      val late = withSash(enabled = false)(intercept[Throwable](frame.collect()))
      assert(late.getMessage.contains("spark.sash.enabled is false"), late)
    }
  }
}

object WindowKindErrorsSuite {
  private val OneOrder = "lies in an order by one expression; ORDER BY items.at alone"
  private val Range = "DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE"
  private val Pattern = "INVALID_PARAMETER_VALUE.PATTERN"
  private val Type = "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE"
  private val Difference = "DATATYPE_MISMATCH.TYPE_CHECK_FAILURE_WITH_HINT"
  private val Misplaced = "INVALID_PARAMETER_VALUE.PATTERN"
  private val Arguments = "WRONG_NUM_ARGS.WITHOUT_SUGGESTION"
  private val Unknown = "UNRESOLVED_ROUTINE"
}
