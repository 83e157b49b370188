package io.sash.spark.lateral

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.udf

import io.sash.spark.base.SashConf

/** EXPLAIN's lines about correlated subqueries: each as the user wrote it, with its reason. */
final class LateralReasonsSuite extends LateralSuite {
  private val own = "e.k = l.k AND e.ts < l.ts"

  /** Queries, and the words that follow the subquery's in a line "left to Spark: ". */
  private val left: Seq[(String, String)] = Seq(
    // conditions on both rows
    "SELECT *, (SELECT count(*) FROM e WHERE e.k = l.k) AS n FROM l" ->
      "no range of the rows is compared with the outer row; Spark joins by the equal keys",
    "SELECT *, (SELECT count(*) FROM e WHERE e.k <> l.k) AS n FROM l" ->
      "(e.k <> l.k) is neither an equality of keys nor an end of a range",
    "SELECT *, (SELECT count(*) FROM e WHERE e.k <=> l.k AND l.x > 1) AS n FROM l" ->
      "no range of the rows is compared with the outer row",
    s"SELECT *, (SELECT count(*) FROM e WHERE $own AND e.x <> l.x) AS n FROM l" ->
      "(e.x <> l.x) is neither an equality of keys nor an end of a range",
    "SELECT *, (SELECT count(*) FROM e WHERE e.k = l.k OR e.ts < l.ts) AS n FROM l" ->
      ("((e.k = l.k) OR (e.ts < l.ts)) is neither an equality of keys nor an end of a range;" +
        " ask each side of OR in a subquery of its own"),
    "SELECT *, (SELECT count(*) FROM e WHERE e.k = l.k OR e.x = l.x) AS n FROM l" ->
      ("((e.k = l.k) OR (e.x = l.x)) is neither an equality of keys nor an end of a range; " +
        "ask each side of OR in a subquery of its own"),
    s"SELECT *, (SELECT count(*) FROM e WHERE $own AND e.x IN (l.x, l.id)) AS n FROM l" ->
      "(e.x IN (l.x, l.id)) is neither an equality of keys nor an end of a range",
    s"SELECT *, (SELECT count(*) FROM e WHERE $own AND e.s LIKE l.s) AS n FROM l" ->
      "e.s LIKE l.s is neither an equality of keys nor an end of a range",
    "SELECT *, (SELECT count(*) FROM e WHERE e.k = l.k AND e.x + l.x > 3) AS n FROM l" ->
      ("((e.x + l.x) > 3) is neither an equality of keys nor an end of a range; leave the " +
        "event's column alone on one side of the comparison"),
    s"SELECT *, (SELECT count(*) FROM e WHERE $own AND e.x + l.x > 3) AS n FROM l" ->
      "((e.x + l.x) > 3) is neither an equality of keys nor an end of a range",
    s"SELECT *, (SELECT count(*) FROM e WHERE $own AND abs(e.x - l.x) < 2) AS n FROM l" ->
      "(abs((e.x - l.x)) < 2) is neither an equality of keys nor an end of a range",
    "SELECT *, (SELECT count(*) FROM e WHERE e.k + l.k = 2 AND e.ts < l.ts) AS n FROM l" ->
      "((e.k + l.k) = 2) is neither an equality of keys nor an end of a range",
    s"SELECT *, (SELECT count(*) FROM e WHERE NOT ($own)) AS n FROM l" ->
      ("(NOT ((e.k = l.k) AND (e.ts < l.ts))) is neither an equality of keys nor an end of a" +
        " range"),
    s"SELECT *, (SELECT count(*) FROM e WHERE $own AND e.x > l.x) AS n FROM l" ->
      "ranges of two expressions, and a window has one: e.ts, e.x",
    s"SELECT *, (SELECT count(*) FROM e WHERE $own AND coalesce(e.x, l.x) > 1) AS n FROM l" ->
      "(coalesce(e.x, l.x) > 1) is neither an equality of keys nor an end of a range",
    ("SELECT *, (SELECT count(*) FROM e WHERE e.s COLLATE UTF8_LCASE <> l.s AND e.ts < " +
      "l.ts) AS n FROM l") ->
      "(collate(e.s, UTF8_LCASE) <> l.s) is neither an equality of keys nor an end of a range",
    s"SELECT *, (SELECT count(*) FROM e WHERE $own AND risky(e.x + l.x) > 1) AS n FROM l" ->
      "(risky((e.x + l.x)) > 1) is neither an equality of keys nor an end of a range",
    s"SELECT *, (SELECT count(*) FROM e WHERE $own AND rand(7) < 2) AS n FROM l" ->
      "(rand(7) < 2) is not deterministic; compute it as a column of a table before",
    // times
    ("SELECT *, (SELECT count(*) FROM e WHERE e.k = l.k AND months_between(l.ts, e.ts) < 2) " +
      "AS n FROM l") ->
      ("(months_between(l.ts, e.ts, true) < 2) is neither an equality of keys nor an end of " +
        "a range; leave the event's column alone on one side of the comparison"),
    ("SELECT *, (SELECT count(*) FROM e WHERE e.k = l.k AND timestampdiff(MONTH, e.ts, " +
      "l.ts) < 2) AS n FROM l") ->
      ("(timestampdiff(MONTH, e.ts, l.ts) < 2) is neither an equality of keys nor an end of " +
        "a range; MONTH has no fixed length; leave the event's column alone on one side of " +
        "the comparison"),
    ("SELECT *, (SELECT count(*) FROM e WHERE e.k = l.k AND datediff(l.d, e.d) BETWEEN 0 " +
      "AND l.x) AS n FROM l") ->
      ("(datediff(l.d, e.d) <= l.x) is neither an equality of keys nor an end of a range; " +
        "leave the event's column alone on one side of the comparison"),
    ("SELECT *, (SELECT count(*) FROM e WHERE e.k = l.k AND l.ts - e.ts < l.every AND e.ts " +
      "< l.ts) AS n FROM l") ->
      ("((l.ts - e.ts) < l.every) is neither an equality of keys nor an end of a range; " +
        "leave the event's column alone on one side of the comparison"),
    ("SELECT *, (SELECT count(*) FROM e WHERE e.k = l.k AND l.ts - e.ts < INTERVAL 1 HOUR " +
      "AND e.ts < l.ts) AS n FROM l") ->
      ("a difference of e.ts counts by the clock of Europe/Berlin, whose hours may come " +
        "twice. The other end is e.ts itself; compare it at both ends, as in e.ts >= l.ts - " +
        "INTERVAL 1 HOUR, or set spark.sql.session.timeZone to UTC"),
    ("SELECT *, (SELECT count(*) FROM e WHERE e.k = l.k AND unix_timestamp(l.ts) - " +
      "unix_millis(e.ts) < 9) AS n FROM l") ->
      ("((unix_timestamp(l.ts, 'yyyy-MM-dd HH:mm:ss') - unix_millis(e.ts)) < 9) is neither " +
        "an equality of keys nor an end of a range; leave the event's column alone on one " +
        "side of the comparison"),
    ("SELECT *, (SELECT count(*) FROM e WHERE e.k = l.k AND l.ts BETWEEN e.ts AND e.ts + " +
      "e.every) AS n FROM l") ->
      "ranges of two expressions, and a window has one: e.ts, e.ts + e.every",
    ("SELECT *, (SELECT count(*) FROM e WHERE e.k = l.k AND l.ts >= e.ts AND l.ts < e.ts + " +
      "INTERVAL 1 MONTH) AS n FROM l") ->
      ("ranges of two expressions, and a window has one: e.ts, e.ts + INTERVAL '1' MONTH; " +
        "leave e.ts alone at both ends"),
    ("SELECT *, (SELECT count(*) FROM e WHERE e.k = l.k AND date_trunc('DAY', e.ts) < l.ts " +
      "AND e.ts > l.ts - INTERVAL 2 DAYS) AS n FROM l") ->
      ("ranges of two expressions, and a window has one: date_trunc('DAY', e.ts), e.ts; " +
        "leave e.ts alone at both ends"),
    ("SELECT *, (SELECT count(*) FROM e WHERE e.t >= l.t - INTERVAL 1 DAY AND e.t < l.ts) " +
      "AS n FROM l") ->
      ("e.t is compared with values of two types: l.t - INTERVAL '1' DAY is of type " +
        "TIMESTAMP_NTZ, and l.ts of type TIMESTAMP; write CAST(l.t - INTERVAL '1' DAY AS " +
        "TIMESTAMP)"),
    "SELECT *, (SELECT count(*) FROM e WHERE e.x > l.v - 2 AND e.x <= l.x) AS n FROM l" ->
      ("e.x is compared with values of two types: l.x is of type INT, and (l.v - 2) of type " +
        "DOUBLE; write CAST(l.x AS DOUBLE)"),
    ("SELECT *, (SELECT count(*) FROM e WHERE e.k = l.k AND e.ts < l.d AND e.t < l.ts) AS n " +
      "FROM l") ->
      "ranges of two expressions, and a window has one: e.ts, e.t",
    ("SELECT *, (SELECT count(*) FROM e WHERE e.k = l.k AND trunc(e.d, 'MM') = trunc(l.d, " +
      "'MM')) AS n FROM l") ->
      "no range of the rows is compared with the outer row; Spark joins by the equal keys",
    // ends
    ("SELECT *, (SELECT count(*) FROM e WHERE e.k = l.k AND e.v > l.v - 2 AND e.v >= l.x " +
      "AND e.v < l.v) AS n FROM l") ->
      ("of several lower ends, one belongs to the range and another one does not: e.v > (l.v" +
        " - 2), e.v >= l.x; write > or >= in all"),
    ("SELECT *, (SELECT count(*) FROM e WHERE e.k = l.k AND e.s < l.s AND e.s <= " +
      "concat(l.s, 'a')) AS n FROM l") ->
      ("of several upper ends, one belongs to the range and another one does not: e.s < l.s," +
        " e.s <= concat(l.s, 'a'); write < or <= in all"),
    // forms of LATERAL
    s"SELECT * FROM l, LATERAL (SELECT e.x FROM e WHERE $own)" ->
      "it takes the rows as they are; aggregate them, or write ORDER BY … LIMIT 1",
    s"SELECT * FROM l, LATERAL (SELECT DISTINCT e.x FROM e WHERE $own)" ->
      "DISTINCT makes several rows; write an aggregate, as in collect_set",
    ("SELECT * FROM l, LATERAL (SELECT count(*) AS n FROM (SELECT DISTINCT e.x FROM e WHERE " +
      s"$own))") ->
      ("DISTINCT lies above a condition on the outer row; write DISTINCT in the aggregate, " +
        "as in count(DISTINCT …)"),
    s"SELECT * FROM l, LATERAL (SELECT e.x, count(*) AS n FROM e WHERE $own GROUP BY e.x)" ->
      ("GROUP BY e.x makes several rows; count one group by FILTER (WHERE …), or group in a " +
        "query around"),
    (s"SELECT * FROM l, LATERAL (SELECT e.k, e.x, max(e.v) AS n FROM e WHERE $own GROUP BY " +
      "e.k, e.x HAVING max(e.v) > 0)") ->
      ("GROUP BY e.x makes several rows; count one group by FILTER (WHERE …), or group in a " +
        "query around"),
    ("SELECT * FROM l, LATERAL (SELECT e.s FROM e WHERE lower(e.s) = l.s AND e.ts < l.ts " +
      "GROUP BY e.s)") ->
      ("GROUP BY e.s makes several rows; count one group by FILTER (WHERE …), or group in a " +
        "query around"),
    ("SELECT * FROM l, LATERAL (SELECT e.v, count(*) AS n FROM e WHERE e.v = l.v AND e.ts < " +
      "l.ts GROUP BY e.v)") ->
      ("its columns read e.v of a group, and unlike values of type DOUBLE may be equal; read" +
        " the key of the outer row"),
    ("SELECT * FROM l, LATERAL (SELECT max(n) AS m FROM (SELECT count(*) AS n FROM e WHERE " +
      s"$own GROUP BY e.x))") ->
      "GROUP BY or an aggregate lies above a condition on the outer row",
    s"SELECT * FROM l, LATERAL (SELECT e.x FROM e WHERE $own LIMIT 1)" ->
      "LIMIT 1 takes any row; write ORDER BY … LIMIT 1, or aggregate",
    s"SELECT * FROM l, LATERAL (SELECT e.x FROM e WHERE $own LIMIT 2)" ->
      "LIMIT 2 takes any rows; write ORDER BY … LIMIT 2, or aggregate",
    (s"SELECT * FROM l, LATERAL (SELECT e.x FROM e WHERE $own ORDER BY e.ts, e.x LIMIT 1 " +
      "OFFSET 1)") ->
      "OFFSET 1 leaves out the first rows; write ORDER BY … LIMIT without it",
    s"SELECT * FROM l, LATERAL (SELECT e.x FROM e WHERE $own ORDER BY e.ts, e.x OFFSET 1)" ->
      "OFFSET 1 leaves out the first rows; write ORDER BY … LIMIT without it",
    ("SELECT * FROM l, LATERAL (SELECT e.x FROM e WHERE e.k = l.k ORDER BY e.ts DESC, e.x " +
      "LIMIT 1)") ->
      "no range of the rows is compared with the outer row; Spark joins by the equal keys",
    (s"SELECT * FROM l, LATERAL (SELECT e.x, e.ts - l.ts AS d FROM e WHERE $own ORDER BY d, " +
      "e.x LIMIT 1)") ->
      "ORDER BY (e.ts - l.ts) ASC NULLS FIRST, e.x ASC NULLS FIRST reads the outer row",
    (s"SELECT * FROM l, LATERAL (SELECT count(*) AS n FROM (SELECT 1 FROM e WHERE $own UNION " +
      "ALL SELECT 2 FROM e WHERE e.k = l.k))") ->
      "UNION lies above a condition on the outer row; write the condition once, above UNION",
    ("SELECT * FROM l, LATERAL (SELECT count(*) AS n FROM e JOIN e AS f ON e.k = f.k AND " +
      "f.ts < l.ts WHERE e.k = l.k)") ->
      ("JOIN lies above a condition on the outer row; write the conditions on the outer row " +
        "in WHERE"),
    s"SELECT * FROM l, LATERAL (SELECT rank() OVER (ORDER BY e.ts) AS n FROM e WHERE $own)" ->
      ("OVER makes a row of each row; aggregate, or write ORDER BY … LIMIT 1\nRANK() ROWS " +
        "BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW: rank is a ranking or offset function, " +
        "not an aggregate"),
    ("SELECT * FROM l, LATERAL (SELECT max(n) AS m FROM (SELECT rank() OVER (ORDER BY e.ts) " +
      s"AS n FROM e WHERE $own))") ->
      ("OVER lies above a condition on the outer row\nRANK() ROWS BETWEEN UNBOUNDED " +
        "PRECEDING AND CURRENT ROW: rank is a ranking or offset function, not an aggregate"),
    s"SELECT * FROM l, LATERAL (SELECT explode(array(e.x, e.k)) AS n FROM e WHERE $own)" ->
      "it takes the rows as they are; aggregate them, or write ORDER BY … LIMIT 1",
    (s"SELECT * FROM l LEFT JOIN LATERAL (SELECT sum(e.x) AS n FROM e WHERE $own) AS f ON " +
      "f.n > (SELECT min(x) FROM e)") ->
      ("LEFT JOIN LATERAL has the condition (f.n > (SELECT min(x) FROM e)), which has a subquery;" +
        " compute that as a column before"),
    ("SELECT * FROM l LEFT JOIN LATERAL (SELECT * FROM (SELECT e.x FROM e WHERE " +
      s"$own ORDER BY e.v, e.ts LIMIT 2) AS f WHERE f.x NOT IN (SELECT id FROM l))") ->
      "a filter above LIMIT has IN with a subquery; compute that as a column of a table before",
    // scalar subqueries
    s"SELECT *, (SELECT e.x FROM e WHERE $own AND e.x > 99) AS n FROM l" ->
      "it takes the rows as they are; aggregate them, or write ORDER BY … LIMIT 1",
    (s"SELECT *, (SELECT e.x FROM e WHERE $own ORDER BY e.ts DESC, e.x LIMIT 2) AS n FROM l " +
      "WHERE id < 0") ->
      "a scalar subquery has one row; write LIMIT 1, or LATERAL for several rows",
    s"SELECT sum((SELECT count(*) FROM e WHERE $own)) AS n FROM l" ->
      "it stands in a query with GROUP BY or aggregates; compute it below",
    (s"SELECT id, CASE WHEN x > 1 THEN (SELECT e.x FROM e WHERE $own AND e.x > 99) ELSE 0 " +
      "END AS n FROM l") ->
      "it takes the rows as they are; aggregate them, or write ORDER BY … LIMIT 1",
    "SELECT id FROM l WHERE x > (SELECT max(e.x) FROM e WHERE e.k = l.k AND e.ts <> l.ts)" ->
      "(e.ts <> l.ts) is neither an equality of keys nor an end of a range",
    s"SELECT *, (SELECT count(*) FROM e WHERE $own GROUP BY e.k, e.x) AS n FROM l" ->
      ("GROUP BY e.x makes several rows; count one group by FILTER (WHERE …), or group in a " +
        "query around"),
    // EXISTS and IN
    s"SELECT * FROM l WHERE EXISTS (SELECT 1 FROM e WHERE $own AND e.x <> l.x)" ->
      "(e.x <> l.x) is neither an equality of keys nor an end of a range",
    ("SELECT *, (SELECT count(*) FROM e WHERE e.ts < l.ts AND (l.x > 1 OR EXISTS (SELECT 1 " +
      "FROM l AS f WHERE f.k = e.k))) AS n FROM l") ->
      ("((l.x > 1) OR EXISTS (SELECT 1 FROM l AS f WHERE f.k = e.k)) is neither an equality of keys nor an end of a " +
        "range; ask each side of OR in a subquery of its own\nno range of the rows is " +
        "compared with the outer row; Spark joins by the equal keys"),
    ("SELECT *, (SELECT count(*) FROM e WHERE e.ts < l.ts AND e.x + l.x > (SELECT max(f.x) " +
      "FROM l AS f)) AS n FROM l") ->
      "((e.x + l.x) > (SELECT max(f.x) FROM l AS f)) is neither an equality of keys nor an end of a range",
    "SELECT * FROM l WHERE EXISTS (SELECT 1 FROM e WHERE e.k = l.k OR e.ts < l.ts)" ->
      ("((e.k = l.k) OR (e.ts < l.ts)) is neither an equality of keys nor an end of a range;" +
        " ask each side of OR in a subquery of its own"),
    ("SELECT * FROM l WHERE NOT EXISTS (SELECT 1 FROM e WHERE e.k = l.k AND (e.ts < l.ts OR " +
      "e.ts > l.ts))") ->
      ("((e.ts < l.ts) OR (e.ts > l.ts)) is neither an equality of keys nor an end of a " +
        "range; ask each side of OR in a subquery of its own"),
    "SELECT * FROM l WHERE EXISTS (SELECT 1 FROM e WHERE e.k = l.k)" ->
      "no range of the rows is compared with the outer row; Spark joins by the equal keys",
    s"SELECT * FROM l WHERE EXISTS (SELECT max(e.x) FROM e WHERE $own HAVING max(e.x) > 1)" ->
      ("it asks for rows of an aggregate; compare a scalar subquery, or count groups in " +
        "LATERAL"),
    s"SELECT * FROM l WHERE x NOT IN (SELECT e.x FROM e WHERE $own)" ->
      ("NOT IN is NULL where the subquery has a NULL; if NULLs are to be skipped, write NOT " +
        "EXISTS with the equality among its conditions"),
    "SELECT * FROM l WHERE x NOT IN (SELECT e.x FROM e WHERE e.k = l.k)" ->
      "no range of the rows is compared with the outer row; Spark joins by the equal keys",
    s"SELECT * FROM l WHERE id > 2 OR x IN (SELECT e.x FROM e WHERE $own)" ->
      ("IN inside of an expression may be NULL; write EXISTS with the equality among its " +
        "conditions"),
    s"SELECT *, x IN (SELECT e.x FROM e WHERE $own) AS n FROM l" ->
      ("IN inside of an expression may be NULL; write EXISTS with the equality among its " +
        "conditions"),
    s"SELECT * FROM l WHERE x IN (SELECT max(e.x) FROM e WHERE $own)" ->
      ("it asks for rows of an aggregate; compare a scalar subquery, or count groups in " +
        "LATERAL"),
    s"SELECT * FROM l WHERE x IN (SELECT e.x FROM e WHERE $own LIMIT 5)" ->
      "LIMIT lies above a condition on the outer row",
    s"SELECT * FROM l WHERE (x, id) IN (SELECT e.x, e.id FROM e WHERE $own AND e.v <> l.v)" ->
      "(e.v <> l.v) is neither an equality of keys nor an end of a range",
    s"SELECT * FROM l WHERE EXISTS (SELECT 1 FROM e WHERE $own OFFSET 1)" ->
      "OFFSET lies above a condition on the outer row",
    s"SELECT l.id FROM l JOIN e AS f ON f.k = l.k AND EXISTS (SELECT 1 FROM e WHERE $own)" ->
      "it stands in a condition of JOIN; write it in WHERE, or in SELECT below",
    s"SELECT count(*) FILTER (WHERE EXISTS (SELECT 1 FROM e WHERE $own)) AS n FROM l" ->
      "it stands in a query with GROUP BY or aggregates; compute it below",
    ("SELECT * FROM l WHERE EXISTS (SELECT 1 FROM (SELECT * FROM l AS a WHERE a.k = l.k) AS " +
      "a WHERE a.x < (SELECT count(*) FROM e WHERE e.k = a.k AND e.ts < a.ts))") ->
      ("no range of the rows is compared with the outer row; Spark joins by the equal " +
        "keys\nit depends on rows of a query around the one that it stands in"),
    // joins that are grouped
    s"SELECT l.id, count(e.x) AS n FROM l LEFT JOIN e ON $own GROUP BY l.id" ->
      ("LEFT JOIN ON e.k = l.k AND e.ts < l.ts GROUP BY l.id: Spark joins the pairs, and " +
        "then groups them; if GROUP BY tells the left rows apart, write LATERAL (SELECT " +
        "count(e.x) … WHERE e.k = l.k AND e.ts < l.ts)"),
    ("SELECT l.id, l.ts, sum(e.x) AS n, max(e.v) AS m FROM l JOIN e ON e.k = l.k AND e.ts " +
      "BETWEEN l.ts - INTERVAL 7 DAYS AND l.ts GROUP BY l.id, l.ts") ->
      ("JOIN ON e.k = l.k AND e.ts >= l.ts - INTERVAL '7' DAY AND e.ts <= l.ts GROUP BY " +
        "l.id, l.ts: Spark joins the pairs, and then groups them; if GROUP BY tells the left " +
        "rows apart, write LATERAL (SELECT sum(e.x), max(e.v) … WHERE e.k = l.k AND e.ts >= " +
        "l.ts - INTERVAL '7' DAY AND e.ts <= l.ts HAVING count(*) > 0)")
  )

