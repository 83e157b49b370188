package org.apache.spark.sash

import java.io.{File, InputStream, OutputStream}

import org.apache.spark.{SparkEnv, TaskContext}
import org.apache.spark.memory.TaskMemoryManager

/** What Sash needs of Spark's `private[spark]` parts; nothing else may live in this package. */
object SparkInternals {
  def taskMemoryManager(context: TaskContext): TaskMemoryManager = context.taskMemoryManager()

  def createTempFile(): File =
    SparkEnv.get.blockManager.diskBlockManager.createTempLocalBlock()._2

  def encrypting(out: OutputStream): OutputStream =
    SparkEnv.get.serializerManager.wrapForEncryption(out)

  def decrypting(in: InputStream): InputStream =
    SparkEnv.get.serializerManager.wrapForEncryption(in)

  def onTaskCompletion(action: () => Unit): Unit = {
    val context = TaskContext.get()
    if (context != null) context.addTaskCompletionListener[Unit](_ => action())
  }
}
