package io.sash.spark.names

import org.apache.spark.sql.{AnalysisException, SparkSession}
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.analysis.FunctionRegistry
import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction
import org.apache.spark.sql.types.StringType
import org.apache.spark.unsafe.types.UTF8String

import io.sash.spark.base.{SashErrors, SashFunction}
import io.sash.spark.kinds.{ResolveWindowKinds, SlidingAggregate, WindowKind}
import io.sash.spark.lambdas.MonoidCall

/**
 * `sliding_agg(col, monoid, argument, …)` is the aggregate with the name `monoid`, for use with
 * OVER. It resolves to the aggregate's own expression. So `sliding_agg(x, 'max') OVER (…)` has
 * the NULLs, types, errors and plan of `max(x) OVER (…)`.
 */
private[spark] object SlidingAgg {
  val Name = "sliding_agg"

  val function: SashFunction = SashFunction.of(
    Name,
    """
    Returns the aggregate named by `monoid` of `col`, over a window.

    * col - the value
    * monoid - the name of an aggregate, a constant
    * argument - a further argument of the aggregate, or a kind of window

    > SELECT _FUNC_(x, 'max') OVER (ORDER BY x ROWS 1 PRECEDING) FROM VALUES (1), (2) AS t(x);
    1
    2
    """,
    getClass,
    optional = 1,
    repeats = SashFunction.AnyNumber,
    lambdas = Seq("argument") // the error says which function takes them
  ) { case column +: monoid +: more =>
    val (kinds, arguments) = more.partitionMap {
      case k: WindowKind => Left(k)
      case a             => Right(a)
    }
    val aggregate = named(nameOf(monoid), column +: arguments)
    if (kinds.isEmpty) aggregate else sliding(aggregate, kinds)
  }

  private def sliding(aggregate: Expression, kinds: Seq[WindowKind]): Expression =
    aggregate match {
      case f: AggregateFunction => SlidingAggregate.of(f, kinds)
      case other =>
        throw ResolveWindowKinds.misplaced(
          kinds.head,
          s"${other.sql} is computed from an aggregate; name an aggregate itself"
        )
    }

  private def nameOf(monoid: Expression): String = monoid match {
    case Literal(name: UTF8String, _: StringType) => name.toString
    case other =>
      throw new AnalysisException(
        errorClass = "INVALID_PARAMETER_VALUE.STRING",
        messageParameters = Map(
          "parameter" -> "`monoid`",
          "functionName" -> s"`$Name`",
          "invalidValue" -> s"'${other.sql}'; pass the name of an aggregate, as in 'max'"
        )
      )
  }

  private def named(name: String, arguments: Seq[Expression]): Expression = {
    if (name.equalsIgnoreCase(MonoidCall.Name)) throw takesLambdas(name)
    val made = identifier(name) match {
      case Some(id) => registry.lookupFunction(id, arguments)
      case None =>
        SashNames.of(Seq(name)).fold(throw unknown(name))(SashNames.build(_)(arguments))
    }
    made match {
      case aggregate if aggregate.find(_.isInstanceOf[AggregateFunction]).isDefined => aggregate
      case _ => throw unknown(name)
    }
  }

  private def takesLambdas(name: String): Throwable = SashErrors.invalidArgument(
    Name,
    "monoid",
    s"'$name' takes lambdas; write $name(col, x -> ..., (a, b) -> ...) OVER (...) itself"
  )

  private def session: SparkSession = SparkSession.active

  private def registry: FunctionRegistry = session.sessionState.functionRegistry

  /**
   * Finds a function in the session's registry. A function of a catalogue is there once a query
   * has called it. Some versions of Spark register built-in and temporary functions by a name of
   * one part, others by one of three parts.
   */
  private def identifier(name: String): Option[FunctionIdentifier] = {
    val (builtin, ofSession) = (Seq(None, Some("builtin")), Some("session"))
    val ofCatalog = Some(session.sessionState.catalog.getCurrentDatabase)
    // the order in which Spark looks a name of one part up
    val places = session.conf.get(SessionOrder, "second") match {
      case "first" => ofSession +: builtin :+ ofCatalog
      case "last"  => builtin :+ ofCatalog :+ ofSession
      case _       => builtin :+ ofSession :+ ofCatalog
    }
    registry
      .listFunction()
      .filter(id => id.funcName.equalsIgnoreCase(name) && places.contains(id.database))
      .minByOption(id => places.indexOf(id.database))
  }

  private val SessionOrder = "spark.sql.functionResolution.sessionOrder"

  private def unknown(name: String): Throwable = SashErrors.invalidArgument(
    Name,
    "monoid",
    s"no aggregate is called `$name`; nearest are ${nearest(name)}"
  )

  /** The three aggregates whose names need the fewest edits. */
  private def nearest(name: String): String = {
    val wanted = UTF8String.fromString(name.toLowerCase(java.util.Locale.ROOT))
    aggregates
      .sortBy(a => (wanted.levenshteinDistance(UTF8String.fromString(a)), a))
      .take(3)
      .map(a => s"'$a'")
      .mkString(", ")
  }

  private def aggregates: Seq[String] =
    (registry
      .listFunction()
      .flatMap(registry.lookupFunction)
      .filter(_.getGroup == "agg_funcs")
      .map(_.getName) ++ SashNames.aggregates).distinct
}
