package io.sash.spark.base

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.expressions.{Expression, Literal, NamedArgumentExpression}
import org.apache.spark.sql.internal.SQLConf

/**
 * Puts arguments that are given by name at their places, with Spark's own errors. Spark's own
 * method for this has other parameters in each version.
 *
 * @param function the name of the function
 * @param names the names of its arguments
 * @param needed how many of them may not be left out
 */
private[base] final class NamedArguments(function: String, names: Seq[String], needed: Int) {
  import NamedArguments.LeftOut

  def placed(actual: Seq[Expression]): Seq[Expression] = {
    val (byPlace, others) = actual.span(!_.isInstanceOf[NamedArgumentExpression])
    val byName = others.map {
      case NamedArgumentExpression(name, value) => numberOf(name) -> value
      case _ => refuse("UNEXPECTED_POSITIONAL_ARGUMENT", nameOf(others.head))
    }
    byName.map(_._1).zipWithIndex.foreach { case (number, i) =>
      if (number < byPlace.length)
        refuse(
          "DUPLICATE_ROUTINE_PARAMETER_ASSIGNMENT.BOTH_POSITIONAL_AND_NAMED",
          names(number)
        )
      if (byName.take(i).exists(_._1 == number))
        refuse(
          "DUPLICATE_ROUTINE_PARAMETER_ASSIGNMENT.DOUBLE_NAMED_ARGUMENT_REFERENCE",
          names(number)
        )
    }
    val named = byName.toMap
    val rest = (byPlace.length until names.length).map { i =>
      named.getOrElse(i, if (i < needed) lacks(i) else LeftOut)
    }
    (byPlace ++ rest).reverse.dropWhile(_ eq LeftOut).reverse
  }

  private def numberOf(name: String): Int = {
    val number = names.indexWhere(SQLConf.get.resolver(_, name))
    if (number < 0)
      throw new AnalysisException(
        "UNRECOGNIZED_PARAMETER_NAME",
        Map(
          "routineName" -> s"`$function`",
          "argumentName" -> s"`$name`",
          "proposal" -> names.map(n => s"`$n`").mkString(" ")
        )
      )
    number
  }

  private def nameOf(argument: Expression): String = argument match {
    case NamedArgumentExpression(name, _) => name
    case other                            => other.sql
  }

  private def refuse(condition: String, name: String): Nothing = throw new AnalysisException(
    condition,
    Map("routineName" -> s"`$function`", "parameterName" -> s"`$name`")
  )

  private def lacks(i: Int): Nothing = throw new AnalysisException(
    "REQUIRED_PARAMETER_NOT_FOUND",
    Map(
      "routineName" -> s"`$function`",
      "parameterName" -> s"`${names(i)}`",
      "index" -> i.toString
    )
  )
}

private[spark] object NamedArguments {

  /** Stands for an argument that is left out before arguments that are given by name. */
  val LeftOut: Literal = Literal(null)
}
