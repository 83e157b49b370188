package io.sash.spark.plan

import java.util.ServiceLoader

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.{DataFrame, SparkSessionExtensionsProvider}
import org.apache.spark.sql.execution.{SortExec, WholeStageCodegenExec}
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.execution.window.WindowExec

import io.sash.spark.{SashExtensions, SashSuite}
import io.sash.spark.ordering.OrderingExec

/** What is planned: which windows are whose, and how often rows are sorted and shuffled. */
class PlanSuite extends SashSuite {
  private val window = "(PARTITION BY k ORDER BY id"
  private val table = "(SELECT id, id % 3 AS k, id * 7 % 5 AS x FROM range(50))"
  private val slides = s"sum(x) OVER $window ROWS 3 PRECEDING)"

  private def counts(frame: DataFrame): (Int, Int, Int, Int) = {
    frame.collect()
    val plan = frame.queryExecution.executedPlan
    (
      sliding(plan).size,
      collect(plan) { case w: WindowExec => w }.size,
      collect(plan) {
        case s: SortExec     => s
        case o: OrderingExec => o
      }.size,
      collect(plan) { case e: ShuffleExchangeExec => e }.size
    )
  }

  private val others = Seq(
    s"row_number() OVER $window) AS a",
    s"lag(x) OVER $window) AS b",
    s"sum(x) OVER $window) AS c",
    s"nth_value(x, 2) OVER $window) AS d",
    s"collect_list(x) OVER $window ROWS UNBOUNDED PRECEDING) AS e",
    s"max(x) OVER $window ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS f"
  )

  test("a node of moving frames alone is Sash's, with one sort and one shuffle") {
    val query = s"SELECT id, $slides AS s, avg(x) OVER $window RANGE BETWEEN 2 PRECEDING AND " +
      s"1 FOLLOWING) AS approx_a FROM $table"
    assert(counts(spark.sql(query)) == ((1, 0, 1, 1)))
    checkSlides(query)
  }

  for (other <- others) test(s"a mixed node is split, and one sort serves both: $other") {
    val query = s"SELECT id, $slides AS s, $other FROM $table"
    val (ours, theirs, sorts, shuffles) = counts(spark.sql(query))
    assert(ours == 1 && theirs >= 1 && sorts == 1 && shuffles == 1)
    checkSlides(query)
  }

  test("all kinds of calls in one query") {
    val query = s"SELECT id, ${others.mkString(", ")}, $slides AS s, 2 * $slides - id AS t, " +
      s"count(*) OVER $window ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING) AS u FROM $table"
    val (ours, _, sorts, shuffles) = counts(spark.sql(query))
    assert(ours == 1 && sorts == 1 && shuffles == 1)
    checkSlides(query)
  }

  test("the columns come in the order of the query, whoever computes them") {
    val query = s"SELECT row_number() OVER $window) AS a, $slides AS b, id, " +
      s"rank() OVER $window) AS c, max(x) OVER $window ROWS 1 PRECEDING) AS d FROM $table"
    val frame = spark.sql(query)
    assert(frame.columns.toSeq == Seq("a", "b", "id", "c", "d"))
    val off = withSash(enabled = false)(spark.sql(query).collect().toSet)
    assert(frame.collect().toSet == off)
  }

  test("windows of different partitions and orders are operators of their own") {
    val query = s"SELECT id, $slides AS a, sum(x) OVER (PARTITION BY x ORDER BY id ROWS 2 " +
      s"PRECEDING) AS b, sum(x) OVER (ORDER BY id DESC ROWS 2 PRECEDING) AS c FROM $table"
    assert(counts(spark.sql(query))._1 == 3)
    checkSlides(query)
  }

  test("a window over a window, and one under an aggregate") {
    val inner = s"SELECT id, k, $slides AS x FROM $table"
    checkSlides(s"SELECT id, max(x) OVER $window ROWS 4 PRECEDING) AS m FROM ($inner)")
    checkSlides(s"SELECT k, max(x) AS m, count(*) AS n FROM ($inner) GROUP BY k")
  }

  for (hint <- Seq("MERGE", "BROADCAST", "SHUFFLE_HASH"))
    test(s"two windows that are joined: $hint") {
      val inner = s"SELECT id, k, $slides AS x FROM $table"
      checkSlides(
        s"SELECT /*+ $hint(a) */ a.id, a.x, b.x AS y FROM ($inner) a JOIN ($inner) b " +
          "ON a.id = b.id + 1"
      )
      // joined by the key that both are partitioned and sorted by, without a sort between
      checkSlides(
        s"SELECT /*+ $hint(a) */ 100 * a.id + b.id AS id, a.x, b.x AS y " +
          s"FROM ($inner) a JOIN ($inner) b ON a.k = b.k"
      )
    }

  test("the operator takes part in whole-stage code generation, and works without it") {
    val frames = Seq("ROWS 3 PRECEDING", "ROWS BETWEEN 5 PRECEDING AND 2 PRECEDING")
    def fused(frame: String): Boolean = {
      val query = spark.sql(s"SELECT id, sum(x) OVER $window $frame) AS s FROM $table")
      query.collect()
      collect(query.queryExecution.executedPlan) { case w: WholeStageCodegenExec => w }
        .exists(_.find(_.isInstanceOf[SlidingWindowExec]).isDefined)
    }
    frames.foreach(f => assert(fused(f), f))
    withSettings("spark.sql.codegen.wholeStage" -> "false") {
      frames.foreach(f => assert(!fused(f), f))
    }
  }

  test("switched off, Spark plans as it would without Sash") {
    withSash(enabled = false) {
      val query = s"SELECT id, $slides AS s, ${others.head} FROM $table"
      assert(counts(spark.sql(query)) == ((0, 1, 1, 1)))
    }
  }

  test("on by the class path and by the setting at once, Sash plans a window once") {
    val provided = ServiceLoader.load(classOf[SparkSessionExtensionsProvider]).asScala
    assert(provided.exists(_.isInstanceOf[SashExtensions]), "META-INF/services")
    assert(spark.conf.get("spark.sql.extensions").contains(classOf[SashExtensions].getName))
    val query = s"SELECT id, $slides AS s FROM $table"
    assert(counts(spark.sql(query)) == ((1, 0, 1, 1)))
    assert(spark.sql("SELECT sash_version()").head().getString(0).nonEmpty)
  }
}
