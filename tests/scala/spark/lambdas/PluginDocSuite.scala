package io.sash.spark.lambdas

import java.io.File
import java.nio.file.Files

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.{DataFrame, Encoders, Row, SparkSession, functions}
import org.apache.spark.sql.execution.ExtendedMode
import org.apache.spark.sql.expressions.Window
import org.apache.spark.sql.functions._

import io.sash.core.algebra.Aggregation
import io.sash.spark.SashSuite
import io.sash.spark.base.SashConf

/** The code in Scala and Java of two pages of docs, and a test that they have this code. */
class PluginDocSuite extends SashSuite {
  import PluginDocSuite._

  private def readings: DataFrame = spark.sql(
    """SELECT * FROM VALUES ('a', TIMESTAMP '2026-03-01 09:00:00', 2.0D),
      |  ('a', TIMESTAMP '2026-03-01 09:10:00', 8.0D), ('a', TIMESTAMP '2026-03-01 10:00:00', 5.0D)
      |AS readings(sensor, ts, celsius)""".stripMargin
  )

  private def only(rows: DataFrame): Seq[Row] = {
    assert(sliding(rows).length == 1)
    rows.collect().toSeq
  }

  test("a session that names the extension") {
    assert(builder != null)
  }

  test("windows") {
    val last100 = Window.partitionBy("sensor").orderBy("ts").rowsBetween(-99, 0)
    val smoothed = readings.select(col("ts"), avg("celsius").over(last100).as("mean"))
    assert(only(smoothed).map(_.getDouble(1)) == Seq(2.0, 5.0, 5.0))
  }

  test("a kind of window") {
    val session =
      Window
        .partitionBy(col("sensor"), call_function("gap_window", lit("30 minutes")))
        .orderBy("ts")
    val levels = readings.select(
      count("*").over(session).as("n"),
      call_function("geometric_mean", col("celsius")).over(session).as("level")
    )
    assert(only(levels).map(_.getLong(0)) == Seq(1, 2, 1))
    val inJava = only(PluginUser.sessions(readings))
    assert(inJava.map(_.getLong(0)) == Seq(1, 2, 1))
  }

  test("EXPLAIN and settings") {
    withSettings(SashConf.Enabled.key -> "true", Provider -> "") {
      spark.conf.set("spark.sql.extendedExplainProviders", "io.sash.spark.Explain")
      val total = readings.select(sum("celsius").over(Window.orderBy("ts")))
      val explained = total.queryExecution.explainString(ExtendedMode)
      assert(explained.contains("left to Spark"))
      spark.conf.set(SashConf.Enabled.key, "false")
      assert(sliding(readings.select(avg("celsius").over(Window.orderBy("ts")))).isEmpty)
    }
  }

  test("an aggregate as a class") {
    spark
      .sql("SELECT * FROM VALUES (1, 'sash'), (2, 'in'), (3, 'windows') AS words(ts, word)")
      .createOrReplaceTempView("words")
    val longest = new CoreAggregator(Longest, Encoders.STRING, Encoders.scalaInt)
    spark.udf.register("longest_word", functions.udaf(longest))
    val rows = spark.sql(
      "SELECT ts, longest_word(word) OVER (ORDER BY ts ROWS 1 PRECEDING) AS n FROM words"
    )
    assert(only(rows).map(_.getInt(1)) == Seq(4, 4, 7))
    PluginUser.register(spark)
    val inJava = only(
      spark.sql("SELECT longest_in_java(word) OVER (ORDER BY ts ROWS 1 PRECEDING) FROM words")
    )
    assert(inJava.map(_.getInt(0)) == Seq(4, 4, 7))
  }

  test("the pages have no other code") {
    val pages = Seq("installation", "own-aggregates").map(name => lines(s"docs/$name.md"))
    Seq("scala" -> "PluginDocSuite.scala", "java" -> "PluginUser.java").foreach {
      case (language, file) =>
        val code = lines(s"tests/scala/spark/lambdas/$file").map(_.trim)
        val found = pages.map(blocks(_, s"```$language"))
        assert(found.forall(_.nonEmpty) && found.flatten.length >= 3)
        found.flatten.foreach(b => assert(code.containsSlice(b.map(_.trim)), s"in $file"))
    }
  }
}

private object PluginDocSuite {
  private val Provider = "spark.sql.extendedExplainProviders"

  def builder: SparkSession.Builder =
    SparkSession.builder().config("spark.sql.extensions", "io.sash.spark.SashExtensions")

  object Longest extends Aggregation[String, String, Int] {
    override def identity: String = ""
    override def lift(in: String): String = in
    override def combine(older: String, younger: String): String =
      if (younger.length > older.length) younger else older
    override def lower(longest: String): Int = longest.length
  }

  private def lines(path: String): Seq[String] = {
    val here = Iterator.iterate(new File("").getCanonicalFile)(_.getParentFile)
    Files.readAllLines(here.map(new File(_, path)).find(_.exists).get.toPath).asScala.toSeq
  }

  /** The lines of each block of a language. */
  private def blocks(page: Seq[String], open: String): Seq[Seq[String]] =
    page.indices.filter(page(_) == open).map(i => page.drop(i + 1).takeWhile(_ != "```"))
}
