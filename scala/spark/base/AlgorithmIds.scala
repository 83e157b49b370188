package io.sash.spark.base

/** What `spark.sash.window.algorithm` can be: known to settings, which link to no algorithm. */
private[spark] object AlgorithmIds {
  val Auto = "auto"
  val SlickDequeInv = "slickdeque-inv"
  val SlickDequeNonInv = "slickdeque-non-inv"
  val TwoStacksLite = "two-stacks-lite"
  val Recalculate = "recalculate"
  val BaseIntervals = "base-intervals"

  /** In the order of the cascade, as `Algorithm.All`. */
  val All: Seq[String] = Seq(SlickDequeInv, SlickDequeNonInv, TwoStacksLite, Recalculate)
}
