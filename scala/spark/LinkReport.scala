package io.sash.spark

import io.sash.spark.features.status.{FeatureName, FeatureStatus}

/**
 * Checks Sash's links against the Spark on the class path, without starting Spark. Prints one
 * line per feature: "all links", or the links that are missing.
 */
private object LinkReport {
  def main(args: Array[String]): Unit = {
    val begin = System.nanoTime
    val missing = FeatureStatus.missing(getClass.getClassLoader)
    val millis = (System.nanoTime - begin) / 1000000
    (FeatureName.Base +: FeatureName.All).foreach { feature =>
      println(
        s"$feature: ${missing.get(feature).fold("all links")(_.mkString("\n  ", "\n  ", ""))}"
      )
    }
    println(s"looked at in $millis ms")
  }
}
