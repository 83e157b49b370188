package io.sash.spark.ordering

import scala.collection.mutable
import scala.util.Random

import org.apache.spark.sql.{Column, DataFrame, Encoder, Encoders, Row}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.expressions.Window
import org.apache.spark.sql.functions._

import org.scalatest.tags.Slow

import io.sash.spark.{CheckedExec, CheckedPromises, SashSuite, Thorough}
import io.sash.spark.base.SashConf
import io.sash.spark.plan.SlidingWindowExec

/**
 * The law of promises: whatever is above and below a sliding window, the rows come in the order
 * and the partitions that its operators promise, and the query's answer is Spark's, in order where
 * the query orders it.
 */
@Slow
class PromisesSuite extends SashSuite {
  private val seed = 20261122L

  private implicit val pairs: Encoder[(Int, Long)] =
    Encoders.tuple(Encoders.scalaInt, Encoders.scalaLong)
  private implicit val ints: Encoder[Int] = Encoders.scalaInt
  private implicit val texts: Encoder[(Int, String)] =
    Encoders.tuple(Encoders.scalaInt, Encoders.STRING)
  private implicit val triples: Encoder[(Int, Long, Int)] =
    Encoders.tuple(Encoders.scalaInt, Encoders.scalaLong, Encoders.scalaInt)
  private var windowsSeen = 0

  private def looks(random: Random, plans: RandomPlans): Seq[Look] = {
    val order = plans.sort()
    val n = 1 + random.nextInt(60)
    Seq(
      Look("collect", ordered = false, _.collect().toSeq),
      Look("ORDER BY", ordered = true, _.orderBy(order: _*).collect().toSeq),
      Look("LIMIT", ordered = true, _.orderBy(order: _*).limit(n).collect().toSeq),
      Look("OFFSET", ordered = true, _.orderBy(order: _*).offset(n).collect().toSeq),
      Look(
        "OFFSET LIMIT",
        ordered = true,
        _.orderBy(order: _*).offset(9).limit(n).collect().toSeq
      ),
      Look("tail", ordered = true, _.orderBy(order: _*).tail(n).toSeq),
      Look("take", ordered = true, _.orderBy(order: _*).take(n).toSeq),
      Look("sortWithinPartitions", ordered = false, withinPartitions(_, order)),
      Look("files", ordered = false, written(_, order)),
      Look(
        "GROUP BY",
        ordered = false,
        _.groupBy("a", "b")
          .agg(max(col("n").cast("string")), sum("n"))
          .collect()
          .toSeq
      ),
      Look("DISTINCT", ordered = false, _.select("a", "b", "n").distinct().collect().toSeq),
      Look("rdd", ordered = false, _.rdd.collect().toSeq),
      Look("mapGroups", ordered = false, groups),
      Look("cogroup", ordered = false, cogroups),
      Look(
        "window",
        ordered = false,
        _.selectExpr("id", "sum(n) OVER (PARTITION BY a ORDER BY b, c, id)")
          .collect()
          .toSeq
      )
    )
  }

  /** The rows, each partition found to be in order. */
  private def withinPartitions(frame: DataFrame, order: Seq[Column]): Seq[Row] = {
    val rows =
      frame.sortWithinPartitions(order: _*).withColumn("p", spark_partition_id()).collect().toSeq
    assertSorted(rows.groupBy(_.getInt(6)).values, order)
    rows.map(r => Row.fromSeq(r.toSeq.init))
  }

  /** The rows of the files, each file found to be in order. */
  private def written(frame: DataFrame, order: Seq[Column]): Seq[Row] = {
    val path = java.nio.file.Files.createTempDirectory("promises").resolve("files").toString
    frame.sortWithinPartitions(order: _*).write.parquet(path)
    val files = new java.io.File(path).listFiles().filter(_.getName.endsWith(".parquet"))
    val rows = files.toSeq.map(f => spark.read.parquet(f.getPath).coalesce(1).collect().toSeq)
    assertSorted(rows, order)
    rows.flatten
  }

