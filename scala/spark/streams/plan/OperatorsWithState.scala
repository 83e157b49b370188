package io.sash.spark.streams.plan

import org.apache.spark.sql.catalyst.plans.logical._

/** Tells which operators of a stream have state, Spark's own ones among them. */
private[streams] object OperatorsWithState {

  def hasState(plan: LogicalPlan): Boolean = plan.isStreaming && (plan match {
    case Join(left, right, _, _, _) => left.isStreaming && right.isStreaming
    case _                          => WithState(plan.nodeName)
  })

  /** Whether rows that have come may be answered, or be joined, in a later batch. */
  def keepsRows(plan: LogicalPlan): Boolean = hasState(plan) && !KeepsNoRow(plan.nodeName)

  /**
   * Operators of Spark that pass each row on at once, or never. SELECT DISTINCT is an aggregate,
   * which waits for the watermark.
   */
  private val KeepsNoRow = Set("Deduplicate", "DeduplicateWithinWatermark")

  /** By name, since not every version has all of them. */
  private val WithState = Set(
    "Aggregate",
    "Deduplicate",
    "DeduplicateWithinWatermark",
    "Distinct",
    "FlatMapGroupsInPandasWithState",
    "FlatMapGroupsWithState",
    "GlobalLimit",
    "TransformWithState",
    "TransformWithStateInPandas",
    "TransformWithStateInPySpark"
  )
}
