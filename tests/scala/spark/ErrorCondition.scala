package io.sash.spark

import org.apache.spark.SparkThrowable

/** The name by which Spark knows an error, wherever in the chain of causes it stands. */
object ErrorCondition {
  def of(error: Throwable): String = {
    val causes = Iterator.iterate(error)(_.getCause).takeWhile(_ != null).toSeq
    causes
      .collectFirst {
        case s: SparkThrowable if s.getCondition != null => s.getCondition
      }
      .getOrElse(causes.last.getClass.getName)
  }
}
