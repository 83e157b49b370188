package io.sash.spark.monoids

import org.apache.spark.sql.catalyst.trees.TreeNodeTag

/** The reason why a window expression stays with Spark's own operator. EXPLAIN shows it. */
private[sash] sealed abstract class Refusal(val reason: String)

private[sash] object Refusal {
  case object EntirePartition
      extends Refusal("the frame is the entire partition, which Spark aggregates once")

  case object Growing
      extends Refusal(
        "the frame only grows (UNBOUNDED PRECEDING), which Spark aggregates incrementally"
      )

  final case class GrowingBuffer(function: String)
      extends Refusal(
        "the frame only grows (UNBOUNDED PRECEDING), and Spark adds each row to one buffer; an " +
          s"answer of $function costs as much as that buffer is large"
      )

  case object GrowingSorted
      extends Refusal(
        "the frame only grows (UNBOUNDED PRECEDING), and Spark sorts all values for each row; " +
          "write a percentile of numbers with at most 18 digits, without frequencies"
      )

  case object GrowingCounted
      extends Refusal(
        "the frame only grows (UNBOUNDED PRECEDING), and Spark compares the counts of all " +
          "values for each row; write the mode of values that GROUP BY tells apart by their bytes"
      )

  final case class NotAnAggregate(function: String)
      extends Refusal(s"$function is a ranking or offset function, not an aggregate")

  final case class Python(function: String)
      extends Refusal(s"$function runs in Python and cannot be merged")

  final case class NotMergeable(function: String) extends Refusal(s"$function defines no merge")

  final case class Indistinct(dataType: String)
      extends Refusal(
        s"DISTINCT cannot tell values of type $dataType apart by their bytes; name a value of " +
          "another type that they are made from"
      )

  final case class Unbound(bound: String) extends Refusal(s"unknown frame bound $bound")

  final case class Unknown(what: String)
      extends Refusal(s"this Spark has $what, which Sash does not know")

  final case class Unordered(key: String) extends Refusal(s"rows cannot be ordered by $key")

  case object NoWindowFunction
      extends Refusal("the optimizer replaced the window function by a constant")

  /**
   * The refusals of a logical Window: the SQL of each expression that stays with Spark, and the
   * reason.
   */
  val Tag: TreeNodeTag[Seq[(String, Refusal)]] = TreeNodeTag("sash.refusals")
}
