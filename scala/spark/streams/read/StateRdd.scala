package io.sash.spark.streams.read

import org.apache.spark.{Partition, SparkContext, TaskContext}
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow

/** The rows of a state, a task for each partition. It has no closure that Spark would check. */
private[read] final class StateRdd(
    context: SparkContext,
    reader: StateReader,
    @transient parts: Seq[StateReader.AskedPartition]
) extends RDD[InternalRow](context, Nil) {
  override protected def getPartitions: Array[Partition] = parts.zipWithIndex.map {
    case (part, i) => StateRdd.TaskPart(i, part): Partition
  }.toArray

  override def compute(split: Partition, task: TaskContext): Iterator[InternalRow] =
    split match { case StateRdd.TaskPart(_, part) => reader.read(part) }
}

private object StateRdd {
  final case class TaskPart(index: Int, asked: StateReader.AskedPartition) extends Partition
}
