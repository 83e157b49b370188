package io.sash.spark.base

import org.apache.spark.sql.catalyst.expressions.Literal

private[spark] object SashVersion {
  val Version: String = Option(getClass.getPackage.getImplementationVersion).getOrElse("dev")
}

/** The SQL function sash_version(). All of Sash needs the version, but not this function. */
private[spark] object SashVersionFunction {
  val function: SashFunction = SashFunction.of(
    "sash_version",
    "Returns the version of Sash that is active in the session.",
    getClass,
    group = "misc_funcs"
  )(_ => Literal(SashVersion.Version))
}
