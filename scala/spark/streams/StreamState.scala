package io.sash.spark.streams

import java.nio.ByteBuffer

import org.apache.spark.TaskContext
import org.apache.spark.sql.Encoders
import org.apache.spark.sql.streaming.{MapState, StatefulProcessorHandle, TTLConfig, ValueState}

import io.sash.core.mta.KeyValueStore

/**
 * The state of a bucket of keys, in variables of Spark's state store.
 *
 * | variable | key | value |
 * |---|---|---|
 * | `bucket` | | [[BucketHeader]] |
 * | `pending` | number of the chunk | rows that the watermark has not passed |
 * | `unanswered` | number of the chunk | rows of which it has not passed all that their windows hold |
 * | `waiting` | key | rows that wait for further rows of their key; in update mode, for the watermark |
 * | `head` | key | header of its windows, see `StoredWindows` |
 * | `node` | key, tree, level, number | node of a tree of the key's |
 */
private[spark] final class StreamState(handle: StatefulProcessorHandle, uses: StreamState.Uses) {
  import StreamState._

  /** Of what is done for the bucket. */
  val counts: StreamCounts = new StreamCounts

  private[this] val none = TTLConfig.NONE

  val bucket: ValueState[Array[Byte]] = handle.getValueState("bucket", Encoders.BINARY, none)
  val pending: MapState[Long, Array[Byte]] = if (uses.pending) chunks("pending") else null
  val unanswered: MapState[Long, Array[Byte]] =
    if (uses.unanswered) chunks("unanswered") else null
  val waiting: MapState[Array[Byte], Array[Byte]] =
    if (uses.waiting) byKey("waiting") else null
  val heads: MapState[Array[Byte], Array[Byte]] = byKey("head")
  private[this] val nodes: MapState[Array[Byte], Array[Byte]] = byKey("node")

  private def chunks(name: String): MapState[Long, Array[Byte]] =
    handle.getMapState(name, Encoders.scalaLong, Encoders.BINARY, none)

  private def byKey(name: String): MapState[Array[Byte], Array[Byte]] =
    handle.getMapState(name, Encoders.BINARY, Encoders.BINARY, none)

  /**
   * The nodes of one key at a time.
   *
   * @param tree of those of a key
   */
  final class Nodes(tree: Int) extends KeyValueStore {
    private[this] var place = ByteBuffer.allocate(0)

    def of(key: Array[Byte]): Unit =
      place = ByteBuffer.allocate(key.length + PlaceBytes).put(key).putShort(tree.toShort)

    override def put(level: Int, first: Long, values: Array[Array[Byte]]): Unit = {
      counts.nodesWritten += values.length
      values.indices.foreach(i => nodes.updateValue(keyOf(level, first + i), values(i)))
    }

    override def get(level: Int, first: Long, count: Int): Array[Array[Byte]] = {
      counts.nodesRead += count
      Array.tabulate(count)(i => nodes.getValue(keyOf(level, first + i)))
    }

    override def remove(level: Int, from: Long, until: Long): Unit = {
      counts.nodesRemoved += until - from
      (from until until).foreach(number => nodes.removeKey(keyOf(level, number)))
    }

    private def keyOf(level: Int, number: Long): Array[Byte] = {
      val end = place.capacity - PlaceBytes
      place.put(end + 2, level.toByte).putLong(end + 3, number)
      place.array.clone()
    }
  }

  /** What a group of the program's windows has left in this process. */
  def keptAnswers(program: StreamProgram, group: Int): KeptAnswers = {
    val place = KeptAnswers.Place(
      handle.getQueryInfo().getRunId,
      program.text,
      TaskContext.getPartitionId(),
      group
    )
    val of = program.groups(group)
    KeptAnswers.lease(place, new KeptAnswers(of.slots.running, of.windows.length))
  }

  def registerTimer(timeMs: Long): Unit = handle.registerTimer(timeMs)

  def deleteTimer(timeMs: Long): Unit = handle.deleteTimer(timeMs)
}

private[spark] object StreamState {
  private val PlaceBytes = 2 + 1 + 8

  /**
   * Which of the variables there are beside those that all have; others are null. Each costs every
   * task some milliseconds.
   */
  final case class Uses(
      pending: Boolean = false,
      unanswered: Boolean = false,
      waiting: Boolean = false
  )
}
