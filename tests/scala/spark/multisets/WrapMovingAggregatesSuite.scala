package io.sash.spark.multisets

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.{functions, AnalysisException, DataFrame, Encoder, Encoders}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.expressions.Aggregator
import org.apache.spark.util.SizeEstimator

import org.scalatest.tags.Slow

import io.sash.spark.{ErrorCondition, JoinedFrames, RowEquality, SashSuite, TestTable}
import io.sash.spark.monoids.Algorithm

/**
 * Aggregates that Spark refuses over a moving frame (DISTINCT, medians), against the same
 * aggregates of Spark's GROUP BY over a join of each row with the rows of its frame.
 */
@Slow
class WrapMovingAggregatesSuite extends SashSuite {
  import JoinedFrames._
  import WrapMovingAggregatesSuite.{Joined, Spread}

  private val columns =
    Seq(
      "b",
      "h",
      "i",
      "l",
      "f",
      "d",
      "small",
      "large",
      "s",
      "sc",
      "bo",
      "dt",
      "ts",
      "ym",
      "st",
      "ar"
    )

  /** Each with `_` in the place of a row's name. */
  private val calls: Seq[(String, String)] =
    columns.map(c => s"count(DISTINCT _.$c)" -> "c") ++
      Seq(
        "count(DISTINCT _.i, _.s)" -> "c",
        "count(DISTINCT _.i) FILTER (WHERE _.tie > 4)" -> "c",
        "sum(DISTINCT _.i)" -> "c",
        "sum(DISTINCT _.b) FILTER (WHERE _.tie > 4)" -> "c",
        "sum(DISTINCT _.large)" -> "c",
        "sum(DISTINCT _.ym)" -> "c",
        "sum(DISTINCT _.x)" -> "approx_",
        "avg(DISTINCT _.tie)" -> "approx_",
        "avg(DISTINCT _.small)" -> "c",
        "avg(DISTINCT _.x)" -> "approx_",
        "max(DISTINCT _.l)" -> "c",
        "min(DISTINCT _.s)" -> "c",
        "bit_xor(DISTINCT _.i)" -> "c",
        "stddev(DISTINCT _.x)" -> "approx_",
        "approx_count_distinct(DISTINCT _.i)" -> "c",
        "collect_list(DISTINCT _.i)" -> "set_",
        "collect_set(DISTINCT _.s)" -> "set_",
        "collect_list(DISTINCT _.d)" -> "set_",
        "array_agg(DISTINCT _.st)" -> "set_",
        "percentile(DISTINCT _.i, 0.3)" -> "c",
        "median(_.i)" -> "c",
        "median(_.x) FILTER (WHERE _.tie > 4)" -> "approx_",
        "median(_.dti)" -> "c",
        "percentile_cont(0.3) WITHIN GROUP (ORDER BY _.h)" -> "c",
        "percentile_cont(0.3) WITHIN GROUP (ORDER BY _.h DESC)" -> "c",
        "percentile_disc(0.3) WITHIN GROUP (ORDER BY _.small)" -> "c",
        "percentile_disc(0.3) WITHIN GROUP (ORDER BY _.small DESC)" -> "c",
        "percentile_disc(array(0.0, 0.5, 1.0)) WITHIN GROUP (ORDER BY _.l)" -> "c",
        "percentile_cont(0.5) WITHIN GROUP (ORDER BY _.large)" -> "approx_",
        "mode() WITHIN GROUP (ORDER BY _.s)" -> "c",
        "mode() WITHIN GROUP (ORDER BY _.s DESC)" -> "c",
        OrderedList -> "c",
        DistinctList -> "c"
      )

  /** Spark fails where these stand among DISTINCT aggregates of a GROUP BY. */
  private lazy val DistinctList = "listagg(DISTINCT _.s, ',') WITHIN GROUP (ORDER BY _.s)"
  private lazy val OrderedList = "listagg(_.s, ',') WITHIN GROUP (ORDER BY _.s, _.id)"

  private def sameList(collect: String): String =
    s"IF(count(_.s) = 0, NULL, array_join(array_sort($collect(_.s)), ','))"

  private def grouped(call: String): String = call match {
    case DistinctList => sameList("collect_set")
    case OrderedList  => sameList("collect_list")
    case _            => call
  }

  private def named(call: (String, String), i: Int): String =
    if (call._2 == "c") s"c$i" else s"${call._2}$i"

  private def windows(framed: Framed): String = {
    val results = calls.zipWithIndex.map { case (call, i) =>
      s"${call._1.replace("_.", "")} OVER w AS ${named(call, i)}"
    }
    s"SELECT id, ${results.mkString(", ")} FROM data " +
      s"WINDOW w AS (PARTITION BY g ORDER BY ${framed.order} ${framed.frame})"
  }

