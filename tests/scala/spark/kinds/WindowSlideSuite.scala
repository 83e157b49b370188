package io.sash.spark.kinds

import io.sash.spark.RowEquality

/** Windows that slide by more than a row, against the same ones without a slide. */
class WindowSlideSuite extends ItemsSuite {

  test("windows that slide have their answers where they slide, and NULL elsewhere") {
    create(seed = 3)
    spark
      .sql(
        "SELECT *, timestamp_seconds(at * 7 - 300) AS ts, date_add(DATE'1969-11-30', at) AS day FROM items"
      )
      .createOrReplaceTempView("timed")
    val by = "PARTITION BY k"
    for {
      ((slide, order, isAt), i) <- Seq(
        ("7", "id", s"row_number() OVER ($by ORDER BY id) % 7 = 0"),
        ("1", "id", "true"),
        ("INTERVAL 1 MINUTE", "ts, id", panes("floor(unix_seconds(ts) / 60)", "ts, id")),
        ("INTERVAL 90 SECONDS", "ts, id", panes("floor(unix_seconds(ts) / 90)", "ts, id")),
        ("INTERVAL 2 DAYS", "day DESC, id", panes("floor(unix_date(day) / 2)", "day DESC, id")),
        ("INTERVAL 1 MONTH", "day, id", panes("trunc(day, 'month')", "day, id")),
        (
          "make_interval(0, 0, 0, 0, 0, 2)",
          "ts, id",
          panes("floor(unix_seconds(ts) / 120)", "ts, id")
        )
      ).zipWithIndex
      ((kind, frame), j) <- Seq(
        "" -> "ROWS BETWEEN 9 PRECEDING AND CURRENT ROW",
        "" -> "ROWS BETWEEN 9 PRECEDING AND 4 FOLLOWING",
        ", count_window(9)" -> "",
        ", groups_window(1, 1)" -> "",
        ", window_exclude('group')" -> "ROWS BETWEEN 9 PRECEDING AND 4 FOLLOWING"
      ).zipWithIndex
      if (i + j) % 5 == 0 // each with another
      codegen = i % 2 == 0
    } withClue(s"slide $slide, $kind $frame, $codegen")(
      withSettings("spark.sql.codegen.wholeStage" -> codegen.toString) {
        def over(slide: String) = s"OVER ($by$kind$slide ORDER BY $order $frame)"
        val sliding = spark.sql(
          s"SELECT id, count(*) ${over(s", window_slide($slide)")} AS c, sum(x) ${over(s", window_slide($slide)")} AS s, " +
            s"count(DISTINCT x) ${over(s", window_slide($slide)")} AS d FROM timed"
        )
        val all = spark.sql(
          s"SELECT id, IF($isAt, c, NULL) AS c, IF($isAt, s, NULL) AS s, IF($isAt, d, NULL) AS d FROM " +
            s"(SELECT *, count(*) ${over("")} AS c, sum(x) ${over("")} AS s, count(DISTINCT x) ${over("")} AS d FROM timed)"
        )
        val answers = sliding.collect().toSeq
        assert(answers.exists(!_.isNullAt(1)) && sliding.schema("c").nullable)
        val difference = RowEquality.difference(all.collect().toSeq, answers)
        assert(difference.isEmpty, difference.getOrElse(""))
      }
    )
  }

  /** Whether a row is the first of its pane. */
  private def panes(number: String, order: String): String =
    s"row_number() OVER (PARTITION BY k, $number ORDER BY $order) = 1"
}
