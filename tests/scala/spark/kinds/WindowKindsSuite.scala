package io.sash.spark.kinds

import scala.util.Random

import org.apache.spark.sql.{DataFrame, Row}

import io.sash.spark.{ErrorCondition, RowEquality, SashSuite}

/**
 * Each kind of window over random rows, against windows that are made here row by row, in plain
 * Scala, and aggregated by Spark's GROUP BY.
 */
class WindowKindsSuite extends SashSuite {
  import WindowKindsSuite._

  private val kinds: Seq[Kind] = Seq(
    Kind("count_window(1)")((rows, i) => rows.slice(i, i + 1)),
    Kind("count_window(7)")((rows, i) => rows.slice(i - 6, i + 1)),
    Kind("time_window(5)", order = "at")((rows, i) =>
      rows.filter(r => r.at == rows(i).at || near(r.at, rows(i).at, 5))
    ),
    Kind("delta_window(y, 1.5)")((rows, i) => delta(rows, i, 1.5)),
    Kind("delta_window(y, 0)")((rows, i) => delta(rows, i, 0.0)),
    Kind("punctuation_window(p)") { (rows, i) =>
      rows.slice(math.max(0, rows.lastIndexWhere(_.p.contains(true), i)), i + 1)
    },
    Kind("gap_window(3)", order = "at")((rows, i) => session(rows, i, 3.0)),
    Kind("gap_window(2.5)", order = "at")((rows, i) => session(rows, i, 2.5)),
    Kind("gap_window(3)", order = "at DESC")((rows, i) => session(rows, i, 3.0)),
    Kind("groups_window(2, 0)", order = "at")((rows, i) => groups(rows, i, 2, 0)),
    Kind("groups_window(1)", order = "at DESC NULLS FIRST")((rows, i) => groups(rows, i, 1, 0)),
    Kind("groups_window(0, 2)", order = "at")((rows, i) => groups(rows, i, 0, 2)),
    Kind("groups_window(1, 1)", order = "at NULLS LAST")((rows, i) => groups(rows, i, 1, 1)),
    Kind("predicate_window(x, 'sum', t -> t <= 20)")((rows, i) =>
      suffix(rows, i)(w => w.flatMap(_.x).nonEmpty && w.flatMap(_.x).sum <= 20)
    ),
    Kind("predicate_window(x, 'max', t -> t < 8 OR t IS NULL)")((rows, i) =>
      suffix(rows, i)(w => w.flatMap(_.x).forall(_ < 8))
    ),
    Kind("predicate_window(x < 9, 'bool_and', b -> nvl(b, true))")((rows, i) =>
      suffix(rows, i)(w => w.flatMap(_.x).forall(_ < 9))
    ),
    Kind("predicate_window(x, 'median', m -> nvl2(m, m < 6, true))")((rows, i) =>
      suffix(rows, i)(w => w.flatMap(_.x).isEmpty || median(w.flatMap(_.x)) < 6)
    ),
    Kind("predicate_window(x, 'sum', t -> t BETWEEN 0 AND 20)")((rows, i) =>
      suffix(rows, i)(w => w.flatMap(_.x).nonEmpty && w.flatMap(_.x).sum <= 20)
    ),
    Kind("predicate_window(x, 'max', t -> NOT exists(array(t), e -> nullif(e, 8) > 8))") {
      (rows, i) =>
        def isNull(w: Seq[Item]) = w.flatMap(_.x).maxOption.forall(_ == 8)
        suffix(rows, i)(w => !isNull(w) && w.flatMap(_.x).forall(_ <= 8))
    },
    Kind("predicate_window(x, 'count', n -> n < 4)")((rows, i) =>
      suffix(rows, i)(_.count(_.x.nonEmpty) < 4)
    ),
    Kind("predicate_window(y, 'avg', a -> a > 0)")((rows, i) =>
      suffix(rows, i)(w => w.flatMap(_.y).nonEmpty && w.flatMap(_.y).sum > 1e-12)
    ),
    Kind("rows_window(x)")((rows, i) => rows(i).x.fold(Nil: Seq[Item])(back(rows, i, _))),
    Kind("rows_window(x - 4L)")((rows, i) =>
      rows(i).x.map(_ - 4).filter(_ >= 0).fold(Nil: Seq[Item])(back(rows, i, _))
    ),
    Kind("range_window(x)", order = "at")((rows, i) =>
      rows(i).x.fold(Nil: Seq[Item])(x => range(rows, i, -x.toDouble, 0))
    ),
    Kind("range_window(y * 8)", order = "at NULLS LAST")((rows, i) =>
      rows(i).y.fold(Nil: Seq[Item])(y => range(rows, i, -8 * y, 0))
    ),
    Kind("range_window(x)", order = "at DESC")((rows, i) =>
      rows(i).x.fold(Nil: Seq[Item])(x => range(rows, i, 0, x.toDouble))
    )
  )

