package org.apache.spark.sash

import org.apache.spark.SparkContext
import org.apache.spark.sql.{Column, DataFrame}

/** What tests need of Spark's `private[spark]` parts. */
object TestInternals {

  /** Until all listeners have seen what has happened. */
  def waitForListeners(context: SparkContext): Unit = context.listenerBus.waitUntilEmpty()

  /** The as-of join of the pandas API on Spark. */
  def joinAsOf(
      left: DataFrame,
      right: DataFrame,
      asOf: (Column, Column),
      on: Column,
      kind: String,
      tolerance: Option[Column],
      exact: Boolean,
      direction: String
  ): DataFrame = {
    val method = left.getClass.getMethods.find { m =>
      m.getName == "joinAsOf" && m.getParameterTypes.apply(3) == classOf[Column]
    }
    method.get
      .invoke(
        left,
        right,
        asOf._1,
        asOf._2,
        on,
        kind,
        tolerance.orNull,
        Boolean.box(exact),
        direction
      )
      .asInstanceOf[DataFrame]
  }
}
