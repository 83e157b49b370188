package io.sash.spark.kinds

import org.apache.spark.sql.{DataFrame, Row}

import org.scalatest.tags.Slow

import io.sash.spark.RowEquality

/**
 * Each kind of window over random rows, against windows that are made here row by row, in plain
 * Scala, and aggregated by Spark's GROUP BY.
 */
@Slow
class WindowKindsSuite extends ItemsSuite {
  import WindowKindsSuite._

  private val kinds: Seq[Kind] = Seq(
    Kind("count_window(1)")((rows, i) => rows.slice(i, i + 1)),
    Kind("count_window(7)")((rows, i) => rows.slice(i - 6, i + 1)),
    Kind("time_window(5)", order = "at")((rows, i) =>
      rows.filter(r => r.at == rows(i).at || near(r.at, rows(i).at, 5))
    ),
    Kind("delta_window(y, 1.5)")((rows, i) => delta(rows, i, 1.5)),
    Kind("delta_window(y, 0)")((rows, i) => delta(rows, i, 0.0)),
    Kind("punctuation_window(p)")((rows, i) => since(rows, i)),
    Kind("gap_window(3)", order = "at")((rows, i) => session(rows, i, 3.0)),
    Kind("gap_window(2.5)", order = "at")((rows, i) => session(rows, i, 2.5)),
    Kind("gap_window(3)", order = "at DESC")((rows, i) => session(rows, i, 3.0)),
    Kind("gap_window(3, 8)", order = "at")((rows, i) => session(rows, i, 3.0, 8.0)),
    Kind("gap_window(3.5, 2)", order = "at DESC NULLS FIRST")((rows, i) =>
      session(rows, i, 3.5, 2.0)
    ),
    Kind("window_and(punctuation_window(p), count_window(4))")((rows, i) =>
      back(rows, i, 3).filter(since(rows, i).contains)
    ),
    Kind("window_or(punctuation_window(p), count_window(4))")((rows, i) =>
      rows.filter(r => back(rows, i, 3).contains(r) || since(rows, i).contains(r))
    ),
    Kind("window_and(delta_window(y, 1.5), window_or(punctuation_window(p), count_window(3)))")(
      (rows, i) =>
        delta(rows, i, 1.5)
          .filter(r => back(rows, i, 2).contains(r) || since(rows, i).contains(r))
    ),
    Kind("window_and(rows_window(x), count_window(4))")((rows, i) =>
      rows(i).x.fold(Nil: Seq[Item])(x => back(rows, i, math.min(x, 3)))
    ),
    Kind("window_and(punctuation_window(p), window_and(rows_window(x), rows_window(4)))")(
      (rows, i) =>
        rows(i).x.fold(Nil: Seq[Item])(x =>
          back(rows, i, math.min(x, 4)).filter(since(rows, i).contains)
        )
    ),
    Kind("window_and(range_window(x), time_window(5))", order = "at")((rows, i) =>
      rows(i).x.fold(Nil: Seq[Item])(x => range(rows, i, -math.min(x, 5).toDouble, 0))
    ),
    Kind("window_and(gap_window(3), time_window(5))", order = "at")((rows, i) =>
      session(rows, i, 3.0).filter(r => r.at == rows(i).at || near(r.at, rows(i).at, 5))
    ),
    Kind("window_or(gap_window(3), time_window(5))", order = "at")((rows, i) =>
      rows.filter(r =>
        session(rows, i, 3.0).contains(r) || r.at == rows(i).at || near(r.at, rows(i).at, 5)
      )
    ),
    Kind("window_and(groups_window(1, 1), time_window(4))", order = "at")((rows, i) =>
      groups(rows, i, 1, 1).filter(r => r.at == rows(i).at || near(r.at, rows(i).at, 4))
    ),
    Kind("groups_window(2, 0)", order = "at")((rows, i) => groups(rows, i, 2, 0)),
    Kind("groups_window(1)", order = "at DESC NULLS FIRST")((rows, i) => groups(rows, i, 1, 0)),
    Kind("groups_window(0, 2)", order = "at")((rows, i) => groups(rows, i, 0, 2)),
    Kind("groups_window(1, 1)", order = "at NULLS LAST")((rows, i) => groups(rows, i, 1, 1)),
    Kind("predicate_window(sum(x), t -> t <= 20)")((rows, i) =>
      suffix(rows, i)(w => w.flatMap(_.x).nonEmpty && w.flatMap(_.x).sum <= 20)
    ),
    Kind("predicate_window(max(x), t -> t < 8 OR t IS NULL)")((rows, i) =>
      suffix(rows, i)(w => w.flatMap(_.x).forall(_ < 8))
    ),
    Kind("predicate_window(bool_and(x < 9), b -> nvl(b, true))")((rows, i) =>
      suffix(rows, i)(w => w.flatMap(_.x).forall(_ < 9))
    ),
    Kind("predicate_window(median(x), m -> nvl2(m, m < 6, true))")((rows, i) =>
      suffix(rows, i)(w => w.flatMap(_.x).isEmpty || median(w.flatMap(_.x)) < 6)
    ),
    Kind("predicate_window(sum(x), t -> t BETWEEN 0 AND 20)")((rows, i) =>
      suffix(rows, i)(w => w.flatMap(_.x).nonEmpty && w.flatMap(_.x).sum <= 20)
    ),
    Kind("predicate_window(max(x), t -> NOT exists(array(t), e -> nullif(e, 8) > 8))") {
      (rows, i) =>
        def isNull(w: Seq[Item]) = w.flatMap(_.x).maxOption.forall(_ == 8)
        suffix(rows, i)(w => !isNull(w) && w.flatMap(_.x).forall(_ <= 8))
    },
    Kind("predicate_window(count(x), n -> n < 4)")((rows, i) =>
      suffix(rows, i)(_.count(_.x.nonEmpty) < 4)
    ),
    Kind("predicate_window(avg(y), a -> a > 0)")((rows, i) =>
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
      // negative and NaN widths have no rows, wherever the row lies
      rows(i).y.filter(_ >= 0).fold(Nil: Seq[Item])(y => range(rows, i, -8 * y, 0))
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
    test(
      s"${kind.sql}, by ${kind.order}, ${if (codegen) "compiled" else "interpreted"}",
      each(5): _*
    ) {
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
        "EXPLAIN SELECT sum(x) OVER (PARTITION BY k, predicate_window(sum(x), s -> s < 9) " +
          "ORDER BY id) FROM items"
      )
      .head()
      .getString(0)
    assert(text.contains("over predicate_window(sum("), text)
  }
}

object WindowKindsSuite {

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

  def since(rows: IndexedSeq[Item], i: Int): Seq[Item] =
    rows.slice(math.max(0, rows.lastIndexWhere(_.p.contains(true), i)), i + 1)

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

  def session(
      rows: IndexedSeq[Item],
      i: Int,
      gap: Double,
      longest: Double = Double.PositiveInfinity
  ): Seq[Item] = {
    def isApart(j: Int, from: Int, distance: Double): Boolean =
      (rows(from).at, rows(j).at) match {
        case (Some(a), Some(b)) => math.abs(b - a) >= distance
        case (None, None)       => false
        case _                  => true
      }
    val start = (1 to i).foldLeft(0) { (start, j) =>
      if (isApart(j, j - 1, gap) || isApart(j, start, longest)) j else start
    }
    rows.slice(start, i + 1)
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
