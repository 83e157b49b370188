package io.sash.spark.split

import org.apache.spark.{Dependency, NarrowDependency, Partition, TaskContext}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow

/** An RDD whose partition is a task's stretches, each an iterator over its rows. */
private[split] final class GroupedStretchesRDD(
    private var rows: RDD[InternalRow],
    tasks: StretchTasks
) extends RDD[Iterator[InternalRow]](rows.context, Nil) {
  import GroupedStretchesRDD.TaskStretches

  override protected def getPartitions: Array[Partition] =
    tasks.groups.zipWithIndex.map { case (own, task) =>
      TaskStretches(task, own.map(rows.partitions(_))): Partition
    }.toArray

  override protected def getDependencies: Seq[Dependency[_]] = {
    val groups = tasks.groups
    Seq(new NarrowDependency(rows) {
      override def getParents(partition: Int): Seq[Int] = groups(partition)
    })
  }

  override def compute(split: Partition, context: TaskContext): Iterator[Iterator[InternalRow]] =
    split.asInstanceOf[TaskStretches].stretches.iterator.map(rows.iterator(_, context))

  override def clearDependencies(): Unit = {
    super.clearDependencies()
    rows = null
  }
}

private object GroupedStretchesRDD {
  private final case class TaskStretches(index: Int, stretches: Seq[Partition]) extends Partition
}
