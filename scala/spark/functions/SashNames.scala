package io.sash.spark.functions

import java.util.Locale

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.analysis.FunctionRegistry.FunctionBuilder
import org.apache.spark.sql.catalyst.expressions.{ExpressionInfo, NamedArgumentExpression}
import org.apache.spark.sql.sash.FunctionInternals

import io.sash.spark.base.SashVersionFunction
import io.sash.spark.kinds.WindowKindFunctions

/**
 * Sash's functions by name. No catalogue and no session's registry holds them, so that CREATE,
 * DROP and SHOW FUNCTIONS are as without Sash. They lie in Spark's registry of internal functions,
 * which the parser never reads, under names of their own.
 */
private[spark] object SashNames {

  /** A schema that nobody needs to have: `sash.geomean` is Sash's where `geomean` is a user's. */
  val Schema = "sash"

  private val all: Map[String, (ExpressionInfo, FunctionBuilder)] =
    ((SashFunctions.All ++ WindowKindFunctions.All)
      .map(f => (f.name, f.info, f.build _: FunctionBuilder)) ++ Seq(
      (SlidingAgg.Name, SlidingAgg.Info, SlidingAgg.build _: FunctionBuilder),
      (
        SashVersionFunction.Name,
        SashVersionFunction.Info,
        SashVersionFunction.build _: FunctionBuilder
      )
    )).map { case (name, info, build) => name -> (info -> positional(name, build)) }.toMap

  private def positional(name: String, build: FunctionBuilder): FunctionBuilder = arguments =>
    if (arguments.exists(_.isInstanceOf[NamedArgumentExpression]))
      throw new AnalysisException(
        "NAMED_PARAMETERS_NOT_SUPPORTED",
        Map("functionName" -> s"`$name`")
      )
    else build(arguments)

  /** Sash's own spelling of a name of one part, or of two of which the first is Sash's schema. */
  def of(parts: Seq[String]): Option[String] = parts match {
    case Seq(name)                                            => known(name)
    case Seq(schema, name) if schema.equalsIgnoreCase(Schema) => known(name)
    case _                                                    => None
  }

  private def known(name: String): Option[String] =
    Some(name.toLowerCase(Locale.ROOT)).filter(all.contains)

  /** Those that a text may call. */
  def in(text: String): Seq[String] =
    "\\w+".r.findAllIn(text).toSeq.flatMap(known).distinct

  def info(name: String): ExpressionInfo = all(name)._1

  def build(name: String): FunctionBuilder = all(name)._2

  /** Those by which `sliding_agg` can name an aggregate. */
  def aggregates: Seq[String] =
    all.collect { case (name, (info, _)) if info.getGroup == "agg_funcs" => name }.toSeq

  /** What Spark's registry of internal functions calls a function of Sash's. */
  private[functions] def internal(name: String): String = {
    registered
    s"$Schema.$name"
  }

  /** Once in a JVM, as is the registry. */
  private lazy val registered: Unit = all.foreach { case (name, (info, build)) =>
    FunctionInternals.registerInternalFunction(s"$Schema.$name", info, build)
  }
}
