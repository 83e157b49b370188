package io.sash.spark.ordering

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.execution.{SimpleMode, SortExec}
import org.apache.spark.sql.execution.exchange.{Exchange, ReusedExchangeExec}
import org.apache.spark.sql.expressions.Window
import org.apache.spark.sql.functions.{col, sum}

import org.scalatest.tags.Slow

import io.sash.spark.{RowEquality, SashSuite, Thorough}
import io.sash.spark.base.SashConf

/** Rows ordered by hashing and adaptive sorting, against rows in Spark's order. */
@Slow
class OrderingSuite extends SashSuite {
  private val rows = 3000

  /** Columns of every kind of order, with ties, nulls and odd values; `id` tells rows apart. */
  private def table(keys: Int): String =
    s"""(SELECT id, pmod(hash(id), $keys) AS k, concat('key ', pmod(hash(id), $keys)) AS ks,
       |        IF(id % 11 = 0, NULL, pmod(hash(id, 1), 100)) AS i,
       |        IF(id % 13 = 0, NULL, hash(id, 2) * 4294967296L + id) AS l,
       |        IF(id % 7 = 0, NULL, lpad(string(pmod(hash(id, 3), 500)), 12, 'abcdefgh')) AS s,
       |        CASE id % 17 WHEN 0 THEN NULL WHEN 1 THEN double('NaN') WHEN 2 THEN -0.0D
       |          WHEN 3 THEN 0.0D WHEN 4 THEN double('-Infinity') ELSE hash(id, 4) / 8.0D END AS d,
       |        IF(id % 5 = 0, NULL, CAST(hash(id, 5) AS DECIMAL(38, 6)) / 7) AS big,
       |        CAST(hash(id, 6) AS DECIMAL(12, 2)) AS dec,
       |        timestamp_seconds(hash(id, 7)) AS ts, date_add(DATE'2020-01-01', hash(id) % 900) AS dt,
       |        id % 2 = 0 AS b, unhex(hex(hash(id, 8))) AS bin,
       |        struct(pmod(hash(id, 9), 20) AS a, hash(id, 10) AS b) AS st,
       |        array(pmod(hash(id, 11), 10), hash(id, 12)) AS arr
       |   FROM range(0, $rows, 1, 3))""".stripMargin

  private val columns =
    Seq("i", "l", "s", "d", "big", "dec", "ts", "dt", "b", "bin", "st", "arr")

  /** Each row's place shows in sums and firsts of what stands around it. */
  private def over(partition: String, order: String, keys: Int): String =
    s"""SELECT id, sum(id) OVER w AS around, first(id) OVER w AS oldest
       |  FROM ${table(keys)}
       |WINDOW w AS ($partition ORDER BY $order ROWS BETWEEN 3 PRECEDING AND 1 FOLLOWING)
       |""".stripMargin

  private def ordering(frame: DataFrame): Seq[OrderingExec] =
    collect(frame.queryExecution.executedPlan) { case o: OrderingExec => o }

  private def checkOrdered(query: String): Unit = {
    checkSlides(query)
    withClue(query)(assert(ordering(spark.sql(query)).nonEmpty, "vacuous: Spark sorted"))
  }

  for (column <- columns)
    test(s"by $column: both directions, nulls first and last", each(5): _*) {
      for (direction <- Seq("ASC", "DESC"); nulls <- Seq("FIRST", "LAST")) {
        checkOrdered(over("PARTITION BY k", s"$column $direction NULLS $nulls, id", keys = 10))
      }
    }

  test("by strings and binaries that begin alike: both directions, with nulls and without") {
    val text = "concat('2024-01-', substr(string(abs(hash(id, 13))), 1, id % 12))"
    for {
      value <- Seq(text, s"CAST($text AS BINARY)", s"IF(id % 9 = 0, NULL, $text)")
      direction <- Seq("ASC", "DESC")
    } checkOrdered(over("PARTITION BY k", s"$value $direction, id DESC", keys = 10))
    checkOrdered(
      "SELECT id, sum(id) OVER (PARTITION BY k ORDER BY o, id ROWS 3 PRECEDING) AS around " +
        s"FROM (SELECT id, k, $text AS o FROM ${table(keys = 10)})"
    )
  }

