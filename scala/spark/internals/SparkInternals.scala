package org.apache.spark.sash

import java.io.{File, InputStream, OutputStream}
import java.util.Comparator

import scala.jdk.CollectionConverters._

import org.apache.spark.{SparkEnv, SparkRuntimeException, TaskContext}
import org.apache.spark.memory.{SparkOutOfMemoryError, TaskMemoryManager}
import org.apache.spark.rdd.{DeterministicLevel, RDD}
import org.apache.spark.unsafe.array.LongArray
import org.apache.spark.util.collection.Sorter
import org.apache.spark.util.collection.unsafe.sort.{
  RecordPointerAndKeyPrefix,
  UnsafeSortDataFormat
}

/** Opens `private[spark]` parts of Spark to Sash. [[RowFile]] is in this package, too. */
object SparkInternals {
  def taskMemoryManager(context: TaskContext): TaskMemoryManager = context.taskMemoryManager()

  /** Whether the rows of a partition come in the same order if Spark computes it once more. */
  def comesInOneOrder(rows: RDD[_]): Boolean =
    rows.outputDeterministicLevel == DeterministicLevel.DETERMINATE

  /** Throws if Spark has asked the task to end. */
  def throwIfKilled(context: TaskContext): Unit = context.killTaskIfInterrupted()

  /** Counts bytes that a memory consumer of the task released for another one. */
  def countMemorySpilled(context: TaskContext, bytes: Long): Unit =
    context.taskMetrics().incMemoryBytesSpilled(bytes)

  /**
   * Sorts the first records of an array by Spark's adaptive merge sort. A record is a pointer and
   * a prefix.
   *
   * @param room a buffer with space for half of the records
   */
  def mergeSort(
      array: LongArray,
      records: Int,
      room: LongArray,
      order: Comparator[RecordPointerAndKeyPrefix]
  ): Unit = new Sorter(new UnsafeSortDataFormat(room)).sort(array, 0, records, order)

  def runtimeError(condition: String, parameters: Map[String, String]): Throwable =
    new SparkRuntimeException(condition, parameters)

  /** The error of a task that gets no memory. It fails the task, but not the executor. */
  def outOfMemory(requested: String, received: String): Throwable = new SparkOutOfMemoryError(
    "UNABLE_TO_ACQUIRE_MEMORY",
    Map("requestedBytes" -> requested, "receivedBytes" -> received).asJava
  )

  def createTempFile(): File =
    SparkEnv.get.blockManager.diskBlockManager.createTempLocalBlock()._2

  def encrypting(out: OutputStream): OutputStream =
    SparkEnv.get.serializerManager.wrapForEncryption(out)

  def decrypting(in: InputStream): InputStream =
    SparkEnv.get.serializerManager.wrapForEncryption(in)
}
