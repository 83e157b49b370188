package io.sash.spark.base

import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo, Literal}

private[spark] object SashVersion {
  val Version: String = Option(getClass.getPackage.getImplementationVersion).getOrElse("dev")
}

/** The SQL function sash_version(). */
private[spark] object SashVersionFunction {
  val Name = "sash_version"

  val Info = new ExpressionInfo(
    getClass.getName.stripSuffix("$"),
    null,
    Name,
    "_FUNC_() - Returns the version of Sash that is active in the session.",
    "",
    "",
    "",
    "misc_funcs",
    "0.1.0",
    "",
    "scala_udf"
  )

  def build(arguments: Seq[Expression]): Expression =
    if (arguments.isEmpty) Literal(SashVersion.Version)
    else throw SashErrors.wrongArguments(Name, "0", arguments.length)
}
