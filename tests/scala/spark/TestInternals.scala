package org.apache.spark.sash

import org.apache.spark.SparkContext

/** What tests need of Spark's `private[spark]` parts. */
object TestInternals {

  /** Until all listeners have seen what has happened. */
  def waitForListeners(context: SparkContext): Unit = context.listenerBus.waitUntilEmpty()
}
