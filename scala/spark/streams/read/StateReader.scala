package io.sash.spark.streams.read

import java.util.UUID

import org.apache.hadoop.conf.Configuration
import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.types.{NullType, StructField, StructType}
import org.apache.spark.util.SerializableConfiguration

import io.sash.spark.base.StreamVersions
import io.sash.spark.streams.plan.StatefulPlan
import io.sash.spark.streams.program.StreamProgram
import io.sash.spark.streams.state.StreamState

/**
 * Reads partitions of an operator's state, in tasks. A task opens a store of its own, which Spark
 * neither commits nor maintains. So the query may run.
 *
 * @param generation the number of the state's present generation: see `StateFile`
 * @param states the directory of the states of all operators
 * @param query the id of the query
 */
private[read] final class StateReader(
    program: StreamProgram,
    at: Option[Long],
    generation: Int,
    states: String,
    query: String,
    operator: Long,
    version: OpenStores.Version,
    conf: StateStoreConf,
    hadoop: SerializableConfiguration
) extends Serializable {
  import StateReader._

  def read(part: AskedPartition): Iterator[InternalRow] = {
    val provider =
      OpenStores.lend(OpenStores.Partition(query, operator, part.partition), version)(open(part))
    val store = provider.getReadStore(version.number, part.stateId) match {
      case store: StateStore => store
      case other => throw new IllegalStateException(s"${other.getClass} has no column families")
    }
    TaskContext.get().addTaskCompletionListener[Unit](_ => StreamVersions.release(store))
    val state = new StreamState(StreamVersions.handleOf(store, StatefulPlan.keyEncoder))
    val keys = new WindowsAt(program, new KeysOfState(program), state, at, generation)
    part.buckets.iterator.flatMap { case (bucket, asked) =>
      StreamVersions.setGroup(bucket)
      keys.answers(asked)
    }
  }

  private def open(part: AskedPartition): StateStoreProvider = {
    val groups = StatefulPlan.keyEncoder.schema
    StateStoreProvider.createAndInit(
      StateStoreProviderId(StateStoreId(states, operator, part.partition), UUID.randomUUID()),
      groups,
      NoValue,
      NoPrefixKeyStateEncoderSpec(groups),
      useColumnFamilies = true,
      conf,
      new Configuration(hadoop.value),
      useMultipleValuesPerKey = false,
      None
    )
  }
}

private[read] object StateReader {
  private val NoValue = new StructType(Array(StructField("__dummy__", NullType)))

  /**
   * A part of the state.
   *
   * @param stateId see `CommittedBatch.stateId`
   * @param buckets buckets with the keys that are asked for; None is all keys
   */
  final case class AskedPartition(
      partition: Int,
      stateId: Option[String],
      buckets: Seq[(Int, Option[Seq[InternalRow]])]
  )
}