  private def joined(framed: Framed): String = {
    val results = calls.zipWithIndex.map { case (call, i) =>
      s"${grouped(call._1).replace("_.", "b.")} AS ${named(call, i)}"
    }
    "WITH n AS (SELECT *, row_number() OVER (PARTITION BY g ORDER BY uq) AS rn FROM data) " +
      s"SELECT a.id, ${results.mkString(", ")} FROM n a LEFT JOIN n b " +
      s"ON a.g <=> b.g AND ${framed.join} GROUP BY a.id"
  }

  private def assertSame(framed: Framed): DataFrame = {
    TestTable.create(spark)
    val expected = withSash(enabled = false)(spark.sql(joined(framed)).collect().toSeq)
    val frame = spark.sql(windows(framed))
    val difference = RowEquality.difference(expected, frame.collect().toSeq)
    assert(difference.isEmpty, difference.getOrElse(""))
    frame
  }

  for ((mode, settings) <- Modes; framed <- Moving)
    test(s"${framed.frame}: as a join and a GROUP BY have it, $mode", each(8): _*) {
      withSettings(settings: _*) {
        assert(sliding(assertSame(framed)).map(_.calls.length).sum == calls.length)
      }
    }

  for (framed <- Whole) test(s"${framed.frame}: no row leaves", each(2): _*) {
    assertSame(framed)
  }

  test("an answer beside the slots slides by its inverse, or goes through its window") {
    TestTable.create(spark)
    val frame = "OVER (ORDER BY uq ROWS 9 PRECEDING)"
    def algorithms(call: String): Seq[Algorithm] =
      sliding(spark.sql(s"SELECT $call $frame FROM data").queryExecution.sparkPlan)
        .flatMap(_.calls.map(_.algorithm))
    for (
      call <- Seq(
        "count(DISTINCT s)",
        "sum(DISTINCT x)",
        "median(x)",
        "mode(s)",
        "collect_set(s)"
      )
    )
      assert(algorithms(call) == Seq(Algorithm.SlickDequeInvAlgorithm), call)
    assert(algorithms("collect_list(s)") == Seq(Algorithm.RecalculateAlgorithm))
    assert(algorithms("approx_count_distinct(s)") == Seq(Algorithm.TwoStacksLiteAlgorithm))
  }

  test("a Scala Aggregator is merged, whatever becomes of its buffers") {
    TestTable.create(spark)
    spark.udf.register("gap_of", functions.udaf(Spread, Encoders.scalaInt))
    spark.udf.register("joined", functions.udaf(Joined, Encoders.STRING))
    for (frame <- Moving.map(_.frame).filter(_.startsWith("ROWS")))
      checkSlides(
        "SELECT id, gap_of(uq) OVER w AS a, gap_of(tie) FILTER (WHERE tie > 3) OVER w AS b, " +
          s"joined(s) OVER w AS c FROM data WINDOW w AS (PARTITION BY g ORDER BY uq $frame)"
      )
  }

  test("buffers that hold bytes are merged, and their operands are left as they are") {
    TestTable.create(spark)
    val calls = Seq(
      "max_by(id, cast(uq AS STRING), 3)",
      "min_by(s, 50 - uq, 2)",
      "vector_sum(array(cast(uq AS FLOAT)))",
      "bitmap_construct_agg(bitmap_bit_position(uq))"
    ).filter(c => spark.catalog.functionExists(c.takeWhile(_ != '(')))
    val frames = Seq("uq ROWS 4 PRECEDING", "uq * uq RANGE BETWEEN 9 PRECEDING AND 5 FOLLOWING")
    for ((mode, settings) <- Modes; call <- calls; frame <- frames)
      withClue(s"$mode ")(withSettings(settings: _*) {
        checkSlides(s"SELECT id, $call OVER (PARTITION BY g ORDER BY $frame) AS c FROM data")
      })
  }

  test("sketches whose deserialized buffers cannot be merged into") {
    for ((of, summary) <- Seq("double" -> "1.5D", "integer" -> "CAST(id AS INT)"))
      checkSlides(
        s"""SELECT id, round(tuple_sketch_estimate_$of(tuple_sketch_agg_$of(id % 5, $summary)
           |  OVER (ORDER BY id ROWS 3 PRECEDING)), 3) AS c FROM range(20)""".stripMargin
      )
  }

  test("a list of distinct values is ordered by them, as in a GROUP BY") {
    def list(value: String, order: String) = spark.sql(
      s"SELECT listagg(DISTINCT $value, ',') WITHIN GROUP (ORDER BY $order) OVER (ORDER BY id) " +
        "FROM VALUES (1, 'x', 2.0D), (2, 'y', -0.0D), (3, 'x', 1.0D) AS t(id, s, d)"
    )
    def last(value: String, order: String) = list(value, order).collect().last.getString(0)
    assert(last("s", "s DESC") == "y,x" && last("upper(s)", "upper(s)") == "X,Y")
    assert(last("id % 2", "id % 2") == "0,1")
    for ((value, order) <- Seq("s" -> "id", "s" -> "s, id", "d" -> "d"))
      assert(intercept[AnalysisException](list(value, order)).getMessage.contains("DISTINCT"))
  }