  private def assertSorted(parts: Iterable[Seq[Row]], order: Seq[Column]): Unit = parts.foreach {
    rows =>
      if (rows.nonEmpty) {
        val again = spark
          .createDataFrame(spark.sparkContext.parallelize(rows, 1), rows.head.schema)
          .orderBy(order: _*)
          .collect()
          .toSeq
        assert(rows == again, s"not sorted by $order")
      }
  }

  private def groups(frame: DataFrame): Seq[Any] = frame
    .select("a", "n")
    .as[(Int, Long)]
    .groupByKey(_._1)
    .mapGroups((key, rows) => (key, rows.map(_._2).toSeq.sorted.mkString(" ")))
    .collect()
    .toSeq

  private def cogroups(frame: DataFrame): Seq[Any] = {
    val rows = frame.select("a", "n").as[(Int, Long)]
    rows
      .groupByKey(_._1)
      .cogroup(rows.filter(_._2 % 2 == 0).groupByKey(_._1)) { (key, all, even) =>
        Iterator((key, all.map(_._2).sum, even.size))
      }
      .collect()
      .toSeq
  }

  private val settings = Seq(
    "spark.sql.adaptive.enabled" -> Seq("true", "false"),
    "spark.sql.codegen.wholeStage" -> Seq("true", "true", "false"),
    "spark.sql.execution.useHashAggregateExec" -> Seq("true", "false"),
    "spark.sql.execution.useObjectHashAggregateExec" -> Seq("true", "false"),
    "spark.sql.execution.replaceHashWithSortAgg" -> Seq("true", "false"),
    "spark.sql.execution.topKSortFallbackThreshold" -> Seq("2147483647", "0"),
    "spark.sql.execution.removeRedundantSorts" -> Seq("true", "true", "false"),
    "spark.sql.autoBroadcastJoinThreshold" -> Seq("-1", "10485760"),
    "spark.sql.shuffle.partitions" -> Seq("1", "3"),
    "spark.sql.adaptive.coalescePartitions.enabled" -> Seq("true", "false"),
    "spark.sql.optimizer.windowGroupLimitThreshold" -> Seq("1000", "-1"),
    SashConf.OrderingEnabled.key -> Seq("true", "true", "false")
  )

  private def answer(
      look: Look,
      plan: (DataFrame => Unit) => DataFrame,
      enabled: Boolean
  ): Seq[Any] =
    withSash(enabled) {
      val cached = mutable.Buffer.empty[DataFrame]
      try look.rows(plan(df => if (enabled) cached += df.cache()))
      finally cached.foreach(_.unpersist(blocking = true))
    }

  /** Watches the queries that run, and checks what [[CheckedExec]] saw of them. */
  private def checking[T](body: => T): T = {
    val plans = mutable.Buffer.empty[SparkPlan]
    val listener = new org.apache.spark.sql.util.QueryExecutionListener {
      override def onSuccess(
          name: String,
          done: org.apache.spark.sql.execution.QueryExecution,
          nanos: Long
      ): Unit = plans.synchronized(plans += done.executedPlan)
      override def onFailure(
          name: String,
          failed: org.apache.spark.sql.execution.QueryExecution,
          error: Exception
      ): Unit = ()
    }
    spark.listenerManager.register(listener)
    try {
      val result = CheckedPromises.whileOn(body)
      org.apache.spark.sash.TestInternals.waitForListeners(spark.sparkContext)
      val checked = plans
        .synchronized(plans.toSeq)
        .flatMap(p => collectWithSubqueries(p) { case c: CheckedExec => c })
      checked.foreach { c =>
        val broken = CheckedPromises.broken(c)
        assert(broken.isEmpty, s"$broken\n$c")
      }
      windowsSeen += checked.count(c =>
        c.child.isInstanceOf[SlidingWindowExec] && c.rowsSeen.value > 0
      )
      result
    } finally spark.listenerManager.unregister(listener)
  }

  private def sorted(rows: Seq[Any]): Seq[String] = rows.map(_.toString).sorted

  private def check(look: Look, plan: (DataFrame => Unit) => DataFrame): Unit = {
    val expected = answer(look, plan, enabled = false)
    val actual = checking(answer(look, plan, enabled = true))
    if (look.ordered) assert(actual == expected)
    else assert(sorted(actual) == sorted(expected))
  }

