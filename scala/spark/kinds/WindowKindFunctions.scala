package io.sash.spark.kinds

import java.util.Locale

import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.analysis.FunctionRegistry.FunctionBuilder
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo, LambdaFunction}
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction

import io.sash.spark.SashErrors
import io.sash.spark.functions.SlidingAgg

/** The functions that name window kinds in SQL. */
private[spark] object WindowKindFunctions {
  type Description = (FunctionIdentifier, ExpressionInfo, FunctionBuilder)

  val All: Seq[Description] = Seq(
    function(
      "count_window",
      "size",
      "The last `size` rows of the order, the current one among them.",
      "sum(x) OVER (PARTITION BY _FUNC_(2) ORDER BY x) FROM VALUES (1), (2), (4) AS t(x)",
      Seq("1", "3", "6")
    ) { case Seq(size) => CountWindow(size) },
    function(
      "time_window",
      "size",
      "The rows whose place in the order lies at most `size` before the current row's, peers " +
        "included.",
      "sum(x) OVER (PARTITION BY _FUNC_(2) ORDER BY x) FROM VALUES (1), (2), (4) AS t(x)",
      Seq("1", "3", "6")
    ) { case Seq(size) => DurationWindow(size) },
    function(
      "delta_window",
      "attribute, delta",
      "Back to the oldest row that the delta policy still holds: when a row comes, the oldest " +
        "leave while their `attribute` is less than the row's by more than `delta`. A NULL is " +
        "less than every number.",
      "count(*) OVER (PARTITION BY _FUNC_(x, 3) ORDER BY x) FROM VALUES (1), (2), (5) AS t(x)",
      Seq("1", "2", "2")
    ) { case Seq(attribute, delta) => DeltaWindow(attribute, delta) },
    function(
      "punctuation_window",
      "punctuation",
      "The rows from the last one on for which `punctuation` is true, which is the first of its " +
        "window; NULL is not true.",
      "count(*) OVER (PARTITION BY _FUNC_(x = 2) ORDER BY x) FROM VALUES (1), (2), (4) AS t(x)",
      Seq("1", "1", "2")
    ) { case Seq(punctuation) => PunctuationWindow(punctuation) },
    function(
      "gap_window",
      "gap",
      "The rows since the order last moved by `gap` or more from one row to the next: a session. " +
        "Rows whose place is NULL are a session.",
      "count(*) OVER (PARTITION BY _FUNC_(2) ORDER BY x) FROM VALUES (1), (2), (4) AS t(x)",
      Seq("1", "2", "1")
    ) { case Seq(gap) => GapWindow(gap) },
    function(
      "groups_window",
      "preceding, following",
      "The current row's peers, and as many whole groups of peers before and after them.",
      "sum(x) OVER (PARTITION BY _FUNC_(1, 0) ORDER BY x) FROM VALUES (1), (2), (4) AS t(x)",
      Seq("1", "3", "6")
    ) {
      case Seq(preceding)            => GroupsWindow(preceding, Literal(0))
      case Seq(preceding, following) => GroupsWindow(preceding, following)
    },
    function(
      "predicate_window",
      "col, monoid, condition",
      "When a row comes, the oldest leave until `condition`, a lambda, is true of the aggregate " +
        "that `monoid` names of `col`, or no row is left.",
      "count(*) OVER (PARTITION BY _FUNC_(x, 'sum', total -> total <= 6) ORDER BY x) " +
        "FROM VALUES (1), (2), (4) AS t(x)",
      Seq("1", "2", "2")
    ) { case Seq(column, monoid, condition: LambdaFunction) =>
      SlidingAgg.build(Seq(column, monoid)) match {
        case f: AggregateFunction => PredicateWindow(f, condition)
        case other =>
          throw new IllegalArgumentException(s"${other.sql} is computed from an aggregate")
      }
    }
  )

  private def function(
      name: String,
      arguments: String,
      usage: String,
      query: String,
      answers: Seq[String]
  )(build: PartialFunction[Seq[Expression], WindowKind]): Description = {
    val examples =
      s"\n    Examples:\n      > SELECT $query;\n" + answers
        .map(a => s"       $a\n")
        .mkString + "  "
    val info = new ExpressionInfo(
      getClass.getName.stripSuffix("$"),
      null,
      name,
      s"_FUNC_($arguments) - In PARTITION BY or as the last argument of sliding_agg: $usage",
      "",
      examples,
      "",
      "window_funcs",
      "0.1.0",
      "",
      "scala_udf"
    )
    val expected = arguments.split(",").length.toString
    val builder: FunctionBuilder = given =>
      build.applyOrElse(
        given,
        (_: Seq[Expression]) => throw SashErrors.wrongArguments(name, expected, given.length)
      )
    (FunctionIdentifier(name.toLowerCase(Locale.ROOT)), info, builder)
  }
}
