package io.sash.spark.split

import org.apache.spark.rdd.RDD
import org.apache.spark.sash.SparkInternals
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.types.LongType

import io.sash.spark.base.RowHash

/**
 * Numbers rows, so that rows that tie have one order in all tasks that read them. The number is
 * the place of a row in the input. Where a row may have another place if Spark computes it once
 * more, the number is a hash of the row: rows from a shuffle come in any order, and an executor
 * of a cluster may be lost. So two readings differ only if two rows that tie have the same hash,
 * with a chance of 2^-64.
 */
private[spark] final case class TieBreakerExec(number: Attribute, child: SparkPlan)
    extends UnaryExecNode {

  override def output: Seq[Attribute] = child.output :+ number

  override def outputPartitioning: Partitioning = child.outputPartitioning

  override def outputOrdering: Seq[SortOrder] = child.outputOrdering

  override protected def withNewChildInternal(newChild: SparkPlan): TieBreakerExec =
    copy(child = newChild)

  override protected def doExecute(): RDD[InternalRow] = {
    val rows = child.execute()
    val byPlace = sparkContext.isLocal || SparkInternals.comesInOneOrder(rows)
    TieBreakerExec.numbered(rows, child.output, output, byPlace)
  }
}

private[split] object TieBreakerExec {

  /** A partition has fewer than 2^33 rows, as for `monotonically_increasing_id`. */
  private val PlaceBits = 33

  def numbered(
      rows: RDD[InternalRow],
      input: Seq[Attribute],
      output: Seq[Attribute],
      byPlace: Boolean
  ): RDD[InternalRow] = rows.mapPartitionsWithIndex { (partition, in) =>
    val (plain, all) =
      (UnsafeProjection.create(input, input), UnsafeProjection.create(output, output))
    val (number, joined) = (new SpecificInternalRow(Seq(LongType)), new JoinedRow)
    var place = partition.toLong << PlaceBits
    in.map { row =>
      number.setLong(0, if (byPlace) place else RowHash.of(plain(row)))
      place += 1
      all(joined(row, number))
    }
  }
}