  private val exclusions: Seq[Kind] = Seq(
    Kind(
      "window_exclude('current row')",
      order = "id ROWS BETWEEN 3 PRECEDING AND 2 FOLLOWING"
    )((rows, i) => rows.slice(i - 3, i + 3).filter(_ != rows(i))),
    Kind(
      "window_exclude('Current Row')",
      order = "id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"
    )((rows, i) => rows.filter(_ != rows(i))),
    Kind("window_exclude('group')", order = "id ROWS BETWEEN 5 PRECEDING AND 2 PRECEDING")(
      (rows, i) => rows.slice(i - 5, i - 1)
    ),
    Kind("window_exclude('current row'), delta_window(y, 1.5)")((rows, i) =>
      delta(rows, i, 1.5).filter(_ != rows(i))
    ),
    Kind("window_exclude('group')", order = "at RANGE BETWEEN 9 PRECEDING AND 9 FOLLOWING")(
      (rows, i) => range(rows, i, -9, 9).filter(_.at != rows(i).at)
    ),
    Kind("window_exclude('ties')", order = "at RANGE BETWEEN 9 PRECEDING AND CURRENT ROW")(
      (rows, i) => withoutTies(rows, i)(range(rows, i, -9, 0))
    ),
    Kind(
      "window_exclude('ties')",
      order = "at DESC RANGE BETWEEN 9 PRECEDING AND UNBOUNDED FOLLOWING"
    )((rows, i) =>
      withoutTies(rows, i)(
        if (rows(i).at.isEmpty) rows.filter(_.at.isEmpty)
        else rows.filter(r => r.at.forall(_ <= rows(i).at.get + 9))
      )
    ),
    Kind("window_exclude('ties')", order = "at RANGE BETWEEN 3 FOLLOWING AND 20 FOLLOWING")(
      (rows, i) => withoutTies(rows, i)(range(rows, i, 3, 20))
    ),
    Kind("groups_window(1, 1), window_exclude('ties')", order = "at")((rows, i) =>
      withoutTies(rows, i)(groups(rows, i, 1, 1))
    ),
    Kind("range_window(x), window_exclude('group')", order = "at")((rows, i) =>
      rows(i).x
        .fold(Nil: Seq[Item])(x => range(rows, i, -x.toDouble, 0))
        .filter(_.at != rows(i).at)
    )
  )

  /** Answers that do not depend on how rows of one place in the order are arranged. */
  private val calls = Seq(
    "count(*)" -> "c",
    "sum(x)" -> "c",
    "max(x)" -> "c",
    "min(y)" -> "c",
    "avg(y)" -> "approx_",
    "stddev(y)" -> "approx_",
    "count(DISTINCT x)" -> "c",
    "median(x)" -> "c",
    "mode(x, true)" -> "c",
    "collect_list(id)" -> "set_",
    "approx_count_distinct(id)" -> "c",
    "count(*) FILTER (WHERE x > 4)" -> "c"
  )

  private def columns(over: String): String = calls.zipWithIndex
    .map { case ((call, name), i) =>
      s"$call $over AS $name$i"
    }
    .mkString(", ")