  /** Likewise of a line "slides: ". */
  private val taken: Seq[(String, String)] = Seq(
    "SELECT *, (SELECT count(*) FROM e WHERE e.ts < l.ts) AS n FROM l" ->
      "Growing window",
    s"SELECT *, (SELECT max(risky(e.x)) FROM e WHERE $own AND e.x > 0) FROM l" ->
      "Growing window",
    ("SELECT l.*, a.n, a.m FROM l, LATERAL (SELECT count(*) AS n, max(e.x) AS m FROM e " +
      "WHERE e.k = l.k AND e.ts >= l.ts - INTERVAL 7 DAYS AND e.ts < l.ts) AS a") ->
      "count(1) by Prefix aggregates; max(e.x) by B-Int",
    ("SELECT * FROM l LEFT JOIN LATERAL (SELECT e.x, e.ts AS at FROM e WHERE e.k <=> l.k " +
      "AND e.ts <= l.ts ORDER BY e.ts DESC LIMIT 1) AS a ON true") ->
      "Growing window",
    (s"SELECT * FROM l, LATERAL (SELECT e.x + 1 AS y FROM e WHERE $own ORDER BY e.v DESC, " +
      "e.ts LIMIT 2) AS a") ->
      "Growing window",
    ("SELECT * FROM l WHERE x > 0 AND EXISTS (SELECT 1 FROM e WHERE e.k = l.k AND l.ts - " +
      "e.ts < INTERVAL 2 DAYS)") ->
      "Prefix aggregates",
    s"SELECT * FROM l WHERE x IN (SELECT e.x FROM e WHERE $own)" ->
      "Growing window",
    s"SELECT * FROM l, LATERAL (SELECT count(*) AS n FROM e WHERE $own HAVING count(*) > 1)" ->
      "Growing window",
    (s"SELECT * FROM l, LATERAL (SELECT e.k AS j, count(*) AS n FROM e WHERE $own GROUP BY " +
      "e.k)") ->
      "Growing window",
    (s"SELECT * FROM l LEFT JOIN LATERAL (SELECT max(e.x) AS m FROM e WHERE $own GROUP BY " +
      "e.k, 'a' HAVING max(e.x) > 1) AS a ON true") ->
      "Growing window",
    s"SELECT *, (SELECT count(*) FROM e WHERE $own AND (e.x > 1 OR e.v > 1)) AS n FROM l" ->
      "Growing window",
    ("SELECT * FROM l, LATERAL (SELECT count(*) AS n FROM e WHERE e.k = l.k AND e.ts >= " +
      "window(l.ts, '1 day').start AND e.ts < l.ts)") ->
      "Prefix aggregates",
    "SELECT * FROM l, LATERAL rows_before(l.k, l.ts)" ->
      "Growing window",
    s"SELECT *, (SELECT count(*) FROM e WHERE $own GROUP BY e.k) AS n FROM l" ->
      "Growing window",
    ("SELECT * FROM l, LATERAL (SELECT count(*) AS n FROM e WHERE e.v = l.v AND e.ts < l.ts " +
      "GROUP BY e.v)") ->
      "Growing window",
    "SELECT *, (SELECT count(*) FROM e WHERE e.k = l.k AND e.every <= l.every) AS n FROM l" ->
      "Growing window",
    ("SELECT *, (SELECT count(*) FROM e WHERE e.s COLLATE UTF8_LCASE = l.s AND e.ts > l.ts " +
      "- INTERVAL 1 MONTH) AS n FROM l") ->
      "Prefix aggregates",
    (s"SELECT *, 1 + (SELECT count(*) FROM e WHERE $own AND e.ts >= l.ts - l.every AND e.ts " +
      "> l.ts - INTERVAL 9 DAYS) AS n FROM l") ->
      "Prefix aggregates",
    (s"SELECT *, (SELECT sum(e.x) FROM e WHERE $own) AS n, (SELECT sum(e.x) FROM e WHERE " +
      s"$own AND l.x > 1) AS m FROM l") ->
      "Growing window\nPrefix aggregates"
  )

