package io.sash.spark

import io.sash.spark.base.SashConf

/** Prints docs/configuration.md. */
private[sash] object ConfigurationDoc {
  def main(args: Array[String]): Unit = print(markdown)

  def markdown: String = {
    val rows = SashConf.All.filter(_.isPublic).map { e =>
      s"| `${e.key}` | `${e.defaultValueString}` | ${e.doc} | ${e.version} |"
    }
    (heading +: rows).mkString("", "\n", "\n")
  }

  private def heading: String =
    """# Configuration
      |
      |Generated from `SashConf.scala` by `make docs`. Settings are runtime settings of a session,
      |unless they are called static: `SET key=value` or `spark.conf.set(key, value)`. One more is
      |for tests and benchmarks: `spark.sash.window.algorithm` ([algorithms](algorithms.md)).
      |
      || setting | default | meaning | since |
      ||---|---|---|---|""".stripMargin
}