  private def create(seed: Long): Seq[Item] = {
    val random = new Random(seed)
    def sometimes[T](percent: Int)(value: => T): Option[T] =
      if (random.nextInt(100) < percent) None else Some(value)
    val items = (0 until 300).map { id =>
      Item(
        id,
        sometimes(10)(random.nextInt(3)),
        sometimes(5)(random.nextInt(120)),
        sometimes(15)(random.nextInt(12)),
        sometimes(10)(random.nextInt(16) / 4.0 - 1.0),
        sometimes(20)(random.nextInt(6) == 0)
      )
    }
    spark.createDataFrame(items).createOrReplaceTempView("items")
    items
  }

  /** The answers over the windows of `kind`, by a join with the rows of each. */
  private def expected(items: Seq[Item], kind: Kind): Seq[Row] = {
    val members = for {
      rows <- items.groupBy(_.k).values.toSeq
      ordered = kind.sorted(rows)
      i <- ordered.indices
      inside <- kind.window(ordered, i)
    } yield (ordered(i).id, inside.id)
    spark.createDataFrame(members).toDF("row", "member").createOrReplaceTempView("members")
    val answers = calls.zipWithIndex.map { case ((call, name), i) =>
      val ofMember = call
        .replace("count(*)", "count(b.id)")
        .replaceAll("\\((DISTINCT )?(x|y|id)\\b", "($1b.$2")
        .replace("WHERE x", "WHERE b.x")
      s"$ofMember AS $name$i"
    }
    spark
      .sql(
        s"SELECT a.id, ${answers.mkString(", ")} FROM items a " +
          "LEFT JOIN members m ON a.id = m.row LEFT JOIN items b ON b.id = m.member GROUP BY a.id"
      )
      .collect()
      .toSeq
  }

  for (kind <- kinds ++ exclusions; codegen <- Seq(true, false))
    test(s"${kind.sql}, by ${kind.order}, ${if (codegen) "compiled" else "interpreted"}") {
      val items = create(seed = kind.sql.hashCode.toLong)
      val mode =
        if (codegen) Nil
        else
          Seq(
            "spark.sql.codegen.wholeStage" -> "false",
            "spark.sql.codegen.factoryMode" -> "NO_CODEGEN"
          )
      withSettings(mode: _*) {
        val over = s"OVER (PARTITION BY k, ${kind.sql} ORDER BY ${kind.order})"
        val frame = spark.sql(s"SELECT id, ${columns(over)} FROM items")
        val rows = frame.collect().toSeq
        assert(sliding(frame).map(_.calls.length).sum == calls.length, "vacuous")
        val difference = RowEquality.difference(expected(items, kind), rows)
        assert(difference.isEmpty, difference.getOrElse(""))
      }
    }

  test("sliding_agg says the same as PARTITION BY, and plans the same") {
    create(seed = 1)
    for (kind <- kinds) withClue(kind.sql) {
      def query(call: String, partition: String) = spark.sql(
        s"SELECT id, $call OVER (PARTITION BY k$partition ORDER BY ${kind.order}) AS c FROM items"
      )
      val a = query("sum(x)", s", ${kind.sql}")
      val b = query(s"sliding_agg(x, 'sum', ${kind.sql})", "")
      assert(a.columns.toSeq == b.columns.toSeq)
      def calls(frame: DataFrame) =
        sliding(frame.queryExecution.sparkPlan).flatMap(_.calls.map(_.algorithm))
      assert(calls(a).nonEmpty && calls(a) == calls(b))
    }
  }

  test("sliding_agg casts arguments as the aggregate does") {
    create(seed = 1)
    for (
      (call, plain) <- Seq(
        "sliding_agg(x, 'percentile', 0.5, delta_window(y, 1))" -> "percentile(x, 0.5)",
        "sliding_agg(CAST(x AS STRING), 'stddev', delta_window(y, 1))" -> "stddev(x)"
      )
    ) {
      val a =
        spark.sql(s"SELECT id, $call OVER (PARTITION BY k ORDER BY id) AS approx_c FROM items")
      val b = spark.sql(
        s"SELECT id, $plain OVER (PARTITION BY k, delta_window(y, 1) ORDER BY id) AS approx_c FROM items"
      )
      assert(RowEquality.difference(b.collect().toSeq, a.collect().toSeq).isEmpty, call)
    }
  }

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

