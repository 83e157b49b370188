package io.sash.spark.ordering

import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.execution.SortPrefixUtils
import org.apache.spark.sql.internal.SQLConf

import io.sash.spark.base.SashConf
import io.sash.spark.features.status.{FeatureName, FeatureStatus}
import io.sash.spark.multisets.Distinct

/**
 * The reason why no `OrderingExec` orders the rows below a window; EXPLAIN shows it.
 */
private[sash] sealed abstract class KeptSort(val reason: String)

private[sash] object KeptSort {
  case object SwitchedOff extends KeptSort(s"${SashConf.OrderingEnabled.key} is false")

  final case class FeatureOff(why: String) extends KeptSort(why)

  case object NoOrder extends KeptSort("the window has no ORDER BY")

  case object Collated
      extends KeptSort("a key has a collation, by which strings of different bytes can be equal")

  case object NullsOfNanos
      extends KeptSort(
        "a key has timestamps of nanoseconds, of which Spark's rows hold NULLs in unlike bytes"
      )

  case object SortedAbove
      extends KeptSort("the keys have to be in order above the window, and one sort serves both")

  case object SortedBelow
      extends KeptSort("the rows come from below in an order that serves the window, too")

  case object SeenAbove
      extends KeptSort(
        "another window above, in the same partitions, takes rows that tie in the order in " +
          "which the keys come"
      )

  case object NullsByRadix
      extends KeptSort(
        "without PARTITION BY, Spark's radix sort moves rows that tie where the order has NULLs"
      )

  /** Tags a window whose rows Spark sorts. */
  val Tag: TreeNodeTag[KeptSort] = TreeNodeTag("sash.keptSort")

  /**
   * The reason why Spark has to sort, as far as it is known when the window is planned. None if
   * an `OrderingExec` may order the rows.
   */
  private[spark] def of(order: KeyOrder, conf: SQLConf): Option[KeptSort] =
    if (!SashConf.orderingEnabled(conf)) Some(SwitchedOff)
    else if (!FeatureStatus.isOn(FeatureName.Ordering))
      FeatureStatus.reason(FeatureName.Ordering).map(FeatureOff(_))
    else if (order.within.isEmpty) Some(NoOrder)
    else if (!order.keys.forall(k => UnsafeRowUtils.isBinaryStable(k.dataType))) Some(Collated)
    else if (!order.keys.forall(k => Distinct.areOfEqualBytes(k.dataType))) Some(NullsOfNanos)
    else if (conf.enableRadixSort && isByRadix(order)) Some(NullsByRadix)
    else None

  /**
   * Whether Spark would sort these rows by radix, and NULLs are possible. Only without NULLs does
   * its radix sort keep the order of rows that tie.
   */
  private def isByRadix(order: KeyOrder): Boolean = order.sorted match {
    case Seq(by) => by.nullable && SortPrefixUtils.canSortFullyWithPrefix(by)
    case _       => false
  }
}