  for (part <- 1 to 6) test(s"random plans, part $part", each(6): _*) {
    windowsSeen = 0
    val count = if (Thorough.isOn) 20 else 10
    for (n <- 1 to count) {
      val random = new Random(seed + 1000 * part + n)
      val plans = new RandomPlans(random)
      val chosen = settings.map { case (key, values) =>
        (key, values(random.nextInt(values.length)))
      }
      val plan = {
        val choices = random.nextLong()
        (kept: DataFrame => Unit) => new RandomPlans(new Random(choices)).plan(kept)(spark)
      }
      val all = looks(random, plans)
      val look = all(random.nextInt(all.length))
      withClue(s"seed $seed, part $part, plan $n, ${look.name}, ${chosen.mkString(", ")}\n") {
        withSettings(chosen: _*)(check(look, plan))
      }
    }
    assert(windowsSeen >= count * 3 / 4, "vacuous: windows of Sash ran in few of the plans")
  }

  for (part <- 1 to 3)
    test(s"random plans with ties over one sorted partition, part $part", each(3): _*) {
      windowsSeen = 0
      val count = if (Thorough.isOn) 20 else 10
      for (n <- 1 to count) {
        val random = new Random(seed + 10000 * part + n)
        val chosen = settings.map { case (key, values) =>
          (key, values(random.nextInt(values.length)))
        } :+ ("spark.sql.shuffle.partitions" -> "1")
        val choices = random.nextLong()
        val plan = (_: DataFrame => Unit) =>
          new RandomPlans(new Random(choices), ties = true).plan(_ => ())(spark)
        val order = new RandomPlans(random).sort().init
        val look = random.nextInt(3) match {
          case 0 => Look("ORDER BY", ordered = false, _.orderBy(order: _*).collect().toSeq)
          case 1 =>
            Look("ORDER BY id", ordered = true, _.orderBy(order :+ col("id"): _*).collect().toSeq)
          case _ => Look("collect", ordered = false, _.collect().toSeq)
        }
        withClue(s"seed $seed, part $part, plan $n, ${look.name}, ${chosen.mkString(", ")}\n") {
          withSettings(chosen: _*)(check(look, plan))
        }
      }
      assert(windowsSeen >= count * 3 / 5, "vacuous: windows of Sash ran in few of the plans")
    }

  private val base = "SELECT id, pmod(hash(id), 7) AS k, pmod(hash(id, 1), 40) AS o, " +
    "pmod(hash(id, 2), 3) AS a, pmod(hash(id, 3), 4) AS b, pmod(hash(id, 4), 5) AS c"

  /** Rows that a window finds in one partition, or in ranges. */
  private val inputs: Seq[(String, () => DataFrame)] = Seq(
    ("one slice", () => spark.sql(s"$base FROM range(0, 200, 1, 1)")),
    ("coalesce(1)", () => spark.sql(s"$base FROM range(0, 200, 1, 3)").coalesce(1)),
    ("repartition(1)", () => spark.sql(s"$base FROM range(0, 200, 1, 3)").repartition(1)),
    ("LIMIT", () => spark.sql(s"$base FROM range(0, 500, 1, 3) ORDER BY id LIMIT 200")),
    (
      "a window of all rows",
      () =>
        spark.sql(s"SELECT *, row_number() OVER (ORDER BY id) AS r FROM ($base FROM range(200))")
    ),
    (
      "ranges",
      () => spark.sql(s"$base FROM range(0, 200, 1, 3)").repartitionByRange(3, col("k")).as("x")
    )
  )

  private val sums = sum("id").over(Window.partitionBy("k").orderBy("o", "id").rowsBetween(-2, 0))

