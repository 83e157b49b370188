package io.sash.spark.features

import org.apache.spark.sql.{DataFrame, SparkSession}
import org.apache.spark.sql.execution.ExplainMode

import io.sash.spark.{Explain, SashExtensions}

/** What a user sees on another Spark: one line an answer, for [[OtherSparkSuite]] to read. */
object OtherSparkMain {

  /** @param args settings, as key=value */
  def main(args: Array[String]): Unit = {
    val builder = SparkSession
      .builder()
      .master("local[1]")
      .config("spark.ui.enabled", "false")
      .config("spark.sql.shuffle.partitions", "1")
      .config("spark.sql.extensions", classOf[SashExtensions].getName)
      .config("spark.sql.extendedExplainProviders", classOf[Explain].getName)
    args.map(_.split("=")).foreach { case Array(key, value) => builder.config(key, value) }
    val spark = builder.getOrCreate()
    spark.range(6).selectExpr("id", "id % 2 k", "timestamp_seconds(id) ts").createTempView("t")
    say("window", spark.sql(windows))
    say("hops", spark.sql(hops))
    say("geometric_mean", spark.sql("SELECT geometric_mean(id + 1) BETWEEN 2.9 AND 3.0 FROM t"))
    say(
      "kind",
      spark.sql("SELECT sum(id) OVER (PARTITION BY k, delta_window(id, 2) ORDER BY id) FROM t")
    )
    say("lateral", spark.sql(lateral))
    say("stream", stream(spark))
    spark.stop()
  }

  private val windows =
    "SELECT id, sum(id) OVER (PARTITION BY k ORDER BY id ROWS 1 PRECEDING) s FROM t"

  private val hops =
    "SELECT count(*) n FROM t GROUP BY window(ts, '4 seconds', '2 seconds') ORDER BY n"

  private val lateral = "SELECT l.id, f.s FROM t l, LATERAL " +
    "(SELECT sum(e.id) s FROM t e WHERE e.k = l.k AND e.id >= l.id - 2 AND e.id <= l.id) f"

  private def stream(spark: SparkSession): DataFrame = {
    val rows = spark.readStream.format("rate").load().withWatermark("timestamp", "0 seconds")
    rows.selectExpr("timestamp AS ts").createOrReplaceTempView("s")
    spark.sql("SELECT count(*) OVER (ORDER BY ts ROWS 1 PRECEDING) FROM s")
  }

  private def say(name: String, query: => DataFrame): Unit =
    try {
      val frame = query
      if (!frame.isStreaming) {
        val rows = frame.collect().map(_.mkString(" ")).sorted.mkString(", ")
        println(s"$name rows: $rows")
        val text = frame.queryExecution.explainString(ExplainMode.fromString("formatted"))
        val extended =
          text.split('\n').dropWhile(!_.contains("Extended Information (Sash)")).drop(1)
        extended.filter(_.nonEmpty).foreach(line => println(s"$name explain: $line"))
      } else {
        val isOurs = frame.queryExecution.analyzed.exists(_.nodeName == "TransformWithState")
        println(s"$name of Sash: $isOurs")
      }
    } catch {
      case e: Throwable =>
        println(s"$name error: ${e.getClass.getSimpleName} ${e.getMessage.replace('\n', ' ')}")
    }
}
