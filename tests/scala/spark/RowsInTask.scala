package io.sash.spark

import org.apache.spark.{SparkContext, TaskContext}
import org.apache.spark.sash.{FakeTask, SparkInternals}

import io.sash.spark.ordering.{KeyedRows, OrderProgram, Records, RowPages}

/** Rows grouped by key, in a task of their own. */
private[spark] object RowsInTask {
  def apply[A](spark: SparkContext, program: OrderProgram, page: String)(
      body: (KeyedRows, RowPages) => A
  ): A = FakeTask
    .run(spark, refused = 0, page) {
      val manager = SparkInternals.taskMemoryManager(TaskContext.get())
      val pages = new RowPages(manager)
      val rows = new KeyedRows(pages, new Records(manager, program.within), program)
      val result = body(rows, pages)
      pages.close()
      result
    }
    ._1
}
