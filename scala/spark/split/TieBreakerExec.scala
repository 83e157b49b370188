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
 * Numbers rows, so that rows that tie have the same order in all tasks that read them. The number
 * is the row's place in the input. On a cluster, Spark may compute rows once more after the loss
 * of an executor, and rows from a shuffle then come in another order. In that case the number is
 * a hash of the row. Two readings differ only if rows that tie have equal hashes, with a chance
 * of 2^-64.
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