  for ((name, input) <- inputs; adaptive <- Seq("true", "false"))
    test(
      s"ORDER BY, OFFSET, tail and files above a window over $name, AQE $adaptive",
      each(5): _*
    ) {
      val order = Seq(col("k"), col("o"), col("id"))
      val frame = (_: DataFrame => Unit) =>
        input().select(Seq("id", "k", "o", "a", "b").map(col) :+ sums.as("n"): _*)
      withSettings("spark.sql.adaptive.enabled" -> adaptive) {
        for (threshold <- Seq("0", "2147483647"))
          withSettings("spark.sql.execution.topKSortFallbackThreshold" -> threshold) {
            val looks = Seq[DataFrame => DataFrame](
              _.orderBy(order: _*),
              _.orderBy("k", "o").select("k", "o"),
              _.orderBy(col("k").desc, col("o"), col("id")),
              _.orderBy(order: _*).limit(20),
              _.orderBy(order: _*).offset(150),
              _.orderBy(order: _*).offset(15).limit(20)
            )
            for (look <- looks)
              check(Look("rows", ordered = true, look(_).collect().toSeq), frame)
          }
        check(Look("tail", ordered = true, _.orderBy(order: _*).tail(20).toSeq), frame)
        check(Look("files", ordered = false, written(_, order)), frame)
        check(Look("cache", ordered = true, cachedThenSorted(_, order)), frame)
      }
    }

  private def cachedThenSorted(frame: DataFrame, order: Seq[Column]): Seq[Any] = {
    val cached = frame.cache()
    try cached.orderBy(order: _*).collect().toSeq
    finally cached.unpersist(blocking = true)
  }

  private val neighbours = Seq(
    "sum(id) OVER (PARTITION BY a, b ORDER BY c, id ROWS 2 PRECEDING)" ->
      "sum(id) OVER (PARTITION BY a ORDER BY b, c, id ROWS 2 PRECEDING)",
    "row_number() OVER (ORDER BY a, b, c, id)" ->
      "sum(id) OVER (PARTITION BY a ORDER BY b, c, id ROWS 2 PRECEDING)",
    "row_number() OVER (PARTITION BY a ORDER BY b, c, id)" ->
      "sum(id) OVER (PARTITION BY a, b ORDER BY c, id ROWS 2 PRECEDING)",
    "sum(id) OVER (ORDER BY a, b, c, id ROWS 2 PRECEDING)" ->
      "sum(id) OVER (PARTITION BY a, b, c ORDER BY id ROWS 2 PRECEDING)"
  )

  for ((one, other) <- neighbours; (x, y) <- Seq((one, other), (other, one)))
    test(
      s"windows of one SELECT whose sort columns are one sequence: $x beside $y",
      each(3): _*
    ) {
      for (slices <- Seq(1, 3); adaptive <- Seq("true", "false"))
        withSettings("spark.sql.adaptive.enabled" -> adaptive) {
          val query = s"SELECT id, $x AS x, $y AS y FROM ($base FROM range(0, 300, 1, $slices))"
          check(Look("rows", ordered = false, _.collect().toSeq), _ => spark.sql(query))
        }
    }

  test("a user's sort below a window stays, and its order reaches the files") {
    val frame = (_: DataFrame => Unit) =>
      spark
        .sql(s"$base FROM range(0, 300, 1, 3)")
        .repartition(2, col("k"))
        .sortWithinPartitions("k", "o", "id")
        .select(Seq("id", "k", "o", "a", "b").map(col) :+ sums.as("n"): _*)
    check(Look("rows", ordered = true, _.collect().toSeq), frame)
  }

  test("a plan runs in a thread that has no active session") {
    for (adaptive <- Seq("true", "false"))
      withSettings("spark.sql.adaptive.enabled" -> adaptive) {
        val over = "OVER (PARTITION BY k ORDER BY o"
        val query = s"SELECT id, row_number() $over), sum(id) $over ROWS 2 PRECEDING) " +
          s"FROM ($base FROM range(50))"
        val rdd = spark.sql(query).rdd
        var counted = 0L
        val thread = new Thread(() => {
          org.apache.spark.sql.SparkSession.clearActiveSession()
          counted = rdd.count()
        })
        thread.start()
        thread.join()
        assert(counted == 50)
      }
  }
}

/** What a user looks at: rows, and whether their order matters. */
private final case class Look(name: String, ordered: Boolean, rows: DataFrame => Seq[Any])