  test("widths of one length for all rows are those of a frame by time") {
    create(seed = 5)
    spark
      .sql(
        "SELECT *, timestamp_seconds(at * 7 - 300) AS ts, make_date(2020, 1 + at % 12, 1 + at % 28) AS day," +
          " timestamp_ntz'2020-03-29 00:00:00' + make_dt_interval(0, at) AS ntz FROM items"
      )
      .createOrReplaceTempView("timed")
    withSettings("spark.sql.session.timeZone" -> "Europe/Berlin") {
      for (
        (order, width) <- Seq(
          "ts" -> "INTERVAL 1 MINUTE",
          "ts DESC" -> "INTERVAL '1 02:03:04' DAY TO SECOND",
          "ts" -> "make_interval(0, 0, 0, 1, 2)",
          "ntz" -> "INTERVAL 2 DAYS",
          "ntz DESC" -> "INTERVAL 1 MONTH",
          "day" -> "INTERVAL 2 MONTHS",
          "day DESC NULLS FIRST" -> "INTERVAL 30 DAYS",
          "day" -> "30",
          "CAST(at AS DECIMAL(9, 2))" -> "2.50",
          "CAST(at AS TINYINT)" -> "3Y"
        )
      ) withClue(s"$order, $width") {
        def query(window: String) = spark.sql(
          s"SELECT id, sum(x) OVER (PARTITION BY k, $window ORDER BY $order) AS c FROM timed"
        )
        val own = query(s"range_window(IF(id IS NULL, NULL, $width))")
        val difference =
          RowEquality.difference(
            query(s"time_window($width)").collect().toSeq,
            own.collect().toSeq
          )
        assert(difference.isEmpty, difference.getOrElse(""))
      }
    }
  }

  for {
    ansi <- Seq("true", "false")
    (window, expected, values) <- Seq(
      // of another type than the attribute, which no double tells apart
      (
        "delta_window(i, 100.0)",
        Seq(1, 1, 2),
        "(1, 1700000000000000000), (2, 1700000000000000101), (3, 1700000000000000201)"
      ),
      (
        "gap_window(100.0)",
        Seq(1, 1, 2),
        "(1, 1700000000000000000), (2, 1700000000000000100), (3, 1700000000000000199)"
      ),
      (
        "delta_window(i, 0.5)",
        Seq(1, 1, 1),
        "(1, 12345678901234567890123), (2, 12345678901234567890124), (3, 12345678901234567890125)"
      ),
      ("delta_window(i, 0.5)", Seq(1, 2, 1), "(1, 1Y), (2, 1Y), (3, 2Y)"),
      ("delta_window(i, 0.5)", Seq(1, 2, 1), "(1, 1.25D), (2, 1.75D), (3, 2.5D)"),
      // at the ends of a type
      ("delta_window(i, 10)", Seq(1, 2, 1), "(1, -2147483648), (2, -2147483647), (3, 5)"),
      ("delta_window(i, 100Y)", Seq(1, 2), "(1, -78Y), (2, 3Y)"),
      ("gap_window(10)", Seq(1, 2, 3), "(1, 2147483640), (2, 2147483646), (3, 2147483647)"),
      (
        "delta_window(i, 10)",
        Seq(1, 2, 1),
        "(1, -9223372036854775808), (2, -9223372036854775807), (3, 5L)"
      ),
      (
        "gap_window(10)",
        Seq(1, 2, 1, 2),
        "(1, 5L), (2, 6L), (3, 9223372036854775800), (4, 9223372036854775807)"
      ),
      (
        "gap_window(9223372036854775807)",
        Seq(1, 1, 2, 3),
        "(1, -9223372036854775808), (2, -1L), (3, 3L), (4, 9223372036854775805)"
      ),
      (
        "range_window(o)",
        Seq(1, 2, 1),
        "(1, -9223372036854775808), (2, -9223372036854775807), (3, 5L)"
      ),
      ("range_window(-o)", Seq(0, 0), "(1, 9223372036854775806), (2, 9223372036854775807)")
    )
  } test(s"$window of $values, ANSI $ansi") {
    withSettings("spark.sql.ansi.enabled" -> ansi) {
      val rows = spark
        .sql(
          s"SELECT o, count(*) OVER (PARTITION BY $window ORDER BY i) AS c " +
            s"FROM VALUES $values AS v(o, i)"
        )
        .collect()
        .sortBy(_.getInt(0))
      assert(rows.map(_.getLong(1).toInt).toSeq == expected)
    }
  }

