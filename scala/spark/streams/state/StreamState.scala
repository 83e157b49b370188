package io.sash.spark.streams.state

import java.nio.ByteBuffer

import org.apache.spark.TaskContext
import org.apache.spark.sql.Encoders
import org.apache.spark.sql.execution.streaming.state.{StateStoreId, StateStoreProviderId}
import org.apache.spark.sql.streaming.{MapState, StatefulProcessorHandle, TTLConfig}

import io.sash.core.stored.KeyValueStore
import io.sash.spark.base.{TaskCounts, StreamVersions}
import io.sash.spark.streams.program.StreamProgram

/**
 * The state of a bucket of keys, in two variables of Spark's state store. There are only two,
 * since each variable costs every task of every batch some milliseconds.
 *
 * | variable | key | value |
 * |---|---|---|
 * | `head` | key | header of its windows, see `StoredWindows` |
 * | `rest` | `B` | [[BucketHeader]] |
 * | | `P`, number of the chunk | pending rows |
 * | | `U`, number of the chunk | rows that wait for their due time, see `StreamDue` |
 * | | `W`, key | pending rows of the key: see [[PendingOfKey]] |
 * | | `C`, key, number of the chunk | in update mode, earlier pending rows |
 * | | `S`, key, number of the chunk | header of the key's windows before these rows |
 * | | `N`, key, tree, level, number | node of a tree of the key |
 *
 * A walk over all keys reads the `head` of each key, and in update mode its `W`, too.
 */
private[spark] final class StreamState(handle: StatefulProcessorHandle) {
  import StreamState._

  /** The counts of the bucket. */
  val counts: TaskCounts = StreamMetrics.counts()

  val heads: MapState[Array[Byte], Array[Byte]] = variable("head")
  private[this] val rest = variable("rest")

  private def variable(name: String): MapState[Array[Byte], Array[Byte]] =
    handle.getMapState(name, Encoders.BINARY, Encoders.BINARY, TTLConfig.NONE)

  /** The header of the bucket; null if it has none. */
  def bucket: Array[Byte] = rest.getValue(BucketKey)

  def bucket_=(header: Array[Byte]): Unit = rest.updateValue(BucketKey, header)

  val pending: Chunks = new Chunks('P')
  val unanswered: Chunks = new Chunks('U')

  /** Chunks of rows, by number. */
  final class Chunks private[StreamState] (kind: Char) {
    def get(number: Long): Array[Byte] = rest.getValue(keyOf(number))

    def put(number: Long, chunk: Array[Byte]): Unit = rest.updateValue(keyOf(number), chunk)

    def remove(number: Long): Unit = rest.removeKey(keyOf(number))

    private def keyOf(number: Long): Array[Byte] =
      ByteBuffer.allocate(1 + 8).put(kind.toByte).putLong(number).array
  }

  /** The pending rows of a key; null if there are none. */
  def pendingOf(key: Array[Byte]): Array[Byte] = rest.getValue(pendingKey(key))

  def putPending(key: Array[Byte], rows: Array[Byte]): Unit =
    rest.updateValue(pendingKey(key), rows)

  def removePending(key: Array[Byte]): Unit = rest.removeKey(pendingKey(key))

  private def pendingKey(key: Array[Byte]): Array[Byte] =
    ByteBuffer.allocate(1 + key.length).put('W'.toByte).put(key).array

  val chunks: OfKeys = new OfKeys('C')
  val starts: OfKeys = new OfKeys('S')

  /** Numbered values of each key: see [[PendingOfKey]]. */
  final class OfKeys private[StreamState] (kind: Char) {
    def get(key: Array[Byte], number: Long): Array[Byte] = rest.getValue(keyOf(key, number))

    def put(key: Array[Byte], number: Long, value: Array[Byte]): Unit =
      rest.updateValue(keyOf(key, number), value)

    def remove(key: Array[Byte], from: Long, until: Long): Unit =
      (from until until).foreach(number => rest.removeKey(keyOf(key, number)))

    private def keyOf(key: Array[Byte], number: Long): Array[Byte] =
      ByteBuffer.allocate(1 + key.length + 8).put(kind.toByte).put(key).putLong(number).array
  }

  /**
   * The nodes of one key at a time.
   *
   * @param tree the number of the tree among the key's trees
   */
  final class Nodes(tree: Int) extends KeyValueStore {
    private[this] var place = ByteBuffer.allocate(0)

    def of(key: Array[Byte]): Unit =
      place = ByteBuffer
        .allocate(1 + key.length + PlaceBytes)
        .put('N'.toByte)
        .put(key)
        .putShort(tree.toShort)

    override def put(level: Int, first: Long, values: Array[Array[Byte]]): Unit = {
      counts(StreamMetrics.NodesWritten) += values.length
      values.indices.foreach(i => rest.updateValue(keyOf(level, first + i), values(i)))
    }

    override def get(level: Int, first: Long, count: Int): Array[Array[Byte]] = {
      counts(StreamMetrics.NodesRead) += count
      Array.tabulate(count)(i => rest.getValue(keyOf(level, first + i)))
    }

    override def remove(level: Int, from: Long, until: Long): Unit = {
      counts(StreamMetrics.NodesRemoved) += until - from
      (from until until).foreach(number => rest.removeKey(keyOf(level, number)))
    }

    private def keyOf(level: Int, number: Long): Array[Byte] = {
      val end = place.capacity - PlaceBytes
      place.put(end + 2, level.toByte).putLong(end + 3, number)
      place.array.clone()
    }
  }

  /** The answers that a group of the program's windows has kept in this process. */
  def keptAnswers(program: StreamProgram, group: Int): KeptAnswers = {
    // without the store's id, answers are soon dropped, and made anew
    val store = StreamVersions.storeOf(handle).getOrElse {
      StateStoreId(program.text, 0L, TaskContext.getPartitionId())
    }
    val run = handle.getQueryInfo().getRunId
    val place = KeptAnswers.Holder(StateStoreProviderId(store, run), group)
    val of = program.trees(group)
    KeptAnswers.lease(place, new KeptAnswers(of.slots.running, of.windows.length))
  }

  def registerTimer(timeMs: Long): Unit = handle.registerTimer(timeMs)

  def deleteTimer(timeMs: Long): Unit = handle.deleteTimer(timeMs)
}

private[spark] object StreamState {
  private val BucketKey = Array('B'.toByte)

  private val PlaceBytes = 2 + 1 + 8

  /** 2^5^ = 32 partials in a node. */
  val LogFanOut: Int = 5
}
