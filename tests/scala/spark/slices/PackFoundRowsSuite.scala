package io.sash.spark.slices

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.UnionExec
import org.apache.spark.sql.types.StructType

import io.sash.spark.base.SashConf
import io.sash.spark.lateral.LateralSuite

/** Found rows of many columns are one column in the exchange, and the answers stay. */
final class PackFoundRowsSuite extends LateralSuite {

  private val columns = Seq(
    "IF(id % 3 = 0, NULL, id) AS a",
    "IF(id % 7 = 0, NULL, concat('s', id)) AS b",
    "CAST(id AS DECIMAL(30, 2)) AS c",
    "IF(id % 5 = 0, NULL, array(id, NULL)) AS d",
    "IF(id % 2 = 0, NULL, named_struct('x', id, 'y', named_struct('z', 1))) AS st",
    "IF(id % 4 = 0, NULL, map('s', id)) AS m",
    "NULLIF(id * 2, 0) AS u",
    "id * 3 AS v",
    "id * 5 AS w",
    "id * 7 AS y",
    "id * 9 AS z"
  )

  private def tables(): Unit = {
    spark
      .sql(
        "SELECT id, CAST(id % 7 AS INT) AS k, IF(id % 11 = 0, NULL, id * 3) AS t, 's' AS b " +
          "FROM range(60)"
      )
      .repartition(3)
      .createOrReplaceTempView("labels")
    for ((name, rows) <- Seq("events" -> 80, "others" -> 20, "thirds" -> 30))
      spark
        .sql(
          s"SELECT CAST(id % 5 AS INT) AS k, IF(id % 13 = 0, NULL, id * 2) AS t, id AS o, " +
            s"${columns.mkString(", ")} FROM range($rows)"
        )
        .repartition(2)
        .createOrReplaceTempView(name)
  }

  private def of(name: String) = s"FROM $name e WHERE e.k = l.k AND e.t <= l.t"
  private def last(name: String, limit: Int = 1) =
    s"(SELECT e.* ${of(name)} ORDER BY e.t DESC, e.o LIMIT $limit)"
  private def value(name: String) =
    s"(SELECT (SELECT max(id) FROM labels) AS n ${of(name)} ORDER BY e.t DESC, e.o LIMIT 1)"

  /** The fields of each packed row, from the union's columns. */
  private def packed(frame: DataFrame): Seq[Seq[String]] =
    collect(frame.queryExecution.executedPlan) { case u: UnionExec => u.output }.flatten
      .filter(_.name == "row")
      .map(_.dataType.asInstanceOf[StructType].fieldNames.toSeq)

  private val all = Seq("k", "t", "o", "a", "b", "c", "d", "st", "m", "u", "v", "w", "y", "z")

  private val cases: Seq[(String, Seq[Seq[String]])] = Seq(
    s"SELECT l.id, f.* FROM labels l LEFT JOIN LATERAL ${last("events")} f ON true" -> Seq(all),
    s"SELECT l.*, f.* FROM labels l, LATERAL ${last("events")} f" -> Seq(all),
    s"SELECT l.id, f.* FROM labels l LEFT JOIN LATERAL ${last("events", 3)} f ON true" -> Seq(
      all
    ),
    s"SELECT l.id, f.* FROM labels l LEFT JOIN LATERAL ${last("events")} f ON f.a > 5" -> Seq(
      all
    ),
    // two tables
    s"SELECT l.id, f.*, g.a, g.b, g.c, g.d FROM labels l LEFT JOIN LATERAL ${last("events")} f " +
      s"ON true LEFT JOIN LATERAL ${last("others")} g ON true" ->
      Seq(all, Seq("a", "b", "c", "d")),
    // one row in two windows
    s"SELECT l.id, f.*, g.* FROM labels l LEFT JOIN LATERAL ${last("events")} f ON true " +
      s"LEFT JOIN LATERAL ${last("events", 2)} g ON true" -> Seq(all),
    // columns that other aggregates read, too
    s"SELECT l.id, f.*, g.s FROM labels l LEFT JOIN LATERAL ${last("events")} f ON true, " +
      s"LATERAL (SELECT sum(e.a) AS s ${of("events")}) g" -> Seq(all),
    s"SELECT l.id, (SELECT struct(e.*) ${of("events")} ORDER BY e.t, e.o LIMIT 1) AS r " +
      "FROM labels l" -> Seq(Seq("struct(k, t, o, a, b, c, d, st, m, u, v, w, y, z)")),
    // NULL in all columns is a row, too
    "SELECT l.id, f.r FROM labels l LEFT JOIN LATERAL (SELECT min_by(struct(e.a, e.b, e.d, " +
      s"e.st, e.m, e.u), e.o) AS r ${of("events")}) f ON true" ->
      Seq(Seq("a", "b", "d", "st", "m", "u")),
    // rows of two tables that read no column
    "SELECT l.id, f.r, g.n AS g, h.n AS h FROM labels l, LATERAL (SELECT max_by(struct(e.k, " +
      s"e.t, e.a, e.b, e.c, e.d, e.st, e.m), e.o) AS r ${of("events")}) f " +
      s"LEFT JOIN LATERAL ${value("others")} g LEFT JOIN LATERAL ${value("thirds")} h" ->
      Seq(Seq("k", "t", "a", "b", "c", "d", "st", "m")),
    // few columns, and two rows that share columns
    s"SELECT l.id, f.a, f.b FROM labels l, LATERAL ${last("events")} f" -> Nil,
    s"SELECT l.id, f.*, g.b, g.c, g.d, g.y FROM labels l, " +
      s"LATERAL ${last("events")} f, LATERAL ${last("events", 2)} g" -> Nil
  )

  for (((query, expected), n) <- cases.zipWithIndex; threshold <- Seq("-1", "0"))
    test(s"answers of packed rows, query $n, slices from $threshold", each(2): _*) {
      tables()
      withSettings(
        SashConf.LateralSliceThreshold.key -> threshold,
        "spark.sql.shuffle.partitions" -> "3",
        "spark.sql.mapKeyDedupPolicy" -> "LAST_WIN"
      ) {
        val frame = check(spark.sql(query))
        assert(sliding(frame).nonEmpty && !joinsPairs(frame), told(frame))
        if (threshold == "-1")
          assert(packed(frame) == expected, frame.queryExecution.executedPlan)
      }
    }

  test("a label carries one column, and those of the order, in place of all of the events") {
    tables()
    withSettings(SashConf.LateralSliceThreshold.key -> "-1") {
      val frame = spark.sql(cases.head._1)
      frame.collect()
      val union = collect(frame.queryExecution.executedPlan) { case u: UnionExec => u }.head
      assert(union.output.map(_.name) == Seq("id", "k", "t", "t", "o", "source", "row"), union)
    }
  }
}
