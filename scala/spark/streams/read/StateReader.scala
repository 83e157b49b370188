package io.sash.spark.streams.read

import java.util.UUID

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.types.{NullType, StructField, StructType}

import io.sash.spark.base.StreamVersions
import io.sash.spark.streams.plan.StatefulPlan

/**
 * Reads partitions of an operator's state, in tasks. A task opens a store of its own, which Spark
 * neither commits nor maintains. So the query may run.
 *
 * @param states the directory of the states of all operators
 * @param query the id of the query
 */
private[read] final class StateReader(
    program: Sealed[ReadProgram],
    moment: ReadMoment,
    states: String,
    query: String,
    operator: Long,
    version: OpenStores.Version,
    settings: Sealed[StateReader.Settings]
) extends Serializable {
  import StateReader._

  def read(part: AskedPartition): Iterator[InternalRow] = {
    val place = OpenStores.Partition(states, query, operator, part.partition)
    val windows = OpenStores
      .lend(place, version)(open(part))
      .windows(version, part.stateId, program)
    part.buckets.iterator.flatMap { case (bucket, asked) =>
      StreamVersions.setGroup(bucket)
      windows.answers(asked, moment)
    }
  }

  private def open(part: AskedPartition): StateStoreProvider = {
    val groups = StatefulPlan.keyEncoder.schema
    val known = settings.open()
    StateStoreProvider.createAndInit(
      StateStoreProviderId(StateStoreId(states, operator, part.partition), UUID.randomUUID()),
      groups,
      NoValue,
      NoPrefixKeyStateEncoderSpec(groups),
      useColumnFamilies = true,
      known.conf,
      known.configuration,
      useMultipleValuesPerKey = false,
      None
    )
  }
}

private[read] object StateReader {
  private val NoValue = new StructType(Array(StructField("__dummy__", NullType)))

  /**
   * The settings with which a store is opened. Hadoop's own serialization of its settings takes
   * longer than a key takes to be read, since it compresses the origin of each by itself.
   */
  final case class Settings(conf: StateStoreConf, hadoop: Map[String, String]) {
    def configuration: Configuration = {
      val all = new Configuration(false)
      hadoop.foreach { case (name, value) => all.set(name, value) }
      all
    }
  }

  object Settings {
    def of(conf: StateStoreConf, hadoop: Configuration): Settings =
      Settings(conf, hadoop.iterator.asScala.map(e => e.getKey -> e.getValue).toMap)
  }

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
