package io.sash.spark.slices

import scala.util.Random

import org.apache.spark.sql.Row

import org.scalatest.tagobjects.Slow

import io.sash.spark.Thorough
import io.sash.spark.base.SashConf
import io.sash.spark.lateral.LateralSuite

/**
 * Random queries over labels and events give the same rows with and without slices. The answers
 * without slices are compared with Spark's in `LateralWindowsSuite`.
 */
final class SliceLawsSuite extends LateralSuite {
  private val seed = 20261128L

  private val hour = "TIMESTAMP'2026-03-28 22:00:00' + INTERVAL '1' HOUR * "

  /** The values of a type of time, distances that can be added, and a distance of the label's. */
  private val times: Seq[(String, Seq[String], Seq[String], String)] = Seq(
    (
      "TIMESTAMP",
      (0 to 30).map(h => s"$hour$h"),
      Seq("INTERVAL 3 HOURS", "INTERVAL 1 DAY", "INTERVAL '1' MONTH", "INTERVAL 1 SECOND"),
      "make_dt_interval(0, w)"
    ),
    (
      "TIMESTAMP_NTZ",
      (0 to 30).map(h => s"$hour$h"),
      Seq("INTERVAL 3 HOURS", "INTERVAL 1 DAY"),
      "make_dt_interval(0, w)"
    ),
    (
      "DATE",
      (1 to 15).map(d => s"DATE'2026-02-${d + 12}'"),
      Seq("INTERVAL 2 DAYS", "3", "INTERVAL '1' MONTH"),
      "w"
    ),
    ("BIGINT", (-3 to 12).map(_.toString), Seq("3", "0", "5"), "w"),
    ("INT", (-3 to 12).map(_.toString), Seq("3", "1"), "w")
  )

  private val keyTypes: Seq[(String, Seq[String])] = Seq(
    "BIGINT" -> Seq("1", "2", "3", "-1", "0", "NULL"),
    "BIGINT" -> Seq("1", "2"),
    "INT" -> Seq("1", "2", "-3", "NULL"),
    "DATE" -> Seq("'2026-01-01'", "'1969-12-31'", "NULL"),
    "STRING" -> Seq("'x'", "'y'", "'a longer key than eight bytes'", "''", "NULL"),
    "DOUBLE" -> Seq("0.0", "-0.0D", "'NaN'", "1.5", "NULL"),
    "DECIMAL(20, 1)" -> Seq("1.5", "2", "NULL"),
    "BOOLEAN" -> Seq("true", "false", "NULL"),
    "BINARY" -> Seq("'x'", "''", "NULL"),
    "STRING COLLATE UTF8_LCASE" -> Seq("'x'", "'X'", "'y'", "NULL"),
    "STRING COLLATE UNICODE_CI" -> Seq("'x'", "'X'", "'y'", "NULL"),
    "STRING COLLATE UTF8_BINARY_RTRIM" -> Seq("'x'", "'x '", "'y'", "NULL")
  )

  private val aggregates = Seq(
    "count(*)",
    "count(e.x)",
    "sum(e.x)",
    "sum(e.big)",
    "sum(e.d)",
    "sum(e.m)",
    "avg(e.x)",
    "avg(e.d)",
    "avg(e.m)",
    "max(e.x)",
    "min(e.s)",
    "max(e.s)",
    "stddev(e.x)",
    "corr(e.x, e.d)",
    "regr_slope(e.x, e.d)",
    "skewness(e.d)",
    "sum(e.x) FILTER (WHERE e.b)",
    "min(e.d) FILTER (WHERE e.x > 1)",
    "coalesce(sum(e.x), 0) + count(*)",
    "bool_or(e.b)",
    "bit_xor(e.x)",
    "max(struct(e.x, e.s))",
    "max_by(e.s, e.id)",
    "min_by(e.x, e.id)",
    "count_if(e.b)",
    "try_sum(e.x)",
    "max_n(e.x, 2)",
    "count(e.x, e.s)",
    "sum(e.x - 1)",
    "min(e.t)",
    "approx_count_distinct(e.x)",
    "approx_count_distinct(e.s) FILTER (WHERE e.b)",
    "hll_sketch_estimate(hll_sketch_agg(e.x))",
    "hll_sketch_estimate(hll_sketch_agg(e.s) FILTER (WHERE e.x > 1))",
    "count_min_sketch(e.x, 0.1d, 0.9d, 1)",
    "bitmap_count(bitmap_construct_agg(bitmap_bit_position(abs(e.x))))",
    "upper(max(e.c))",
    "max(struct(e.m, e.y))",
    "sum(e.y)",
    "max(e.y) FILTER (WHERE e.b)"
  )

