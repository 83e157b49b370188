package io.sash.spark.streams.plan

import scala.jdk.CollectionConverters._

import org.apache.spark.SparkContext
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow

import io.sash.spark.streams.task.KeyTurns

/**
 * The partitions of an operator that have been read to the end in a batch. Spark commits the
 * state of such a partition only.
 */
private[streams] final class ReadPartitions(sc: SparkContext) {
  private[this] val read = sc.collectionAccumulator[Integer]
  @volatile private[this] var partitions = -1 // before the operator is executed

  /** The same rows; each partition is noted when it has been read to the end. */
  def of(rows: RDD[InternalRow]): RDD[InternalRow] = {
    partitions = rows.getNumPartitions
    val noted = read
    rows.mapPartitionsWithIndex(
      (index, ofOne) => KeyTurns.ending(ofOne)(noted.add(index)),
      preservesPartitioning = true
    )
  }

  /** Whether all partitions have been read, each once or several times. */
  def areAll: Boolean = read.value.asScala.toSet.size == partitions
}
