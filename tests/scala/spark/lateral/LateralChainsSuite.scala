package io.sash.spark.lateral

import scala.util.{Random, Try}

import org.apache.spark.sql.DataFrame

import org.scalatest.tagobjects.Slow

import io.sash.spark.Thorough

/**
 * Chains of correlated subqueries that read one another's answers, in each place where a name may
 * stand.
 */
final class LateralChainsSuite extends LateralSuite {
  private val seed = 20261127L

  import LateralChainsSuite._

  private def tables(random: Random): Unit = {
    def value(of: String*) = of(random.nextInt(of.length))
    def rows(n: Int)(row: Int => Seq[String]) =
      (1 to n).map(row(_).mkString("(", ", ", ")")).mkString(", ")
    val labels = rows(9) { i =>
      Seq(i.toString, value("1", "2", "NULL"), value("0", "3", "5", "9", "NULL"), value("1", "4"))
    }
    // an event's price follows from its key and time: it is one for all events that tie
    val events = rows(25) { i =>
      val (k, ts) = (random.nextInt(3), random.nextInt(10))
      Seq(i.toString, if (k == 0) "NULL" else s"$k", s"$ts", s"${(ts * 7 + k) % 5}")
    }
    def table(name: String, rows: String, columns: String) = spark
      .sql(s"SELECT * FROM VALUES $rows AS r($columns)")
      .repartition(2)
      .createOrReplaceTempView(name)
    table("l", labels, "id, k, ts, x")
    table("e", events, "id, k, ts, p")
  }

  private def drawn(random: Random): String = {
    val one = new Choice(random)
    val joins =
      (0 to 1 + random.nextInt(2)).map(n => lateral(n, (0 until n).map(i => s"f$i"), one))
    val last = s"f${joins.length - 1}"
    val (columns, where) = random.nextInt(4) match {
      case 0 => (s", (${subquery(Seq(last), one, "count(*)")}) q", "")
      case 1 => ("", s" WHERE (${subquery(Seq(last), one, "count(*)")}) > $last.c")
      case _ => ("", "")
    }
    s"SELECT *$columns FROM l ${joins.mkString(" ")}$where"
  }

  private def withPlainPlans(body: => Unit): Unit = withSettings(
    "spark.sql.codegen.wholeStage" -> "false",
    "spark.sql.adaptive.enabled" -> "false",
    "spark.sql.shuffle.partitions" -> "2"
  )(body)

  /** Runs a query with Sash on and off, with or without code generation. */
  private def compared(query: String, factory: String): Option[DataFrame] =
    withSettings("spark.sql.codegen.factoryMode" -> factory) {
      withClue(s"$query\n") {
        Try(withSash(enabled = false)(spark.sql(query).collect())).toOption.map { expected =>
          val frame = spark.sql(query)
          val actual =
            try frame.collect()
            catch { case e: Exception => fail(e) }
          assert(sorted(actual.toSeq) == sorted(expected.toSeq))
          frame
        }
      }
    }

  for (part <- 1 to 4) test(s"random chains, part $part", Slow +: each(4): _*)(withPlainPlans {
    var (ran, checked) = (0, 0)
    for (n <- 1 to Thorough.times(32)) {
      val random = new Random(seed + 1000 * part + n)
      tables(random)
      val query = drawn(random)
      withClue(s"part $part, query $n\n") {
        val factory = if (random.nextBoolean()) "FALLBACK" else "NO_CODEGEN"
        for (frame <- compared(query, factory)) {
          checked += 1
          if (sliding(frame).nonEmpty) ran += 1
        }
      }
    }
    info(s"$ran of $checked queries ran as windows")
    assert(checked > 4 && ran > checked * 8 / 10)
  })

  private val own = "e.k = l.k AND e.ts < l.ts"
  private val last = s"SELECT e.p, e.ts FROM e WHERE $own ORDER BY e.ts DESC LIMIT 1"

  /** Subqueries that read `a.c`, the number of events that an earlier one has counted. */
  private val places = Seq(
    "HAVING" -> s"SELECT max(e.p) t FROM e WHERE $own HAVING count(*) < a.c + 1",
    "a column above" -> s"SELECT z.c * a.s t FROM (SELECT count(*) c FROM e WHERE $own) z",
    "a filter above" ->
      s"SELECT * FROM (SELECT max(e.p) t FROM e WHERE $own) z WHERE z.t >= a.c",
    "a column of the last row" ->
      s"SELECT e.p - a.c t FROM e WHERE $own ORDER BY e.ts DESC LIMIT 1",
    "a column above the last row" -> s"SELECT z.p - a.c t FROM ($last) z",
    "a filter above the last row" -> s"SELECT z.p t FROM ($last) z WHERE z.p < a.c",
    "a condition" -> s"SELECT max(e.p) t FROM e WHERE $own AND a.c > 1",
    "a key" -> s"SELECT max(e.p) t FROM e WHERE $own AND e.p = a.c",
    "an end" -> s"SELECT max(e.p) t FROM e WHERE e.k = l.k AND e.ts <= a.c"
  )

