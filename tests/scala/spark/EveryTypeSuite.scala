package io.sash.spark

import java.sql.Timestamp

import scala.util.Try

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.{AnalysisException, DataFrame, Encoders, Row}
import org.apache.spark.sql.classic
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.scalatest.tags.Slow

import io.sash.spark.names.AllSashFunctions

/**
 * Each aggregate over a value of each type, with DISTINCT and without: over frames, hop windows
 * and ranges of another table, in batch and on streams. Sash's answers are Spark's.
 */
@Slow
class EveryTypeSuite extends WhoRunsWhat {
  import EveryTypeSuite._
  import WhoRunsWhat._

  private lazy val events = {
    val rows =
      for (i <- 1 to 14)
        yield Event(
          i.toLong,
          Some(i % 2),
          Some(new Timestamp(1600000000000L + i * 1000L)),
          Seq(Some(1), Some(1), Some(2), Some(1), None, None, Some(2))(i % 7),
          i / 4.0,
          Seq("a", "A", "b")(i % 3)
        )
    spark.createDataFrame(rows)
  }

  private lazy val stream =
    MemoryStream[Event](Encoders.product[Event], spark).toDF().withWatermark("ts", "1 second")

  /** The names of all aggregates, of Spark's registry and Sash's own. */
  private lazy val aggregates: Seq[String] = {
    val registry = spark.asInstanceOf[classic.SparkSession].sessionState.functionRegistry
    val sparks = registry
      .listFunction()
      .filter(registry.lookupFunction(_).exists(_.getGroup == "agg_funcs"))
      .map(_.funcName)
    (sparks ++ AllSashFunctions.All.map(_.name)).distinct.sorted
  }

  private def typed(rows: DataFrame, value: String): DataFrame = {
    rows.createOrReplaceTempView("events")
    spark.sql(s"SELECT *, IF(x IS NULL, NULL, $value) AS c FROM events")
  }

  /** A call that the analyzer accepts over the rows, by itself or over a frame. */
  private def callOf(name: String, distinct: String, rows: DataFrame): Option[String] = {
    rows.createOrReplaceTempView("events")
    Arguments.map(a => a.replace("f", name).replace("DISTINCT", distinct)).find { call =>
      Try(spark.sql(s"SELECT $call FROM events")).isSuccess ||
      Try(spark.sql(over(Seq(call)))).isSuccess
    }
  }

  /** Why a wrong answer is not wrong, or the difference. */
  private def fault(door: Door, calls: Seq[String], rows: DataFrame): Option[String] = {
    rows.createOrReplaceTempView("events")
    def answers(query: String, sash: Boolean) =
      Try(withSash(sash)(known(spark.sql(query)).collect().toSeq.map(said).sorted)).toEither
    val actual = answers(door.query(calls), sash = true)
    answers(door.reference(calls), sash = false) match {
      case Right(expected) if !actual.contains(expected) =>
        if (calls.length > 1)
          calls.flatMap(c => fault(door, Seq(c), rows)).reduceOption(_ + "\n" + _)
        else
          Some(
            s"${door.name}: ${calls.head}\n  expected $expected\n  actually " +
              actual.fold(_.toString.take(300), _.toString)
          )
      // Spark's own aggregation fails, too
      case _ => None
    }
  }

  private def isSashs(door: Door, call: String, rows: DataFrame): Boolean =
    runs(door, call, rows).contains(true)

  /** Whether Sash runs a call; None if Spark's planning, which computes constants, fails. */
  private def runs(door: Door, call: String, rows: DataFrame): Option[Boolean] = {
    rows.createOrReplaceTempView("events")
    try {
      val plan = spark.sql(door.query(Seq(call))).queryExecution.sparkPlan.toString
      Some(plan.contains("SlidingWindow") || plan.contains("HopWindows"))
    } catch {
      case _: AnalysisException => Some(false)
      case _: SparkThrowable    => None
    }
  }

  /** Who runs a call on a stream, in append mode. */
  private def onStream(door: Door, call: String, value: String): Answer =
    streaming() {
      val rows = typed(stream, value)
      ask(door.query(Seq(call)), rows.limit(0), rows)(1)
    }

  /** The faults over a type. */
  private def faults(value: String, functions: Seq[String]): Seq[String] =
    withSettings(Settings: _*) {
      val rows = typed(events, value)
      for {
        distinct <- Seq("", "DISTINCT ")
        calls = functions.flatMap(callOf(_, distinct, rows))
        door <- Doors
        who = calls.map(call => call -> runs(door, call, rows))
        ours = who.collect { case (call, Some(true)) => call }
        fault <- fault(door, ours.filterNot(isOfOrder), rows).toSeq ++
          who.collect {
            // a stream answers no DISTINCT that batch does not
            case (call, Some(false))
                if distinct.nonEmpty && onStream(door, call, value) == Sash =>
              s"${door.name} on a stream: $call"
          }
      } yield fault
    }

