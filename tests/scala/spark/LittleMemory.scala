package io.sash.spark

import org.apache.spark.sql.SparkSession
import org.scalatest.BeforeAndAfterAll

/** A suite whose session has one task at a time and little memory, of which no block keeps any. */
trait LittleMemory extends SashSuite with BeforeAndAfterAll {

  /** Of which a task has four fifths. */
  protected def heapBytes: Long

  /** What the session has besides. */
  protected def otherSettings: Map[String, String] = Map.empty

  override protected def spark: SparkSession = SashSession.having(
    Map(
      "spark.testing.memory" -> heapBytes.toString,
      "spark.testing.reservedMemory" -> "0",
      "spark.memory.fraction" -> "0.8",
      "spark.memory.storageFraction" -> "0",
      "spark.buffer.pageSize" -> "64k",
      "spark.master" -> "local[1]"
    ) ++ otherSettings
  )

  override def afterAll(): Unit = {
    SashSession.shared
    super.afterAll()
  }
}
