package io.sash.spark

import org.apache.spark.{SparkContext, TaskContext}
import org.apache.spark.sash.{FakeTask, SparkInternals}

import io.sash.spark.ordering.{KeyedRows, OrderProgram}

/** Rows grouped by key, in a task of their own. */
private[spark] object RowsInTask {
  def apply[A](spark: SparkContext, program: OrderProgram, page: String)(
      body: KeyedRows => A
  ): A = FakeTask
    .run(spark, refused = 0, page) {
      val manager = SparkInternals.taskMemoryManager(TaskContext.get())
      val rows = new KeyedRows(manager, program, () => ())
      val result = body(rows)
      rows.freePages(null)
      result
    }
    ._1
}
