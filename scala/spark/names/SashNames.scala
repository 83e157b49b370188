package io.sash.spark.names

import java.util.Locale

import org.apache.spark.sql.catalyst.analysis.FunctionRegistry.FunctionBuilder
import org.apache.spark.sql.catalyst.expressions.ExpressionInfo
import org.apache.spark.sql.sash.FunctionInternals

import io.sash.spark.base.SashVersionFunction
import io.sash.spark.history.HistoryUntilFunction
import io.sash.spark.kinds.WindowKindFunctions

/**
 * Sash's functions by name. They are in no catalogue and in no session's registry, so that
 * CREATE, DROP and SHOW FUNCTIONS work as without Sash. As `sash.name`, they are in Spark's
 * registry of internal functions, which the parser never reads.
 */
private[spark] object SashNames {

  /**
   * `sash.m4` is Sash's function even if the user has an `m4`, but for one in a schema of this
   * name. The schema need not exist.
   */
  val Schema = "sash"

  private val all: Map[String, (ExpressionInfo, FunctionBuilder)] =
    (AllSashFunctions.All ++ WindowKindFunctions.All :+
      SlidingAgg.function :+ HistoryUntilFunction.function :+ SashVersionFunction.function)
      .map(f => f.name -> (f.info -> f.build _))
      .toMap

  /**
   * The function's name in lower case; none if Sash has no such function. The name may have one
   * part, or two, with Sash's schema first.
   */
  def of(parts: Seq[String]): Option[String] = parts match {
    case Seq(name)                                            => known(name)
    case Seq(schema, name) if schema.equalsIgnoreCase(Schema) => known(name)
    case _                                                    => None
  }

  private def known(name: String): Option[String] =
    Some(name.toLowerCase(Locale.ROOT)).filter(all.contains)

  /** The names of Sash's functions among the words of a text. */
  def in(text: String): Seq[String] =
    "\\w+".r.findAllIn(text).toSeq.flatMap(known).distinct

  def info(name: String): ExpressionInfo = all(name)._1

  def build(name: String): FunctionBuilder = all(name)._2

  /** The aggregates that `sliding_agg` accepts by name. */
  def aggregates: Seq[String] =
    all.collect { case (name, (info, _)) if info.getGroup == "agg_funcs" => name }.toSeq

  /** The name of a Sash function in Spark's registry of internal functions. */
  private[names] def internal(name: String): String = {
    registered
    s"$Schema.$name"
  }

  /** Registers all functions, once per JVM, since the registry is global. */
  private lazy val registered: Unit = all.foreach { case (name, (info, build)) =>
    FunctionInternals.registerInternalFunction(s"$Schema.$name", info, build)
  }
}