  /** Whether a row is the first of its pane. */
  private def panes(number: String, order: String): String =
    s"row_number() OVER (PARTITION BY k, $number ORDER BY $order) = 1"

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
      ("PARTITION BY count_window(2, 3) ORDER BY id", Arguments, "`count_window` requires 1"),
      ("PARTITION BY time_window(-5) ORDER BY at", Range, "`size`"),
      ("PARTITION BY delta_window(p, 5) ORDER BY at", Difference, "no \"INT\" can be subtracted"),
      ("PARTITION BY delta_window(x, -0.5) ORDER BY at", Range, "`delta`"),
      ("PARTITION BY delta_window(x, INTERVAL 1 DAY) ORDER BY at", Difference, "subtracted"),
      ("PARTITION BY gap_window(0) ORDER BY at", Range, "`gap`"),
      ("PARTITION BY gap_window(INTERVAL 1 DAY) ORDER BY at", Misplaced, "cannot be added to"),
      ("PARTITION BY gap_window(1) ORDER BY at, id", Misplaced, "an order by one expression"),
      ("PARTITION BY punctuation_window(x) ORDER BY at", Type, "`punctuation`"),
      ("PARTITION BY groups_window(-1) ORDER BY at", Range, "`preceding`"),
      (
        "PARTITION BY predicate_window(x, 'sum', t -> t + 1) ORDER BY at",
        Misplaced,
        "not a BOOLEAN"
      ),
      (
        "PARTITION BY predicate_window(x, 'sum', t -> t < y) ORDER BY at",
        Misplaced,
        "argument only"
      ),
      ("PARTITION BY predicate_window(x, 'summ', t -> t < 1) ORDER BY at", Unknown, "'sum'"),
      ("PARTITION BY punctuation_window(rand() < 0.5) ORDER BY at", Misplaced, "a column of it"),
      (
        "PARTITION BY predicate_window(x, 'sum', t -> t < rand()) ORDER BY at",
        Misplaced,
        "deterministic"
      ),
      (
        "PARTITION BY predicate_window(x, 'sum', t -> current_user() = 'a') ORDER BY at",
        Misplaced,
        "put a constant there"
      ),
      ("PARTITION BY k, count_window(3)", Misplaced, "add ORDER BY"),
      ("PARTITION BY count_window(3), count_window(4) ORDER BY id", Misplaced, "already"),
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
      ("PARTITION BY range_window(x) ORDER BY at, id", Misplaced, "one expression"),
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
    assert(off._1 == Misplaced && off._2.contains("spark.sash.enabled is false"), off)
    // switched off after the analysis
    val analyzed =
      spark.sql("SELECT sum(x) OVER (PARTITION BY delta_window(x, 3) ORDER BY id) FROM items")
    val late = withSash(enabled = false)(intercept[Throwable](analyzed.collect()))
    assert(late.getMessage.contains("spark.sash.enabled is false"), late)
  }

  test("frames that Spark has run as Spark's while Sash is off") {
    create(seed = 1)
    for (kind <- Seq("count_window(3)", "time_window(4)"))
      checkSlides(
        s"SELECT id, sum(x) OVER (PARTITION BY k, $kind ORDER BY id) AS c FROM items"
      )
  }

  test("EXPLAIN says which window it is") {
    create(seed = 1)
    val text = spark
      .sql(
        "EXPLAIN SELECT sum(x) OVER (PARTITION BY k, predicate_window(x, 'sum', s -> s < 9) " +
          "ORDER BY id) FROM items"
      )
      .head()
      .getString(0)
    assert(text.contains("over predicate_window(sum("), text)
  }
}

