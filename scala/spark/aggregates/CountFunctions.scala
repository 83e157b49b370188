package io.sash.spark.aggregates

import io.sash.spark.base.SashFunction

/** The SQL functions of counts by value. */
private[spark] object CountFunctions {
  private val valueCounts: SashFunction = function(
    ValueCounts,
    "Returns how often each value occurs, as a map.",
    Seq("x" -> "a value of a type that can be a key of a map"),
    "SELECT _FUNC_(x) FROM VALUES ('a'), ('b'), ('a') AS t(x)" -> "{\"a\":2,\"b\":1}",
    Seq(
      "NULLs are skipped; an empty map over no rows. Of strings that a collation finds equal one",
      "stands for all. A moving window keeps the counts, and an answer costs as much as it has",
      "keys."
    )
  )

  private val topCounts: SashFunction = function(
    TopCounts,
    "Returns the `n` most frequent values with their counts, the most frequent first.",
    Seq(
      "x" -> "a value of a type that can be ordered",
      "n" -> "how many, a constant of 1 or more"
    ),
    "SELECT _FUNC_(x, 2) FROM VALUES ('a'), ('b'), ('a'), ('c') AS t(x)" ->
      "[{\"value\":\"a\",\"count\":2},{\"value\":\"b\",\"count\":1}]",
    Seq(
      "Of values that are equally frequent the least first. NULLs are skipped; no rows give an",
      "empty list. Exact; Spark's `approx_top_k` estimates. In a moving window a row costs",
      "O(log d) with d different values, and an answer O(n)."
    )
  )

  private val entropy: SashFunction = function(
    Entropy,
    "Returns the entropy of the values, in bits: the less, the more often few values occur.",
    Seq("x" -> "a value of a type that GROUP BY takes"),
    "SELECT _FUNC_(x) FROM VALUES ('a'), ('b'), ('a'), ('b') AS t(x)" -> "1.0",
    Seq(
      "The sum of -p * log2(p) over the values' shares p, as DuckDB has it. NULLs are skipped;",
      "NULL over no rows. In a moving window an answer costs O(√n) for n rows at most, since it",
      "sums over the different counts, and does not drift."
    )
  )

  private val modeShare: SashFunction = function(
    ModeShare,
    "Returns the share of the most frequent value among the values.",
    Seq("x" -> "a value of a type that GROUP BY takes"),
    "SELECT _FUNC_(x) FROM VALUES ('a'), ('b'), ('a'), ('c') AS t(x)" -> "0.5",
    Seq("NULLs are skipped; NULL over no rows. `mode` is the value itself.")
  )

  val All: Seq[SashFunction] = Seq(valueCounts, topCounts, entropy, modeShare)

  /** @param arguments the value, and then the arguments of the answer */
  private def function(
      answer: CountedAnswer,
      usage: String,
      arguments: Seq[(String, String)],
      example: (String, String),
      note: Seq[String]
  ): SashFunction =
    SashFunction(answer.name, usage, arguments, Seq(example), note, classOf[CountsByValue])(
      CountsByValue(answer, _)
    )
}