  test("by one column alone, whose ties keep the order of arrival as Spark's do") {
    for {
      column <- Seq("l", "i", "i DESC NULLS LAST", "ts DESC", "id", "coalesce(s, '') DESC", "bin")
      radix <- Seq("true", "false")
    } withSettings("spark.sql.sort.enableRadixSort" -> radix) {
      checkOrdered(over("PARTITION BY k", column, keys = 10))
    }
  }

  for (
    (name, partition, keys) <- Seq(
      ("no key", "", 1),
      ("one key", "PARTITION BY k", 1),
      ("a key for each row", "PARTITION BY k", Int.MaxValue),
      ("a key of strings", "PARTITION BY ks", 40),
      ("two keys", "PARTITION BY ks, b", 40),
      ("keys that are null", "PARTITION BY i", 1),
      ("a key of doubles", "PARTITION BY d", 1)
    )
  ) test(s"$name") {
    for (order <- Seq("id", "l, id", "s DESC, id")) checkOrdered(over(partition, order, keys))
  }

  test("by an order of descending and ascending columns") {
    checkOrdered(over("PARTITION BY k", "i DESC NULLS LAST, s, d DESC, id", keys = 5))
  }

  test("AQE on and off, code generation on and off") {
    for (adaptive <- Seq("true", "false"); codegen <- Seq("true", "false"))
      withSettings(
        "spark.sql.adaptive.enabled" -> adaptive,
        "spark.sql.codegen.wholeStage" -> codegen
      )(checkOrdered(over("PARTITION BY k", "l, id", keys = 10)))
  }

  private def metrics(query: String): Map[String, Long] = {
    val frame = spark.sql(query)
    frame.collect()
    val Seq(operator) = ordering(frame)
    operator.metrics.map { case (name, metric) => (name, metric.value) }
  }

  test("keys whose rows come in order are not sorted") {
    val input = s"(SELECT id, id % 10 AS k FROM range(0, $rows, 1, 1))"
    val inOrder =
      metrics(s"SELECT sum(id) OVER (PARTITION BY k ORDER BY id ROWS 3 PRECEDING) FROM $input")
    assert(inOrder("keys") == 10 && inOrder("keysSorted") == 0 && inOrder("rowsOutOfOrder") == 0)
    val late = metrics(
      "SELECT sum(id) OVER (PARTITION BY k ORDER BY IF(id = 1003, 0, id) ROWS 3 PRECEDING) " +
        s"FROM $input"
    )
    assert(late("keys") == 10 && late("keysSorted") == 1 && late("rowsOutOfOrder") == 1)
    val backwards = metrics(
      s"SELECT sum(id) OVER (PARTITION BY k ORDER BY id DESC ROWS 3 PRECEDING) FROM $input"
    )
    assert(backwards("keysSorted") == 10 && backwards("rowsOutOfOrder") == rows - 10)
    assert(backwards("peakMemory") > 0 && backwards("spillSize") == 0)
  }

  test("many keys, of which each bucket has several") {
    def byKeys(keys: Int): Map[String, Long] = metrics(
      "SELECT sum(id) OVER (PARTITION BY k ORDER BY id ROWS 3 PRECEDING) " +
        s"FROM (SELECT id, id * 7919 % $keys AS k FROM range(0, 40000, 1, 1))"
    )
    withSettings("spark.sql.shuffle.partitions" -> "1") {
      for (keys <- Seq(1, KeyedRows.Buckets, 10000, 40000)) {
        val found = byKeys(keys)
        assert(found("keys") == keys && found("tasksSortedBySpark") == 0)
        assert(found("keysSorted") == 0 && found("rowsOutOfOrder") == 0)
      }
      for (order <- Seq("id", "hash(id), id", "IF(id % 3 = 0, NULL, -id)")) {
        val query =
          "SELECT id, sum(id) OVER (" +
            s"PARTITION BY id * 7919 % 5000 ORDER BY $order ROWS 1 PRECEDING) AS c " +
            "FROM range(0, 12000, 1, 1)"
        checkOrdered(query)
        assert(metrics(query)("tasksSortedBySpark") == 0, "vacuous: Spark sorted")
      }
    }
  }

