package io.sash.spark.names

import io.sash.spark.base.SashFunction
import io.sash.spark.history.HistoryUntilFunction
import io.sash.spark.kinds.WindowKindFunctions

/** Prints docs/functions.md. */
private[sash] object FunctionsDoc {
  def main(args: Array[String]): Unit = print(markdown)

  def markdown: String =
    (Seq(heading, index) ++ topics.flatMap { case (title, intro, functions) =>
      (s"## $title\n" +: intro.toSeq) ++ functions.map(section)
    }).mkString("\n")

  private def topics: Seq[(String, Option[String], Seq[SashFunction])] =
    AllSashFunctions.Topics.map { case (title, functions) => (title, None, functions) } :+
      (("Window kinds", Some(kinds), WindowKindFunctions.All)) :+
      (("Streams", None, Seq(HistoryUntilFunction.function)))

  /** A table of the topics, with links to their functions. */
  private def index: String = {
    val rows = topics.map { case (title, _, functions) =>
      val links = functions.map(f => s"[`${f.name}`](#${f.name})")
      s"| [$title](#${title.toLowerCase.replace(' ', '-')}) | ${links.mkString(", ")} |\n"
    }
    s"| topic | functions |\n|---|---|\n${rows.mkString}"
  }

  private def section(f: SashFunction): String = {
    val arguments = f.arguments.map { case (name, meaning) => s"- `$name`: $meaning\n" }
    val examples = f.examples.map { case (query, answer) => s"> $query;\n$answer\n" }.mkString
    val run = if (examples.isEmpty) "" else s"\n```\n$examples```\n"
    s"""### ${f.name}
       |
       |`${f.signature}`
       |
       |${f.usage}
       |
       |${arguments.mkString}
       |${f.note.mkString("\n")}
       |$run""".stripMargin.replace("_FUNC_", f.name)
  }

  private def kinds: String =
    """Each kind says which rows a row's window holds, where SQL has no frame for it. It stands
      |among the expressions of PARTITION BY, or as the last argument of `sliding_agg`. The
      |window has an ORDER BY, and no ROWS or RANGE. `sash.SlidingWindow` has each of them for
      |PySpark.
      |""".stripMargin

  private def heading: String =
    """# Functions
      |
      |Generated from the sources' help texts by `make docs`.
      |Spark's SQL lacks these aggregates. They are in the papers, or users of moving windows
      |asked for them. SQL calls them in GROUP BY, in OVER, and, but for `monoid_agg`, by name in
      |`sliding_agg`. The ranks in a frame (`rank_in_frame` and its like) are for OVER alone.
      |`sash.functions` has each of them for PySpark, except `product`, which
      |`pyspark.sql.functions` has, and `monoid_agg`, which is `sash.Monoid`. `DESCRIBE FUNCTION
      |EXTENDED` says the same as this page.
      |
      |All have one order of arguments. Columns come first: the value, and behind it the time, or
      |the value that orders it. Constants come last.
      |
      |In a moving window an aggregate costs a constant number of combines a row, whatever the
      |window's length. The counts by value (`value_counts`, `top_counts`, `entropy`,
      |`mode_share`) and the ranks have nothing to combine, and each says its own cost. All run
      |in batch and in `OVER` on streams. [The table](who-runs-what.md) has them over
      |every window.
      |
      |A function of yours with one of these names, or of a later Spark, is the one that runs:
      |Sash takes a name only where nobody else has it. `sash.m4(x, ts)` names Sash's, whoever has
      |an `m4`, and `sash.functions` calls it so. Only a function `m4` in a schema of yours that
      |is called `sash` comes before it. Sash's functions are in no catalogue: SHOW FUNCTIONS
      |does not list them, and CREATE and DROP FUNCTION do not see them. While
      |`spark.sash.enabled` is false there are none. A SQL function that calls one of them has to
      |be TEMPORARY on Spark 4.0 and 4.1. If you drop a function of yours, a view that calls its
      |name calls Sash's from then on. If you create one, a view that called Sash's calls yours:
      |write `sash.name` in views to be sure.
      |
      |Aggregates that Spark has under another name are not here: concatenation is `listagg`, the
      |distinct values are `collect_set`, sketches are `approx_count_distinct`, `hll_sketch_agg`
      |and `count_min_sketch`.
      |""".stripMargin
}
