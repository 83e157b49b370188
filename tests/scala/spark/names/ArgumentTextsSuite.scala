package io.sash.spark.names

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.AnalysisException

import org.scalatest.tags.Slow

import io.sash.spark.{ErrorCondition, SashSuite}

/**
 * The suite replaces each argument of each function's examples by a value that hardly fits. The query
 * runs, or fails under one of Spark's conditions with a message in the user's words.
 */
@Slow
class ArgumentTextsSuite extends SashSuite {
  import ArgumentTextsSuite._

  private def create(): Unit = spark
    .sql(
      "SELECT id, CAST(id % 3 AS INT) k, CAST(id % 5 AS INT) vi, CAST(id AS DOUBLE) d, " +
        "timestamp_seconds(id) ts, CAST(id % 2 AS BOOLEAN) vb FROM range(6)"
    )
    .createOrReplaceTempView("args")

  /** None if it runs. */
  private def failure(query: String): Option[Throwable] =
    try { spark.sql(query).collect(); None }
    catch { case e: Throwable => Some(e) }

  private def complaint(query: String): Option[String] = failure(query).flatMap { e =>
    val condition = ErrorCondition.of(e)
    val message = e match {
      case analysis: AnalysisException => analysis.getSimpleMessage // without the query's plan
      case other                       => other.getMessage
    }
    val text =
      Option(message).getOrElse("null").linesIterator.takeWhile(_.nonEmpty).mkString("\n")
    val isSparks = Iterator.iterate(e)(_.getCause).takeWhile(_ != null).exists {
      case s: SparkThrowable => s.getCondition != null
      case _                 => false
    }
    val words = text.replace("NULL", "")
    Seq(
      Option.when(!isSparks || condition == "INTERNAL_ERROR")(
        s"no condition of Spark's: $condition"
      ),
      Option.when(words.contains("io.sash"))("a class of ours"),
      Option.when(words.split("\\W").contains("null"))("null"),
      Option.when(text.contains("\tat "))("a stack trace")
    ).flatten.headOption.map(why => s"$why: $query\n  $text")
  }

  test("columns come first: the value, and behind it the time. Constants come last") {
    val aggregates = ExampleCall.All.filter(c => AllSashFunctions.All.contains(c.function))
    for (call <- aggregates if call.function.lambdas.isEmpty) {
      val isConstant = call.arguments.indices.map { i =>
        val columns = call.arguments.updated(i, s"hash(${call.column})")
        failure(call.query(columns)).exists(ErrorCondition.of(_) == NotConstant)
      }
      assert(isConstant == isConstant.sorted, call.function.signature)
      val names = call.function.arguments.map(_._1)
      assert(
        Seq(-1, names.count(_ == "x")).contains(names.indexOf("ts")),
        call.function.signature
      )
    }
  }

  for (call <- ExampleCall.All; arguments <- call.arguments +: More.getOrElse(call.name, Nil))
    test(s"arguments ${arguments.mkString(", ")} of ${call.query(arguments)}", each(10): _*) {
      assert(failure(call.query(arguments)).isEmpty)
      val replaced =
        for (i <- arguments.indices; odd <- call.column +: Odd) yield arguments.updated(i, odd)
      val fewer = arguments.indices.map(i => arguments.patch(i, Nil, 1))
      val many = arguments ++ Seq("1", "2", "3", "4", "5", "6", "7")
      val complaints = (replaced ++ fewer :+ many).flatMap(of => complaint(call.query(of)))
      assert(complaints.isEmpty, complaints.mkString("\n", "\n", "\n"))
    }

  for ((query, condition, words) <- Texts) test(s"says what is wrong: $query") {
    create()
    val error = failure(s"SELECT $query FROM args").get
    assert(ErrorCondition.of(error) == condition, error)
    for (word <- words) assert(error.getMessage.contains(word), error.getMessage)
  }
}

object ArgumentTextsSuite {
  private val Odd = Seq(
    "'a'",
    "array(1)",
    "true",
    "DATE'2020-01-01'",
    "INTERVAL '1' DAY",
    "NULL",
    "double('NaN')",
    "-1",
    "0",
    "1.5BD",
    "2147483648",
    "9223372036854775808",
    "x -> x",
    "(SELECT 1)"
  )

  /** Arguments that no example has. */
  private val More: Map[String, Seq[Seq[String]]] = Map(
    "monoid_agg" -> Seq(
      Seq("x", "x -> x", "(a, b) -> a + b", "a -> a", "0", "(a, b) -> a - b", "NULL")
    )
  )

  private val NotConstant = "DATATYPE_MISMATCH.NON_FOLDABLE_INPUT"
  private val Range = "DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE"
  private val Type = "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE"
  private val Misplaced = "INVALID_PARAMETER_VALUE.PATTERN"

  private def over(kind: String) = s"count(*) OVER (PARTITION BY $kind ORDER BY id)"

  private val Texts = Seq(
    (over("delta_window(d, double('NaN'))"), Range, Seq("`delta`", "[0, infinity]")),
    (over("gap_window(double('NaN'))"), Range, Seq("`gap`", "(0, infinity]")),
    (over("time_window(-1)"), Range, Seq("`size`", "[0, infinity]")),
    (over("count_window(9223372036854775808)"), Type, Seq("`size`", "\"INT\"")),
    (over("rows_window(9223372036854775808)"), Type, Seq("`preceding`", "\"BIGINT\"")),
    (over("range_window('a')"), Misplaced, Seq("`preceding`", "30 minutes")),
    (over("gap_window(INTERVAL 1 DAY)"), Misplaced, Seq("cannot be added to"))
  )
}