  test(
    "many keys that ascend in long runs are left to Spark's sort, which merges them",
    Thorough
  ) {
    def byKeys(key: String): Long = {
      val input = s"(SELECT id, $key AS k FROM range(0, 40000, 1, 1))"
      val query =
        s"SELECT id, sum(id) OVER (PARTITION BY k ORDER BY id ROWS 1 PRECEDING) FROM $input"
      checkOrdered(query)
      metrics(query)("tasksSortedBySpark")
    }
    withSettings("spark.sql.shuffle.partitions" -> "1") {
      Seq("id % 10000", "id % 1000", "id DIV 20").foreach(key => assert(byKeys(key) == 1, key))
      val others = Seq("id % 100", "id % 500", "id DIV 1000", "id * 7919 % 10000", "-id % 10000")
      others.foreach(key => assert(byKeys(key) == 0, key))
    }
  }

  private def explained(frame: DataFrame): String =
    frame.queryExecution.explainString(SimpleMode)

  private def assertKept(frame: DataFrame, why: KeptSort): Unit = {
    frame.collect()
    assert(sliding(frame).nonEmpty && ordering(frame).isEmpty)
    assert(collect(frame.queryExecution.executedPlan) { case s: SortExec => s }.nonEmpty)
    assert(explained(frame).contains(s"ordering: Spark's sort: ${why.reason}"), explained(frame))
  }

  private val plain = over("PARTITION BY k", "l, id", keys = 10)

  test("EXPLAIN tells which ordering runs") {
    for (adaptive <- Seq("true", "false")) {
      withSettings("spark.sql.adaptive.enabled" -> adaptive) {
        val text = explained(spark.sql(plain))
        assert(text.contains("ordering: hash + adaptive"), text)
        assert(text.contains("Ordering hash + adaptive ["), text)
        assert(!text.contains("Sort ["), text)
      }
    }
  }

  test("Spark's sort stays when the setting says so") {
    withSettings(SashConf.OrderingEnabled.key -> "false") {
      assertKept(spark.sql(plain), KeptSort.SwitchedOff)
      checkSlides(plain)
    }
  }

  test("rows that were in order before a shuffle are sorted behind it", Thorough) {
    def sorted(by: String*): DataFrame =
      spark
        .sql(s"SELECT *, k || 'x' COLLATE UTF8_LCASE AS ck FROM ${table(10)}")
        .repartition(3)
        .sortWithinPartitions(by.map(col): _*)
    for (adaptive <- Seq("true", "false"); ordering <- Seq("true", "false"))
      withSettings(
        "spark.sql.adaptive.enabled" -> adaptive,
        SashConf.OrderingEnabled.key -> ordering
      ) {
        def moving(over: String): String = s"sum(id) OVER ($over ROWS 3 PRECEDING) AS c"
        checkSlides(
          sorted("k", "l", "id").selectExpr("id", moving("PARTITION BY k ORDER BY l, id"))
        )
        checkSlides(sorted("l", "id").selectExpr("id", moving("ORDER BY l, id")))
        checkSlides(sorted("ck", "id").selectExpr("id", moving("PARTITION BY ck ORDER BY id")))
        checkSlides(
          sorted("k").selectExpr(
            "k",
            "count(*) OVER (PARTITION BY k ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS c"
          )
        )
      }
  }

