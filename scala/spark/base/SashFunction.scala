package io.sash.spark.base

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.expressions._

/**
 * A function that SQL calls by name, with its text in DESCRIBE FUNCTION and docs/functions.md.
 * `_FUNC_` stands for the name.
 *
 * @param usage the returned value, in a sentence that begins with a verb
 * @param arguments the arguments' names and meanings
 * @param examples queries, each with the lines of its answer
 * @param note further facts: NULLs, ties, cost
 * @param optional how many of the last arguments may be left out
 * @param repeats how often the last argument may be repeated
 * @param lambdas the names of the arguments that take a lambda
 * @param takesNames whether a call may name its arguments, as in `hop => '1 hour'`; `make` then
 *   gets `NamedArguments.LeftOut` for an argument that is left out before another one
 * @param implementation the expression's class
 * @param group the group in SHOW FUNCTIONS and in Spark's documentation
 * @param make builds the expression from the arguments, whose number is checked before
 */
private[spark] final case class SashFunction(
    name: String,
    usage: String,
    arguments: Seq[(String, String)],
    examples: Seq[(String, String)],
    note: Seq[String],
    implementation: Class[_],
    optional: Int = 0,
    group: String = "agg_funcs",
    lambdas: Seq[String] = Nil,
    repeats: Int = 0,
    takesNames: Boolean = false
)(make: Seq[Expression] => Expression) {
  import SashFunction.AnyNumber

  def build(arguments: Seq[Expression]): Expression = ofPlaces(placed(arguments))

  /** The arguments by their places, where some may be given by name. */
  private def placed(actual: Seq[Expression]): Seq[Expression] =
    if (!actual.exists(_.isInstanceOf[NamedArgumentExpression])) actual
    else if (!takesNames)
      throw new AnalysisException(
        "NAMED_PARAMETERS_NOT_SUPPORTED",
        Map("functionName" -> s"`$name`")
      )
    else new NamedArguments(name, arguments.map(_._1), arguments.length - optional).placed(actual)

  private def ofPlaces(actual: Seq[Expression]): Expression = {
    val least = arguments.length - optional
    val most = if (repeats == AnyNumber) Int.MaxValue else arguments.length + repeats
    if (actual.length >= least && actual.length <= most) {
      actual.zip(arguments).foreach { case (value, (argument, _)) =>
        if (value.isInstanceOf[LambdaFunction] && !lambdas.contains(argument))
          throw SashErrors.invalidArgument(name, argument, "it is a lambda; write a value")
      }
      make(actual)
    } else {
      val expected =
        if (least == most) s"$most"
        else if (repeats == AnyNumber) s"at least $least"
        else s"$least to $most"
      throw SashErrors.wrongArguments(name, expected, actual.length)
    }
  }

  /** The call as a user writes it; brackets enclose the arguments that may be left out. */
  def signature: String = {
    val (needed, others) = arguments.map(_._1).splitAt(arguments.length - optional)
    val brackets = others.map(" [, " + _).mkString + " ]" * others.length
    val more = if (repeats > 0) ", ..." else ""
    s"$name(${needed.mkString(", ")}$brackets$more)"
  }

  def info: ExpressionInfo = {
    val listed = arguments.map { case (argument, meaning) => s"      * $argument - $meaning\n" }
    val queries = examples.map { case (query, answer) =>
      s"      > $query;\n" + answer.linesIterator.map(line => s"       $line\n").mkString
    }
    new ExpressionInfo(
      implementation.getName,
      null,
      name,
      s"${signature.replace(name, "_FUNC_")} - $usage",
      if (listed.isEmpty) "" else listed.mkString("\n    Arguments:\n", "", "  "),
      if (queries.isEmpty) "" else queries.mkString("\n    Examples:\n", "", "  "),
      if (note.isEmpty) "" else note.mkString("\n    ", "\n      ", "\n  "),
      group,
      "0.1.0",
      "",
      "scala_udf"
    )
  }
}

private[spark] object SashFunction {

  /** For a last argument that may be repeated without end. */
  val AnyNumber: Int = Int.MaxValue

  /**
   * The function that a text describes. Its paragraphs are the usage, then the arguments, then
   * the examples, and last the further facts:
   * {{{
   * Returns the sum of two numbers.
   *
   * * x - a number
   * * y - another one, which may be
   *   less than 0
   *
   * > SELECT _FUNC_(1, 2), _FUNC_(1, -2);
   * 3  -1
   *
   * NULL if one of them is NULL.
   * }}}
   * Blanks at the begin of a line mean nothing. The columns of an answer are two blanks apart.
   */
  def of(
      name: String,
      text: String,
      implementation: Class[_],
      optional: Int = 0,
      repeats: Int = 0,
      group: String = "agg_funcs",
      lambdas: Seq[String] = Nil,
      takesNames: Boolean = false
  )(make: Seq[Expression] => Expression): SashFunction = {
    val usage +: paragraphs =
      text.linesIterator.map(_.trim).mkString("\n").trim.split("\n\n+").toSeq
    val (arguments, others) = paragraphs.span(_.startsWith("* "))
    val (examples, facts) = others.span(_.startsWith("> "))
    SashFunction(
      name,
      joined(usage),
      arguments.flatMap(_.stripPrefix("* ").split("\n\\* ")).map(argumentOf),
      examples.map(exampleOf),
      facts.flatMap(_.linesIterator),
      implementation,
      optional,
      group,
      lambdas,
      repeats,
      takesNames
    )(make)
  }

  private def joined(text: String): String = text.linesIterator.mkString(" ")

  private def argumentOf(text: String): (String, String) = {
    val Array(name, meaning) = joined(text).split(" - ", 2)
    name -> meaning
  }

  private def exampleOf(text: String): (String, String) = {
    val Array(query, answer) = text.stripPrefix("> ").split(";\n", 2)
    joined(query) -> answer.replaceAll(" {2,}", "\t")
  }
}
