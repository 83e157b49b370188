package io.sash.spark.names

import io.sash.spark.base.SashFunction
import io.sash.spark.kinds.WindowKindFunctions

/**
 * A call in an example of a function. Tests make other calls of it, over the example's rows.
 *
 * @param before the example's query before the call
 * @param after the query behind the call
 */
private[spark] final case class ExampleCall(
    function: SashFunction,
    arguments: Seq[String],
    before: String,
    after: String
) {
  def name: String = function.name

  /** A column of the example's rows. */
  def column: String = ExampleCall.FirstColumn.findAllMatchIn(after).map(_.group(1)).toSeq.last

  /** The example with other arguments: an aggregate over a moving frame, or a kind. */
  def query(of: Seq[String]): String = {
    val call = of.mkString(s"$name(", ", ", ")")
    if (function.group == "window_funcs") s"$before$call$after"
    else s"SELECT $call OVER (ORDER BY $column ROWS 1 PRECEDING) $rows"
  }

  private def rows: String = after.substring(after.indexOf("FROM "))
}

private[spark] object ExampleCall {
  private val FirstColumn = """\b(?:t|tab)\((\w+)""".r

  /** Each call of each function in its examples. */
  lazy val All: Seq[ExampleCall] =
    (AllSashFunctions.All ++ WindowKindFunctions.All :+ SlidingAgg.function).flatMap { function =>
      function.examples.flatMap { case (query, _) =>
        "_FUNC_\\(".r.findAllMatchIn(query).map { call =>
          val arguments = split(query.substring(call.end))
          val length = arguments.map(_.length).sum + arguments.length - 1
          ExampleCall(
            function,
            arguments.map(_.trim),
            named(query.substring(0, call.start), function),
            named(query.substring(call.end + length + 1), function)
          )
        }
      }
    }

  private def named(text: String, function: SashFunction): String =
    text.replace("_FUNC_", function.name)

  /** The texts between commas, until a bracket closes that no one opened. */
  private def split(text: String): Seq[String] = {
    val depths = text.scanLeft(0)((depth, c) => depth + "([{".count(_ == c) - ")]}".count(_ == c))
    val end = depths.indexOf(-1) - 1
    val commas = (0 until end).filter(i => text(i) == ',' && depths(i) == 0)
    (-1 +: commas).zip(commas :+ end).map { case (from, until) =>
      text.substring(from + 1, until)
    }
  }
}