  test("a sort within partitions moves below the window, and is the only one") {
    def sorted: DataFrame = spark
      .sql(
        "SELECT id, k, l, sum(id) OVER (PARTITION BY k ORDER BY l, id ROWS 3 PRECEDING) AS c " +
          s"FROM ${table(10)}"
      )
      .sortWithinPartitions("k", "l", "id")
    assertKept(sorted, KeptSort.SortedAbove)
    def places(frame: DataFrame): Seq[Row] = frame
      .selectExpr("monotonically_increasing_id() AS place", "id", "c")
      .collect()
      .toSeq
    val expected = withSash(enabled = false)(places(sorted))
    assert(RowEquality.difference(expected, places(sorted)).isEmpty)
  }

  test("the sort that an operator above needs of the keys moves below the window") {
    val join = s"""SELECT /*+ MERGE(b) */ a.id, a.around, b.n
                  |  FROM (SELECT id, k, sum(id) OVER (PARTITION BY k ORDER BY l, id
                  |          ROWS 3 PRECEDING) AS around FROM ${table(10)}) a
                  |  JOIN (SELECT k, count(*) AS n FROM ${table(10)} GROUP BY k) b ON a.k = b.k
                  |""".stripMargin
    withSettings("spark.sql.autoBroadcastJoinThreshold" -> "-1") {
      assertKept(spark.sql(join), KeptSort.SortedAbove)
      checkSlides(join)
    }
  }

  /** Calls of Spark's own kinds over the same key and order as a sliding one. */
  private val mixed = "sum(id) OVER (PARTITION BY k ORDER BY l, id ROWS 3 PRECEDING) AS a, " +
    "row_number() OVER w AS b, lag(id, 2) OVER w AS c, sum(id) OVER w AS d, " +
    "max(i) OVER (PARTITION BY k ORDER BY l, id ROWS BETWEEN UNBOUNDED PRECEDING AND " +
    "UNBOUNDED FOLLOWING) AS e, ntile(7) OVER w AS f, nth_value(s, 3) OVER w AS g"

  private def sorts(query: String): Int =
    collect(spark.sql(query).queryExecution.executedPlan) { case s: SortExec => s }.size

  test("Spark's windows over the same order share their sort with sliding ones") {
    val query = s"SELECT id, $mixed FROM ${table(10)} WINDOW w AS (PARTITION BY k ORDER BY l, id)"
    for (adaptive <- Seq("true", "false"); codegen <- Seq("true", "false"))
      withSettings(
        "spark.sql.adaptive.enabled" -> adaptive,
        "spark.sql.codegen.wholeStage" -> codegen
      ) {
        checkSlides(query)
        assert(sorts(query) == 1)
        assertKept(spark.sql(query), KeptSort.SortedBelow)
      }
  }

  test("Spark's windows above and below sliding ones, over one order") {
    val below = "SELECT id, k, l, row_number() OVER (PARTITION BY k ORDER BY l, id) AS r " +
      s"FROM ${table(10)}"
    val sliding = "SELECT *, sum(r) OVER (PARTITION BY k ORDER BY l, id ROWS 3 PRECEDING) AS a " +
      s"FROM ($below)"
    val above = s"SELECT *, rank() OVER (PARTITION BY k ORDER BY l, id) + a AS q FROM ($sliding)"
    for (query <- Seq(sliding, above)) {
      checkSlides(query)
      assert(sorts(query) == 1)
    }
  }

  test("sliding windows over one another order their rows once, if their orders agree") {
    val keys = Seq("k, b", "b, k")
    for (lower <- keys; upper <- keys) {
      val inner =
        s"SELECT *, sum(id) OVER (PARTITION BY $lower ORDER BY l, id ROWS 3 PRECEDING) " +
          s"AS a FROM ${table(10)}"
      val query =
        s"SELECT id, max(a) OVER (PARTITION BY $upper ORDER BY l ROWS 1 PRECEDING) AS m " +
          s"FROM ($inner)"
      checkSlides(query)
      assert(ordering(spark.sql(query)).size == 1 && sorts(query) == 0)
    }
  }

