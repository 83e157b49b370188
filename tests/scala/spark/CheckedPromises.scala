package io.sash.spark

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.{SparkSessionExtensions, SparkSessionExtensionsProvider}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.physical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan, UnaryExecNode}
import org.apache.spark.util.CollectionAccumulator

import io.sash.spark.hops.HopWindowsExec
import io.sash.spark.ordering.{KeyOrder, OrderingExec}
import io.sash.spark.plan.SlidingWindowExec
import io.sash.spark.split.SplitWindowExec

/**
 * Puts a [[CheckedExec]] over each node of Sash's, in every plan that is made while `on` is set:
 * the promises of order and partitioning are then held against the rows.
 */
final class CheckedPromises extends SparkSessionExtensionsProvider {
  override def apply(extensions: SparkSessionExtensions): Unit =
    extensions.injectColumnar(_ =>
      new ColumnarRule {
        override def preColumnarTransitions: Rule[SparkPlan] = CheckedPromises
      }
    )
}

object CheckedPromises extends Rule[SparkPlan] {
  @volatile var on = false

  def whileOn[T](body: => T): T = {
    val before = on
    on = true
    try body
    finally on = before
  }

  override def apply(plan: SparkPlan): SparkPlan = if (!on) plan else checked(plan)

  private def checked(plan: SparkPlan): SparkPlan = plan match {
    case done: CheckedExec => done
    case other =>
      val below = other.withNewChildren(other.children.map(checked))
      below match {
        case w: SlidingWindowExec => CheckedExec(w, Some(w.order))
        case o: OrderingExec      => CheckedExec(o, Some(o.keyOrder))
        case h: HopWindowsExec    => CheckedExec(h, None)
        case s: SplitWindowExec   => CheckedExec(s, None)
        case _                    => below
      }
  }

  /** What rows break of a plan's promises; empty, and then it is known how many were looked at. */
  def broken(plan: CheckedExec): Seq[String] = {
    val partitions = plan.seen.value.asScala.toSeq.groupMap(_._1)(_._2)
    for {
      (part, i) <- plan.partitioned.zipWithIndex
      keys = partitions.toSeq.map { case (p, ks) => (p, ks.flatMap(_(i)).toSet) }.sortBy(_._1)
      ((p, left), n) <- keys.zipWithIndex
      (q, right) <- keys.drop(n + 1)
      both <- left.intersect(right).headOption
    } yield s"$part promised, but $both lies in partitions $p and $q"
  }
}

/** Its child's rows, held against what the child promises. */
case class CheckedExec(child: SparkPlan, keyOrder: Option[KeyOrder]) extends UnaryExecNode {

  /** Of each partition, the keys of each partitioning that is promised, as text. */
  @transient lazy val seen: CollectionAccumulator[(Int, Seq[Set[String]])] =
    sparkContext.collectionAccumulator[(Int, Seq[Set[String]])]("keys")

  @transient lazy val rowsSeen = sparkContext.longAccumulator("rows")

  override def output: Seq[Attribute] = child.output
  override def outputOrdering: Seq[SortOrder] = child.outputOrdering
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override def requiredChildOrdering: Seq[Seq[SortOrder]] = Seq(Nil)

  /** The expressions of which equal values are promised to lie in one partition. */
  def partitioned: Seq[Seq[Expression]] = expressions(child.outputPartitioning)

  private def expressions(promised: Partitioning): Seq[Seq[Expression]] = promised match {
    case hash: HashPartitioning          => Seq(hash.expressions)
    case hash: CoalescedHashPartitioning => Seq(hash.from.expressions)
    case range: RangePartitioning        => Seq(range.ordering.map(_.child))
    case several: PartitioningCollection => several.partitionings.flatMap(expressions)
    case SinglePartition                 => Seq(Nil) // all rows have the empty key
    case _                               => Nil
  }

  override protected def doExecute(): RDD[InternalRow] = {
    // strict copies, since promises may be lazy sequences, which do not travel
    val sort =
      child.outputOrdering.map(o => SortOrder(o.child, o.direction, o.nullOrdering, Nil)).toVector
    val (order, input) = (keyOrder, child.output.toVector)
    val keys = partitioned.map(_.toVector).toVector
    val (keysSeen, counted) = (seen, rowsSeen)
    val name = child.nodeName
    child.execute().mapPartitionsWithIndex { (index, rows) =>
      val bySort = RowOrdering.create(sort, input)
      val within = order.map(o => RowOrdering.create(o.within, input))
      val key = order.map(o => UnsafeProjection.create(o.keys, input))
      val values = keys.map(k => UnsafeProjection.create(k, input))
      val found = keys.map(_ => mutable.Set.empty[String])
      val gone = mutable.Set.empty[InternalRow]
      var last: InternalRow = null
      def check(row: InternalRow): Unit = {
        counted.add(1)
        values.zip(found).foreach { case (v, f) => f += v(row).toString }
        if (last != null && sort.nonEmpty)
          require(bySort.compare(last, row) <= 0, s"$name promised $sort: $last before $row")
        key.foreach { k =>
          val previous = if (last == null) null else k(last).copy()
          val now = k(row).copy()
          if (now == previous)
            require(within.get.compare(last, row) <= 0, s"$name, $order: $last before $row")
          else
            require(gone.add(now), s"$name, $order: the key of $row was here before")
        }
        last = row.copy()
      }
      new Iterator[InternalRow] {
        private var ended = false
        override def hasNext: Boolean = {
          val more = rows.hasNext
          if (!more && !ended) {
            ended = true
            keysSeen.add((index, found.map(_.toSet)))
          }
          more
        }
        override def next(): InternalRow = {
          val row = rows.next()
          check(row)
          row
        }
      }
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): CheckedExec =
    copy(child = newChild)
}
