package io.sash.spark.names

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.AnalysisException

import org.scalatest.tags.Slow

import io.sash.spark.{ErrorCondition, SashSuite}
import io.sash.spark.kinds.WindowKindFunctions

/**
 * Each argument of each function of Sash's in turn is something that it hardly can be: the query runs,
 * or says under a condition of Spark's what is wrong, in words of the user's.
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

  test("each function has a call here") {
    val names =
      AllSashFunctions.All.map(_.name) ++ WindowKindFunctions.All.map(_.name) :+ SlidingAgg.Name
    assert(names.toSet == Calls.map(_.name).toSet)
  }

  for (call <- Calls) test(s"arguments of ${call.query(call.arguments)}", each(3): _*) {
    create()
    assert(failure(call.query(call.arguments)).isEmpty, call.query(call.arguments))
    val replaced =
      for (i <- call.arguments.indices; odd <- Odd) yield call.arguments.updated(i, odd)
    val fewer = call.arguments.indices.map(i => call.arguments.patch(i, Nil, 1))
    val complaints =
      (replaced ++ fewer :+ (call.arguments ++ Seq("1", "2", "3", "4", "5", "6", "7")))
        .flatMap(of => complaint(call.query(of)))
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
    "id",
    "x -> x",
    "(SELECT 1)"
  )

  private[spark] final case class Call(
      name: String,
      arguments: Seq[String],
      order: Option[String]
  ) {

    /** A kind in PARTITION BY, or an aggregate over a moving frame. */
    def query(of: Seq[String]): String = {
      val call = of.mkString(s"$name(", ", ", ")")
      order match {
        case None => s"SELECT $call OVER (ORDER BY id ROWS 1 PRECEDING) FROM args"
        case Some(by) =>
          s"SELECT count(vi) OVER (PARTITION BY k, $call ORDER BY $by) FROM args"
      }
    }
  }

  private def aggregate(name: String, arguments: String*) = Call(name, arguments, None)
  private def kind(name: String, arguments: String*) = Call(name, arguments, Some("id"))

  private[spark] val Calls: Seq[Call] = Seq(
    aggregate("geometric_mean", "vi"),
    aggregate("product", "vi"),
    aggregate("max_count", "vi"),
    aggregate("min_count", "vi"),
    aggregate("arg_max", "id", "vi"),
    aggregate("arg_min", "id", "vi"),
    aggregate("value_range", "vi"),
    aggregate("relative_variation", "vi"),
    aggregate("coefficient_of_variation", "vi"),
    aggregate("m4", "id", "vi"),
    aggregate("longest_increasing_run", "id", "vi"),
    aggregate("counter_increase", "vi"),
    aggregate("counter_rate", "id", "vi"),
    aggregate("cusum", "vi"),
    aggregate("funnel", "vb", "vi = 1", "vb"),
    aggregate("ewm_mean", "vi", "2", "id"),
    aggregate("ewm_mean", "vi", "0.5"),
    aggregate("ema", "vi", "2", "id"),
    aggregate("decayed_sum", "vi", "2", "id"),
    aggregate("decayed_count", "2", "id"),
    aggregate("time_weighted_avg", "vi", "id"),
    aggregate("linear_weighted_avg", "vi", "id", "2"),
    aggregate("linear_weighted_sum", "vi", "id", "2"),
    aggregate("time_weighted_avg", "vi", "id", "2", "vi"),
    aggregate("first_n", "vi", "2"),
    aggregate("last_n", "vi", "2"),
    aggregate("last_distinct_n", "vi", "2"),
    aggregate("max_n", "vi", "2"),
    aggregate("min_n", "vi", "2"),
    aggregate("max_n_by", "id", "vi", "2"),
    aggregate("min_n_by", "id", "vi", "2"),
    aggregate("value_counts", "vi"),
    aggregate("top_counts", "vi", "2"),
    aggregate("entropy", "vi"),
    aggregate("mode_share", "vi"),
    aggregate("rank_in_frame", "vi"),
    aggregate("dense_rank_in_frame", "vi"),
    aggregate("percent_rank_in_frame", "vi"),
    aggregate("cume_dist_in_frame", "vi"),
    aggregate(
      "monoid_agg",
      "vi",
      "x -> x",
      "(a, b) -> a + b",
      "a -> a",
      "0",
      "(a, b) -> a - b",
      "NULL"
    ),
    aggregate("sliding_agg", "vi", "'sum'"),
    kind("count_window", "2"),
    kind("time_window", "2"),
    kind("time_window", "2", "'left'", "false"),
    kind("delta_window", "vi", "2"),
    kind("punctuation_window", "vb"),
    kind("gap_window", "2"),
    kind("gap_window", "2", "3"),
    kind("groups_window", "1", "1"),
    kind("predicate_window", "sum(vi)", "t -> t < 5"),
    kind("window_and", "count_window(2)", "gap_window(2)"),
    kind("window_or", "count_window(2)", "gap_window(2)"),
    kind("rows_window", "vi"),
    kind("range_window", "vi"),
    kind("window_exclude", "'current row'").copy(order = Some("id ROWS 1 PRECEDING")),
    kind("window_slide", "2").copy(order = Some("id ROWS 1 PRECEDING")),
    kind("window_min_periods", "2").copy(order = Some("id ROWS 1 PRECEDING"))
  )

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