  test("a window of another order above keeps a sort of its own") {
    checkOrdered(
      "SELECT id, sum(id) OVER w AS s, row_number() OVER w2 AS r " +
        s"FROM ${table(10)} WINDOW w AS (PARTITION BY k ORDER BY l, id ROWS 3 PRECEDING), " +
        "w2 AS (PARTITION BY k ORDER BY id)"
    )
  }

  test("equal windows of a self-join share one shuffle") {
    val windows = s"SELECT id, k, $mixed FROM ${table(10)} " +
      "WINDOW w AS (PARTITION BY k ORDER BY l, id)"
    val query = s"WITH v AS ($windows) SELECT x.id, x.a, y.b FROM v x JOIN v y ON x.id = y.id"
    withSettings(
      "spark.sql.autoBroadcastJoinThreshold" -> "-1",
      "spark.sql.adaptive.enabled" -> "false"
    ) {
      checkSlides(query)
      def reused: Int = collect(spark.sql(query).queryExecution.executedPlan) {
        case r: ReusedExchangeExec => r
      }.size
      val ours = reused
      assert(ours == withSash(enabled = false)(reused) && ours > 0)
    }
  }

  test("where partitions are ranges of keys, ORDER BY moves its sort below the window") {
    val last = Window.partitionBy("k").orderBy("l", "id").rowsBetween(-3, 0)
    def frame: DataFrame = spark
      .sql(s"SELECT id, k, l FROM ${table(10)}")
      .repartitionByRange(3, col("k"))
      .select(col("id"), col("k"), sum("id").over(last).as("c"))
    checkSlides(frame)
    assert(ordering(frame).nonEmpty)
    def sorted: DataFrame = frame.orderBy("k")
    assertKept(sorted, KeptSort.SortedAbove)
    val keys = sorted.collect().map(_.getInt(1)).toSeq
    assert(keys == keys.sorted)
    checkSlides(sorted)
  }

  test("Spark's sort stays for keys with a collation, whose equal strings may hash apart") {
    val query = "SELECT id, sum(id) OVER (PARTITION BY c ORDER BY l, id ROWS 3 PRECEDING) AS s " +
      s"FROM (SELECT *, IF(b, upper(ks), ks) COLLATE UTF8_LCASE AS c FROM ${table(10)})"
    assertKept(spark.sql(query), KeptSort.Collated)
    checkSlides(query)
  }

  test("ORDER BY above a window is obeyed") {
    val query =
      "SELECT id, sum(id) OVER (PARTITION BY k ORDER BY l, id ROWS 3 PRECEDING) AS c, " +
        s"k, l FROM ${table(10)} ORDER BY k, l, id"
    val expected = withSash(enabled = false)(spark.sql(query).collect().toSeq)
    assert(spark.sql(query).collect().toSeq == expected)
    val alone = s"SELECT id, sum(id) OVER (ORDER BY l, id ROWS 3 PRECEDING) AS c, l " +
      s"FROM ${table(10)} ORDER BY l, id"
    val expectedAlone = withSash(enabled = false)(spark.sql(alone).collect().toSeq)
    assert(spark.sql(alone).collect().toSeq == expectedAlone)
  }

  test("rows of a table that is bucketed and sorted go straight through") {
    val input = spark.range(0, rows, 1, 1).selectExpr("id", "id % 10 AS k", "hash(id) AS o")
    try {
      input.write.bucketBy(4, "k").sortBy("k", "o", "id").saveAsTable("bucketed")
      withSettings("spark.sql.legacy.bucketedTableScan.outputOrdering" -> "true") {
        val query =
          "SELECT id, sum(id) OVER (PARTITION BY k ORDER BY o, id ROWS 3 PRECEDING) AS around " +
            "FROM bucketed"
        checkSlides(query)
        val frame = spark.sql(query)
        frame.collect()
        val moving = collect(frame.queryExecution.executedPlan) {
          case _: OrderingExec | _: SortExec | _: Exchange => ()
        }
        assert(moving.isEmpty, frame.queryExecution.executedPlan)
      }
    } finally spark.sql("DROP TABLE IF EXISTS bucketed")
  }