  test("each type is there, and each has aggregates") {
    withSettings(Settings: _*) {
      for ((name, value) <- Types) withClue(name) {
        val rows = typed(events, value)
        assert(rows.schema("c").dataType.sql == name)
        assert(callOf("count", "DISTINCT ", rows).contains("count(DISTINCT c)"))
      }
      assert(aggregates.length > 120 && Sample.diff(aggregates) == Nil)
    }
  }

  test("DISTINCT is Sash's through each door, but for the types that bytes do not tell apart") {
    withSettings(Settings: _*) {
      for ((name, value) <- Types; door <- Doors) withClue(s"$name, ${door.name}: ") {
        val isOurs = !Untold.contains(name)
        val call = "count(DISTINCT c)"
        assert(isSashs(door, call, typed(events, value)) == isOurs)
        assert((onStream(door, call, value) == Sash) == isOurs)
      }
    }
  }

  for ((name, value) <- Types) {
    val tags = if (Untold(name) || Told(name)) Nil else Seq(Thorough)
    test(s"some aggregates of $name are Spark's", tags: _*) {
      assert(faults(value, Sample).mkString("\n") == "")
    }
  }

  for ((name, value) <- Types)
    test(s"all aggregates of $name are Spark's", Thorough) {
      assert(faults(value, aggregates).mkString("\n") == "")
    }

  test("a refusal names the type, and on streams a remedy") {
    val reason = "DISTINCT cannot tell values of type MAP<STRING, INT> apart by their bytes"
    val call = "count(DISTINCT c)"
    val rows = typed(events, "map('a', x)")
    for (door <- Doors.tail) withClue(door.name) {
      rows.createOrReplaceTempView("events")
      val plan = spark.sql(door.query(Seq(call))).queryExecution.executedPlan
      assert(new Explain().generateExtendedInfo(plan).contains(reason))
    }
    for (door <- Seq(Doors.head, Doors.last)) onStream(door, call, "map('a', x)") match {
      case Refused(why) => assert(why.contains(reason))
      case other        => fail(s"${door.name}: $other")
    }
  }
}

object EveryTypeSuite {

  private val Settings = Seq(
    "spark.sql.timeType.enabled" -> "true",
    "spark.sql.geospatial.enabled" -> "true",
    "spark.sql.adaptive.enabled" -> "false",
    "spark.sql.codegen.wholeStage" -> "false",
    "spark.sql.codegen.factoryMode" -> "NO_CODEGEN",
    "spark.sql.shuffle.partitions" -> "1"
  )

  /** For each type an expression over `x`, which is 1 or 2, and `s`: 'a', 'A' or 'b'. */
  private val Types: Seq[(String, String)] = Seq(
    "VOID" -> "NULL",
    "BOOLEAN" -> "x = 1",
    "TINYINT" -> "tinyint(x)",
    "SMALLINT" -> "smallint(x)",
    "INT" -> "x",
    "BIGINT" -> "bigint(x)",
    "FLOAT" -> "float(IF(x = 1, '-0.0', IF(s = 'a', '0.0', 'NaN')))",
    "DOUBLE" -> "double(IF(x = 1, '-0.0', IF(s = 'a', '0.0', 'NaN')))",
    "DECIMAL(10,2)" -> "CAST(x AS DECIMAL(10, 2))",
    "DECIMAL(30,2)" -> "CAST(x AS DECIMAL(30, 2))",
    "STRING" -> "s",
    "STRING COLLATE UTF8_LCASE" -> "s COLLATE UTF8_LCASE",
    "BINARY" -> "encode(s, 'UTF-8')",
    "DATE" -> "date_add(DATE'2026-03-01', x)",
    "TIMESTAMP" -> "timestamp_seconds(x)",
    "TIMESTAMP_NTZ" -> "to_timestamp_ntz(concat('2026-03-01 00:00:0', x))",
    "TIME(6)" -> "to_time(concat('00:00:0', x))",
    "INTERVAL YEAR TO MONTH" -> "make_ym_interval(0, x)",
    "INTERVAL DAY TO SECOND" -> "make_dt_interval(0, 0, 0, x)",
    "INTERVAL" -> "make_interval(0, 0, 0, 0, 0, 0, x)",
    "VARIANT" -> "parse_json(string(x))",
    "MAP<STRING, INT>" -> "map('a', x)",
    "ARRAY<INT>" -> "array(x, 1)",
    "ARRAY<STRING COLLATE UTF8_LCASE>" -> "array(s COLLATE UTF8_LCASE)",
    "STRUCT<a: INT NOT NULL, b: STRING>" -> "struct(coalesce(x, 0) AS a, s AS b)",
    "STRUCT<f: STRING COLLATE UTF8_LCASE>" -> "struct(s COLLATE UTF8_LCASE AS f)",
    "GEOMETRY(0)" -> "st_geomfromwkb(X'0101000000000000000000F03F0000000000000040')"
  )

