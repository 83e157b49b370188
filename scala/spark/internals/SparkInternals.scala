package org.apache.spark.sash

import java.io.{File, InputStream, OutputStream}
import java.util.Comparator

import scala.jdk.CollectionConverters._

import org.apache.spark.{SparkEnv, SparkRuntimeException, TaskContext}
import org.apache.spark.memory.{SparkOutOfMemoryError, TaskMemoryManager}
import org.apache.spark.unsafe.array.LongArray
import org.apache.spark.util.collection.Sorter
import org.apache.spark.util.collection.unsafe.sort.{
  RecordPointerAndKeyPrefix,
  UnsafeSortDataFormat
}

/** What Sash needs of Spark's `private[spark]` parts; only [[RowFile]] lives here, too. */
object SparkInternals {
  def taskMemoryManager(context: TaskContext): TaskMemoryManager = context.taskMemoryManager()

  /** Ends a task that was asked to end. */
  def throwIfKilled(context: TaskContext): Unit = context.killTaskIfInterrupted()

  /** Bytes that a consumer of the task's memory gave back at the request of another. */
  def countMemorySpilled(context: TaskContext, bytes: Long): Unit =
    context.taskMetrics().incMemoryBytesSpilled(bytes)

  /**
   * Spark's adaptive merge sort of the first records of an array, each a pointer and a prefix.
   *
   * @param room for half of them
   */
  def mergeSort(
      array: LongArray,
      records: Int,
      room: LongArray,
      order: Comparator[RecordPointerAndKeyPrefix]
  ): Unit = new Sorter(new UnsafeSortDataFormat(room)).sort(array, 0, records, order)

  def runtimeError(condition: String, parameters: Map[String, String]): Throwable =
    new SparkRuntimeException(condition, parameters)

  /** The error of a task that gets no memory, which ends that task alone. */
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