  /** Aggregates that slices do not combine. */
  private val whole = Seq("median(e.x)", "count(DISTINCT e.x)", "sort_array(collect_list(e.x))")

  /** Bytes are compared by their values, and 0 by a slope of some 1e-16. */
  private def shown(rows: Seq[Row]): Seq[String] = sorted(rows.map { row =>
    Row.fromSeq(row.toSeq.map {
      case bytes: Array[Byte]               => bytes.toSeq
      case d: Double if math.abs(d) < 1e-12 => 0.0
      case other                            => other
    })
  })

  private final class Draw(random: Random) {
    def one[T](of: Seq[T]): T = of(random.nextInt(of.length))
    def in(n: Int): Boolean = random.nextInt(n) == 0

    private val (timeType, timesOf, plus, own) = one(times)
    private val keys = Seq.fill(1 + random.nextInt(2))(one(keyTypes))

    private def table(name: String, rows: Int, more: Seq[(String, Seq[String])]): Unit = {
      val instants = timesOf ++ Seq.fill(random.nextInt(3))("NULL")
      val columns = keys.zipWithIndex.map { case ((t, values), i) =>
        (s"k$i", t, if (in(2)) values else values.filterNot(_ == "NULL"))
      } :+ (("t", timeType, if (in(2)) instants else instants.filterNot(_ == "NULL")))
      val all = columns.map { case (n, t, values) =>
        n -> values.map(v => s"CAST($v AS $t)")
      } ++ more
      val text = Seq.tabulate(rows) { i =>
        (all.map { case (_, values) => one(values) } :+ s"$i").mkString("(", ", ", ")")
      }
      val names = (all.map(_._1) :+ "id").mkString(", ")
      spark
        .sql(s"SELECT * FROM VALUES ${text.mkString(", ")} AS r($names)")
        .repartition(1 + random.nextInt(3))
        .createOrReplaceTempView(name)
    }

    def tables(): Unit = {
      def of(sqlType: String, values: String*) = values.map(v => s"CAST($v AS $sqlType)")
      table("labels", one(Seq(1, 3, 15)), Seq("w" -> of("INT", "1", "2", "NULL", "-1")))
      val events = Seq(
        "x" -> of("INT", "1", "2", "3", "-4", "NULL"),
        "big" -> of("BIGINT", "1", "9000000000000000000", "NULL", "-9000000000000000000"),
        "d" -> of("DOUBLE", "1", "0.5", "2", "NULL"),
        "m" -> of("DECIMAL(12, 2)", "1.25", "-3", "NULL"),
        "s" -> of("STRING", "'p'", "'a longer one'", "NULL", "'q'"),
        "b" -> of("BOOLEAN", "true", "false", "NULL"),
        "c" -> of("STRING COLLATE UTF8_LCASE", "'p'", "'P'", "'q'", "NULL"),
        "y" -> of("INTERVAL DAY TO SECOND", "INTERVAL '1' DAY", "INTERVAL '-5' DAY", "NULL")
      )
      table("events", one(Seq(20, 60)), events)
      table("others", 12, events)
    }

    private def value: String = random.nextInt(6) match {
      case 0 | 1     => "l.t"
      case 2 | 3 | 4 => s"l.t ${one(Seq("-", "-", "+"))} ${one(plus)}"
      case _         => s"l.t - $own"
    }

    private def range: Seq[String] = random.nextInt(6) match {
      case 0 => Seq(s"e.t ${one(Seq("<", "<=", ">", ">="))} $value")
      case 1 => Seq(s"e.t BETWEEN $value AND $value")
      case _ => Seq(s"e.t ${one(Seq(">", ">="))} $value", s"e.t ${one(Seq("<", "<="))} $value")
    }