  private def table(name: String, rows: Seq[String]): Unit = spark
    .sql(
      s"""SELECT id, k, ts, nullif(x, 3) AS x, s, CAST(ts AS DATE) AS d, double(x) AS v,
         |  CAST(ts AS TIMESTAMP_NTZ) AS t, make_dt_interval(x) AS every
         |FROM VALUES ${rows.mkString(", ")} AS r(id, k, ts, x, s)""".stripMargin
    )
    .createOrReplaceTempView(name)

  private def withTables(body: => Unit): Unit = withSettings(
    "spark.sql.shuffle.partitions" -> "1",
    "spark.sql.adaptive.enabled" -> "false",
    "spark.sql.codegen.wholeStage" -> "false",
    "spark.sql.codegen.factoryMode" -> "NO_CODEGEN"
  ) {
    spark.udf.register("risky", udf((x: Int) => if (x == 13) sys.error("risky") else x))
    val rows = (1 to 5).map { i =>
      s"($i, ${i % 2}, TIMESTAMP'2026-03-0$i 00:00:00', ${i % 4}, 's$i')"
    }
    table("l", rows)
    table("e", rows)
    spark.sql(
      "CREATE OR REPLACE TEMPORARY FUNCTION rows_before(k INT, at TIMESTAMP) " +
        "RETURNS TABLE (n BIGINT) RETURN SELECT count(*) FROM e " +
        "WHERE e.k = rows_before.k AND e.ts < rows_before.at"
    )
    body
  }