object WindowKindsSuite {
  private val Range = "DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE"
  private val Type = "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE"
  private val Difference = "DATATYPE_MISMATCH.TYPE_CHECK_FAILURE_WITH_HINT"
  private val Misplaced = "INVALID_PARAMETER_VALUE.PATTERN"
  private val Arguments = "WRONG_NUM_ARGS.WITHOUT_SUGGESTION"
  private val Unknown = "UNRESOLVED_ROUTINE"

  final case class Item(
      id: Int,
      k: Option[Int],
      at: Option[Int],
      x: Option[Int],
      y: Option[Double],
      p: Option[Boolean]
  )

  /** @param window the members of the window of the i-th of one partition's rows, in order */
  final case class Kind(sql: String, order: String = "id")(
      val window: (IndexedSeq[Item], Int) => Seq[Item]
  ) {

    /** Spark's order: NULL is the least, unless said otherwise. */
    def sorted(items: Seq[Item]): IndexedSeq[Item] = {
      val ascending =
        if (order.startsWith("id")) items.sortBy(_.id)
        else if (order.contains("NULLS LAST")) items.sortBy(_.at.getOrElse(Int.MaxValue))
        else if (order.contains("DESC NULLS FIRST"))
          items.sortBy(i => -i.at.getOrElse(Int.MaxValue).toLong)
        else if (order.contains("DESC")) items.sortBy(i => -i.at.getOrElse(Int.MinValue).toLong)
        else items.sortBy(_.at)
      ascending.toIndexedSeq
    }
  }

  def near(a: Option[Int], of: Option[Int], size: Int): Boolean =
    a.exists(x => of.exists(y => x >= y - size && x <= y))

  /** What has left stays out, so the window is followed from the first row on. */
  def delta(rows: IndexedSeq[Item], i: Int, size: Double): Seq[Item] = {
    var from = 0
    (0 to i).foreach { j =>
      def leaves(row: Item): Boolean = (row.y, rows(j).y) match {
        case (Some(old), Some(now)) => old < now - size
        case (None, Some(_))        => true
        case _                      => false
      }
      while (from < j && leaves(rows(from))) from += 1
    }
    rows.slice(from, i + 1)
  }

  def back(rows: IndexedSeq[Item], i: Int, preceding: Int): Seq[Item] =
    rows.slice(math.max(0, i - preceding), i + 1)

  /** Rows without a place in the order are each other's window. */
  def range(rows: IndexedSeq[Item], i: Int, lower: Double, upper: Double): Seq[Item] =
    rows.filter(r =>
      (r.at, rows(i).at) match {
        case (Some(a), Some(of)) => a >= of + lower && a <= of + upper
        case (None, None)        => true
        case _                   => false
      }
    )

  def withoutTies(rows: IndexedSeq[Item], i: Int)(window: Seq[Item]): Seq[Item] =
    window.filter(r => r == rows(i) || r.at != rows(i).at)

  def session(rows: IndexedSeq[Item], i: Int, gap: Double): Seq[Item] = {
    def isGap(j: Int): Boolean = (rows(j - 1).at, rows(j).at) match {
      case (Some(a), Some(b)) => math.abs(b - a) >= gap
      case (None, None)       => false
      case _                  => true
    }
    rows.slice((i to 1 by -1).find(isGap).getOrElse(0), i + 1)
  }

  def groups(rows: IndexedSeq[Item], i: Int, preceding: Int, following: Int): Seq[Item] = {
    val number = rows.indices.map(j => rows.take(j + 1).map(_.at).distinct.length)
    rows.indices
      .filter(j => number(j) >= number(i) - preceding && number(j) <= number(i) + following)
      .map(rows(_))
  }

  private def median(values: Seq[Int]): Double = {
    val sorted = values.sorted
    (sorted((sorted.length - 1) / 2) + sorted(sorted.length / 2)) / 2.0
  }

  /** What has left stays out, here too. */
  def suffix(rows: IndexedSeq[Item], i: Int)(holds: Seq[Item] => Boolean): Seq[Item] = {
    var from = 0
    (0 to i).foreach { j =>
      while (from <= j && !holds(rows.slice(from, j + 1))) from += 1
    }
    rows.slice(from, i + 1)
  }
}