    private def from: String = {
      val equal =
        if (in(10)) Nil
        else
          keys.indices.filterNot(_ => keys.length > 1 && in(4)).map { i =>
            if (in(3)) s"e.k$i <=> l.k$i" else s"l.k$i = e.k$i"
          }
      val more = Seq("e.x > 0", "e.b", "l.id < 7", "e.s IS NOT NULL").filter(_ => in(6))
      val both = "(SELECT * FROM events WHERE x < 3 UNION ALL SELECT * FROM others)"
      val table = one(
        Seq("events", "events", "others", "(SELECT * FROM events WHERE x < 3)", both)
      )
      s"FROM $table e WHERE ${(equal ++ range ++ more).mkString(" AND ")}"
    }

    private def some: Seq[String] =
      Seq.fill(1 + random.nextInt(4))(if (in(20)) one(whole) else one(aggregates))

    private def lateral(n: Int): String =
      if (in(3)) {
        val order = s"ORDER BY e.t ${one(Seq("DESC", "ASC"))}, e.id ${one(Seq("", "DESC"))}"
        s"LEFT JOIN LATERAL (SELECT e.id AS i$n, e.s AS s$n, e.t AS t$n $from $order " +
          s"LIMIT ${one(Seq(1, 1, 2, 5))}) ON true"
      } else if (in(4)) {
        s"LEFT JOIN LATERAL (SELECT e.t AS t$n $from ORDER BY e.t " +
          s"${one(Seq("DESC", "ASC"))} LIMIT 1) ON true"
      } else {
        val named = some.zipWithIndex.map { case (a, i) => s"$a AS a${n}_$i" }
        val having = if (in(8)) " HAVING count(*) > 1" else ""
        s"LEFT JOIN LATERAL (SELECT ${named.mkString(", ")} $from$having) ON true"
      }

    def query: String = {
      val labels =
        if (in(6)) "(SELECT * FROM labels UNION ALL SELECT * FROM labels WHERE id < 3)"
        else "labels"
      if (in(6)) s"SELECT l.*, (SELECT ${one(aggregates)} $from) AS q FROM $labels l"
      else if (in(8)) s"SELECT * FROM $labels l WHERE EXISTS (SELECT 1 $from)"
      else s"SELECT * FROM $labels l ${(0 to random.nextInt(3)).map(lateral).mkString(" ")}"
    }
  }

  for (part <- 1 to 3) test(s"random queries, part $part", Slow +: each(3): _*) {
    var (all, sliced) = (0, 0)
    for (n <- 1 to Thorough.times(160)) {
      val draw = new Draw(new Random(seed + 1000 * part + n))
      val zone = draw.one(Seq("UTC", "Europe/Berlin"))
      withSettings(
        "spark.sql.session.timeZone" -> zone,
        "spark.sql.codegen.wholeStage" -> draw.one(Seq("true", "false")),
        "spark.sql.adaptive.enabled" -> draw.one(Seq("true", "false")),
        "spark.sql.shuffle.partitions" -> draw.one(Seq("1", "2", "20")),
        "spark.sql.codegen.factoryMode" -> draw.one(Seq("FALLBACK", "NO_CODEGEN"))
      ) {
        draw.tables()
        val query = draw.query
        withClue(s"part $part, query $n, zone $zone: $query\n") {
          val expected = withSettings(SashConf.LateralSliceThreshold.key -> "-1") {
            scala.util.Try(spark.sql(query).collect().toSeq)
          }
          withSettings(
            SashConf.LateralSliceThreshold.key -> "0",
            SashConf.LateralSliceLimit.key -> draw.one(Seq("1MB", "1MB", "1MB", "40"))
          ) {
            val frame = spark.sql(query)
            val actual = scala.util.Try(frame.collect().toSeq)
            (expected, actual) match {
              case (scala.util.Success(e), scala.util.Success(a)) =>
                assert(shown(a) == shown(e), told(frame))
              case (scala.util.Success(_), scala.util.Failure(e)) => fail(e)
              case _                                              => ()
            }
            all += 1
            if (told(frame).contains("events are combined by")) sliced += 1
          }
        }
      }
    }
    info(s"$sliced of $all queries with slices")
    assert(sliced > all / 3)
  }
}