  private val first = s"l, LATERAL (SELECT count(*) c, sum(e.p) s FROM e WHERE $own) a"

  for (some <- places.grouped(3))
    test(s"the answer before in ${some.map(_._1).mkString(", ")}", each(2): _*) {
      tables(new Random(seed))
      withPlainPlans {
        val queries = some.map(_._2)
        def joined(each: String) =
          queries.zipWithIndex.map { case (q, i) => each.format(q, i) }.mkString(" ")
        checkWindows(s"SELECT * FROM $first ${joined("JOIN LATERAL (%s) b%d")}")
        checkWindows(s"SELECT * FROM $first ${joined("LEFT JOIN LATERAL (%s) b%d ON true")}")
        checkWindows(s"SELECT l.*, a.c ${joined(", (%s) q%d")} FROM $first")
      }
    }

  test("an answer of the labels' own table")(withPlainPlans {
    tables(new Random(seed))
    spark.table("e").createOrReplaceTempView("again")
    tables(new Random(seed)) // the same rows, in columns of other ids
    val counts = for (events <- Seq("again", "e")) yield {
      s"(SELECT max(e.p) FROM $events e WHERE e.k = l.k AND e.ts < l.ts HAVING count(*) > l.p)"
    }
    checkWindows(s"SELECT *, ${counts.mkString(", ")} FROM e l")
  })
}

private object LateralChainsSuite {

  final class Choice(random: Random) {
    def apply[T](of: T*): T = of(random.nextInt(of.length))
    def in(n: Int): Boolean = random.nextInt(n) == 0
  }

  /** Conditions of a subquery that reads the answers `before`. */
  private def where(before: Seq[String], one: Choice): String = {
    val reads =
      for (f <- before if one.in(3))
        yield one(
          s"$f.c > 1",
          s"e.p = $f.c",
          s"e.p <=> $f.c",
          s"$f.t IS NOT NULL",
          s"e.ts >= $f.t - 4"
        )
    val upper = if (before.nonEmpty && one.in(3)) s"${one(before: _*)}.t" else "l.ts"
    val lower = if (reads.exists(_.startsWith("e.ts"))) Nil else Seq("e.ts > l.ts - 7")
    val range = s"e.ts ${one("<", "<=")} $upper" +: lower.filter(_ => one.in(2))
    val more = Seq("e.p > 0").filter(_ => one.in(3))
    ("e.k = l.k" +: (range ++ reads ++ more)).mkString(" AND ")
  }

  /** A column of an answer before, or a constant. */
  private def read(before: Seq[String], one: Choice): String =
    if (before.isEmpty || one.in(4)) "2" else s"${one(before: _*)}.${one("c", "t")}"

  def subquery(before: Seq[String], one: Choice, columns: String): String = {
    val having = if (one.in(2)) s" HAVING count(*) ${one("<", ">=")} ${read(before, one)}" else ""
    s"SELECT $columns FROM e WHERE ${where(before, one)}$having"
  }

  private def lateral(n: Int, before: Seq[String], one: Choice): String = {
    val found =
      if (one.in(3)) {
        val value = one("e.p", s"e.p + ${read(before, one)}")
        // rows that tie differ in nothing that is asked
        val order = one(Seq("ts"), Seq("ts", "p"), Seq("p", "ts"), Seq("p % 2", "ts"))
        val orders =
          order.map(o => s"e.$o ${one("", "DESC")} ${one("", "NULLS FIRST", "NULLS LAST")}")
        s"SELECT $value AS c, e.ts AS t FROM e WHERE ${where(before, one)} " +
          s"ORDER BY ${orders.mkString(", ")} LIMIT ${one(1, 1, 0, 2, 3)}"
      } else {
        // of the type of a price: by a key of another type Spark alone loses events
        subquery(before, one, "int(count(*)) AS c, max(e.ts) AS t")
      }
    // where columns above LIMIT read the row around, Spark alone loses events
    val known = if (found.contains("LIMIT")) Nil else before
    val (columns, above) = (one("*", s"z.c + ${read(known, one)} AS c, z.t"), one(true, false))
    val filter =
      if (above && one.in(2)) s" WHERE z.c ${one("<", ">")} ${read(known, one)}" else ""
    val query = if (above) s"SELECT $columns FROM ($found) z$filter" else found
    one(
      s"JOIN LATERAL ($query) f$n",
      s"LEFT JOIN LATERAL ($query) f$n ON true",
      s"LEFT JOIN LATERAL ($query) f$n ON f$n.t > 2 OR f$n.c < ${read(before, one)}",
      s"JOIN LATERAL ($query) f$n ON f$n.c > ${read(before, one)}"
    )
  }
}