  private def lines(frame: DataFrame): Seq[String] =
    told(frame).linesIterator.filterNot(_.startsWith("ordering: ")).toSeq

  private def checkLines(found: Seq[String], query: String, word: String, words: String): Unit = {
    val all = words.split("\n").toSeq
    assert(found.length == all.length, found)
    found.zip(all).foreach { case (line, how) =>
      val text = line.stripPrefix(word).stripSuffix(s": $how").stripPrefix("LATERAL ")
      val written = text.stripPrefix("(").stripSuffix(")")
      assert(line == word + how || line.endsWith(s": $how") && query.contains(written), line)
    }
  }

  test("each reason, and the plan that Spark makes by itself") {
    withTables {
      for ((query, why) <- left) withClue(s"$query\n") {
        def plan(frame: DataFrame) = frame.queryExecution.optimizedPlan
        val frame = spark.sql(query)
        checkLines(lines(frame), query, "left to Spark: ", why)
        // Spark names the column anew that an EXISTS in an expression becomes
        val isSame = plan(frame).sameResult(withSash(enabled = false)(plan(spark.sql(query))))
        if (!isSame) check(spark.sql(query))
      }
    }
  }

  test("each subquery that runs as a window") {
    withTables {
      for ((query, how) <- taken) withClue(s"$query\n") {
        val found = lines(check(spark.sql(query))).filterNot(_.startsWith("in one task: "))
        checkLines(found, query, "slides: ", how)
      }
    }
  }

  test("with labels switched off, and on again") {
    withTables {
      val ofRange =
        spark.sql(s"SELECT * FROM l, LATERAL (SELECT count(*) AS n FROM e WHERE $own)")
      val ofKeys = spark.sql("SELECT * FROM l WHERE EXISTS (SELECT 1 FROM e WHERE e.k = l.k)")
      def said(frame: DataFrame) = lines(frame.select("*")).mkString
      val keys = said(ofKeys)
      assert(said(ofRange).startsWith("slides: LATERAL"))
      withSettings(SashConf.LateralEnabled.key -> "false") {
        assert(
          said(ofRange) == "left to Spark: LATERAL (SELECT count(*) AS n FROM e WHERE " +
            s"$own): spark.sash.lateral.enabled is false"
        )
        assert(said(ofKeys) == keys)
      }
      assert(said(ofRange).startsWith("slides: LATERAL"))
    }
  }
}
