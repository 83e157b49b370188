package io.sash.spark.base

/**
 * The ids of algorithms, as in `spark.sash.window.algorithm`. Settings use these ids without
 * linking to an algorithm.
 */
private[spark] object AlgorithmIds {
  val Auto = "auto"
  val SlickDequeInv = "slickdeque-inv"
  val SlickDequeNonInv = "slickdeque-non-inv"
  val TwoStacksLite = "two-stacks-lite"
  val Recalculate = "recalculate"
  val BaseIntervals = "base-intervals"

  /** The algorithms in the order in which `auto` tries them, as in `Algorithm.All`. */
  val All: Seq[String] = Seq(SlickDequeInv, SlickDequeNonInv, TwoStacksLite, Recalculate)
}
