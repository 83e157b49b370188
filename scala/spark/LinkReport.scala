package io.sash.spark

import io.sash.spark.features.Standing

/**
 * Prints what would run on the Spark of the class path, without starting it: for each feature that
 * it has all links, or all that are missing.
 */
private object LinkReport {
  def main(args: Array[String]): Unit = {
    val missing = Standing.missing(getClass.getClassLoader)
    val again = System.nanoTime
    Standing.missing(getClass.getClassLoader)
    println((System.nanoTime - again)/1000000)
    (Standing.Base +: Standing.All).foreach { feature =>
      println(s"$feature: ${missing.get(feature).fold("all links")(_.mkString("\n  ", "\n  ", ""))}")
    }
    println(s"in ${Standing.millis} ms, ${Standing.cpu} of them computing")
  }
}