  /** The types whose DISTINCT values Sash cannot tell apart. */
  private val Untold = Set(
    "INTERVAL",
    "VARIANT",
    "MAP<STRING, INT>",
    "ARRAY<STRING COLLATE UTF8_LCASE>",
    "STRUCT<f: STRING COLLATE UTF8_LCASE>",
    "GEOMETRY(0)"
  )

  /** The arguments that are tried in turn, in which `f` is the function. */
  private val Arguments = Seq(
    "f(DISTINCTc)",
    "f(DISTINCTc, 0.5)",
    "f(DISTINCTc, 2)",
    "f(DISTINCTc, x)",
    "f(DISTINCTx, c)",
    "f(DISTINCTc, ts)",
    "f(DISTINCTx, ts, c)",
    "f(DISTINCTc, c)",
    "f(DISTINCTc, 2, x)",
    "f(DISTINCTc, 0.1, 0.9, 1)",
    "f(0.5) WITHIN GROUP (ORDER BY c)"
  )

  /** Types that tests take each time, beside those that Sash cannot tell apart. */
  private val Told = Set("TIME(6)", "STRING COLLATE UTF8_LCASE", "DECIMAL(30,2)")

  private val Sample = Seq("count", "max", "mode", "collect_set", "entropy", "rank_in_frame")

  /**
   * Whether the answer depends on the order in which rows arrive, or is an approximation that
   * does, or bytes of a sketch.
   */
  private def isOfOrder(call: String): Boolean =
    Seq(
      "first",
      "last",
      "any_value",
      "listagg",
      "string_agg",
      "mode",
      "_by(",
      "arg_m",
      "m4",
      "longest_increasing_run",
      "approx_",
      "sketch",
      "hist"
    )
      .exists(call.takeWhile(_ != ' ').contains)

  /**
   * A way to Sash.
   *
   * @param query the query that Sash answers, with some calls
   * @param reference a query that has the same rows, and that Spark answers alone
   */
  private final case class Door(
      name: String,
      query: Seq[String] => String,
      reference: Seq[String] => String
  )

  private def columns(calls: Seq[String]): String =
    calls.zipWithIndex.map { case (call, i) => s", $call AS a$i" }.mkString

  private def over(calls: Seq[String]): String = {
    val windows = calls.map(call =>
      s"$call OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL 4 SECONDS PRECEDING)"
    )
    s"SELECT k, ts${columns(windows)} FROM events"
  }

  private def lateral(calls: Seq[String]): String = {
    val list = columns(calls).stripPrefix(", ")
    s"""SELECT l.k, l.ts, a.* FROM events l, LATERAL (SELECT $list FROM events e
       |  WHERE e.k = l.k AND e.ts <= l.ts AND e.ts >= l.ts - INTERVAL 4 SECONDS) a""".stripMargin
  }

  private def hops(calls: Seq[String]): String =
    s"""SELECT k, w.start AS ts${columns(calls)}
       |FROM (SELECT *, window(ts, '8 seconds', '2 seconds') AS w FROM events)
       |GROUP BY k, w""".stripMargin

  private val Doors = Seq(
    Door("OVER", over, lateral),
    Door("hop windows", hops, hops),
    Door("LATERAL", lateral, lateral)
  )

  /** Equal values of a collation are one, and so are both zeros. Arrays have no order. */
  private def said(value: Any): String = value match {
    case d: Double                  => if (d == 0) "0" else f"$d%.6e"
    case f: Float                   => said(f.toDouble)
    case row: Row                   => row.toSeq.map(said).mkString("[", ",", "]")
    case several: collection.Seq[_] => several.map(said).sorted.mkString("(", ",", ")")
    case map: collection.Map[_, _]  => map.toSeq.map(e => said(e._1) + said(e._2)).sorted.toString
    case bytes: Array[Byte]         => bytes.mkString("bytes ", " ", "")
    case other                      => String.valueOf(other).toLowerCase
  }
}