  test("a window without ORDER BY is Spark's to sort") {
    val frame = spark.sql(
      s"SELECT id, count(*) OVER (PARTITION BY k ROWS 3 PRECEDING) AS c FROM ${table(10)}"
    )
    assertKept(frame, KeptSort.NoOrder)
  }

  private val ofTies = "FROM (SELECT id, pmod(hash(id), 4) AS k, pmod(hash(id, 1), 9) AS o, " +
    "IF(id % 5 = 0, NULL, pmod(hash(id, 2), 9)) AS p, substr('abc', id % 3 + 1, 1) AS cate, " +
    "pmod(hash(id, 3), 1000) AS v FROM range(0, 400, 1, 1))"

  for {
    (over, isMoved) <- Seq(
      "sum(v) FILTER (WHERE cate = 'a') OVER (ORDER BY o ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)" -> false,
      "first(v) OVER (PARTITION BY k ORDER BY o RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)" -> false,
      "sum(v / 8D) OVER (PARTITION BY k ORDER BY o RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)" -> false,
      "collect_list(v) OVER (PARTITION BY k ORDER BY o RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)" -> false,
      "sum(v) OVER (PARTITION BY k ORDER BY o RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)" -> true,
      "max(cate) OVER (PARTITION BY k ORDER BY o RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)" -> true
    )
    adaptive <- Seq("true", "false")
  } test(
    s"a sort by more columns moves below a window that sees no ties: $over, AQE $adaptive",
    each(3): _*
  ) {
    val order = if (over.contains("PARTITION")) "k, o, cate, v, id" else "o, cate, v, id"
    val query = s"SELECT k, o, cate, $over AS n $ofTies ORDER BY $order"
    withSettings("spark.sql.adaptive.enabled" -> adaptive) {
      assert(spark.sql(query).collect().toSeq == withSash(enabled = false) {
        spark.sql(query).collect().toSeq
      })
      checkSlides(query)
      val kept = sliding(spark.sql(query)).flatMap(_.getTagValue(KeptSort.Tag))
      assert(kept.contains(KeptSort.SortedAbove) == isMoved)
    }
  }

  for (adaptive <- Seq("true", "false"))
    test(s"rows reach a window in the order of keys that Spark's plan has, AQE $adaptive") {
      val below =
        s"SELECT *, sum(v) OVER (PARTITION BY k ORDER BY o ROWS 1 PRECEDING) AS a $ofTies"
      val above = Seq(
        "sum(v) OVER (PARTITION BY cate ORDER BY o ROWS 1 PRECEDING)",
        "row_number() OVER (PARTITION BY cate ORDER BY o)"
      )
      withSettings("spark.sql.adaptive.enabled" -> adaptive) {
        for (call <- above) {
          val query = s"SELECT id, a, $call AS b FROM ($below)"
          checkSlides(query)
          val kept = sliding(spark.sql(query)).flatMap(_.getTagValue(KeptSort.Tag))
          assert(kept.contains(KeptSort.SeenAbove))
        }
        val blind = "count(*) OVER (PARTITION BY cate ORDER BY o RANGE 1 PRECEDING)"
        val query = s"SELECT id, a, $blind AS b FROM ($below)"
        checkSlides(query)
        assert(ordering(spark.sql(query)).length == 2)
      }
    }

  test(
    "Spark's radix sort, which moves ties where there are NULLs, sorts an order without keys"
  ) {
    val query = s"SELECT id, p, first(id) OVER (ORDER BY p ROWS 1 PRECEDING) AS a $ofTies"
    checkSlides(query)
    assertKept(spark.sql(query), KeptSort.NullsByRadix)
    withSettings("spark.sql.sort.enableRadixSort" -> "false")(checkOrdered(query))
    checkOrdered(s"SELECT id, first(id) OVER (ORDER BY id & 7 ROWS 1 PRECEDING) AS a $ofTies")
  }
}