  test("no percentages, no answer") {
    checkSlides(
      "SELECT id, percentile(id, array()) OVER (ORDER BY id ROWS 3 PRECEDING) AS c FROM range(9)"
    )
  }

  test("a median of DISTINCT knows one zero") {
    val medians = spark.sql(
      "SELECT median(DISTINCT x) OVER (ORDER BY id ROWS 3 PRECEDING) FROM " +
        "VALUES (1, 0.0D), (2, -0.0D), (3, 1.0D) AS t(id, x)"
    )
    assert(medians.collect().map(_.getDouble(0)).toSeq == Seq(0.0, 0.0, 0.5))
  }

  test("a mode takes memory for its values, not for how often they are there") {
    val state = ModeCounts(Literal(1), ascending = None).create()
    val before = SizeEstimator.estimate(state)
    (1 to 10000).foreach(_ => state.add(InternalRow(1)))
    assert(SizeEstimator.estimate(state) - before < 2 * state.bytes)
  }

  test("a mode without a rule for ties is one of the most frequent") {
    TestTable.create(spark)
    val answers = spark
      .sql("""
        SELECT mode(i) OVER w AS m, collect_list(i) OVER w AS all FROM data
        WINDOW w AS (PARTITION BY g ORDER BY uq ROWS 12 PRECEDING)""")
      .collect()
    answers.foreach { row =>
      val counts = row.getSeq[Int](1).groupBy(identity).map { case (k, v) => (k, v.length) }
      if (counts.isEmpty) assert(row.isNullAt(0))
      else assert(counts(row.getInt(0)) == counts.values.max, row)
    }
  }

  test("switched off, Spark refuses them") {
    TestTable.create(spark)
    withSash(enabled = false) {
      for (
        (call, condition) <- Seq(
          "count(DISTINCT i)" -> "DISTINCT_WINDOW_FUNCTION_UNSUPPORTED",
          "median(i)" -> "INVALID_WINDOW_SPEC_FOR_AGGREGATION_FUNC"
        )
      ) {
        val e = intercept[Throwable](
          spark.sql(s"SELECT $call OVER (ORDER BY uq ROWS 3 PRECEDING) FROM data")
        )
        assert(ErrorCondition.of(e) == condition)
      }
    }
  }

  test("DISTINCT of what cannot be told apart stays an error of Spark's") {
    val e = intercept[Throwable](
      spark.sql(
        "SELECT count(DISTINCT map(id, id)) OVER (ORDER BY id ROWS 3 PRECEDING) FROM range(9)"
      )
    )
    assert(ErrorCondition.of(e) == "DISTINCT_WINDOW_FUNCTION_UNSUPPORTED")
  }

  test("the same window twice in one task, one within the other") {
    val frame = spark.sql("""
      SELECT id, count(DISTINCT id % 3) OVER (PARTITION BY id % 2 ORDER BY id ROWS 9 PRECEDING) AS c
      FROM range(0, 40, 1, 2)""")
    val rows = frame.rdd
    val pairs = rows.cartesian(rows).filter { case (a, b) => a.getLong(0) == b.getLong(0) }
    val apart = pairs.filter { case (a, b) => a != b }
    assert(pairs.count() == 40 && apart.count() == 0)
  }
}

object WrapMovingAggregatesSuite {

  /** Its buffers are all of one size, which Spark serializes into one array again and again. */
  object Spread extends Aggregator[Int, (Int, Int), Int] {
    override def zero: (Int, Int) = (Int.MaxValue, Int.MinValue)
    override def reduce(b: (Int, Int), a: Int): (Int, Int) =
      (math.min(b._1, a), math.max(b._2, a))
    override def merge(b: (Int, Int), c: (Int, Int)): (Int, Int) =
      (math.min(b._1, c._1), math.max(b._2, c._2))
    override def finish(b: (Int, Int)): Int = b._2 - b._1
    override def bufferEncoder: Encoder[(Int, Int)] = Encoders.product
    override def outputEncoder: Encoder[Int] = Encoders.scalaInt
  }

  /** Its buffers are changed in place, and a merge may answer its right operand. */
  object Joined extends Aggregator[String, ArrayBuffer[String], String] {
    override def zero: ArrayBuffer[String] = ArrayBuffer.empty
    override def reduce(b: ArrayBuffer[String], a: String): ArrayBuffer[String] = b += s"$a"
    override def merge(b: ArrayBuffer[String], c: ArrayBuffer[String]): ArrayBuffer[String] =
      if (b.isEmpty) c else b ++= c
    override def finish(b: ArrayBuffer[String]): String = b.mkString("+")
    override def bufferEncoder: Encoder[ArrayBuffer[String]] = Encoders.kryo[ArrayBuffer[String]]
    override def outputEncoder: Encoder[String] = Encoders.STRING
  }
}
