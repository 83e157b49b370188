package io.sash.spark.streams.state

import java.nio.ByteBuffer
import java.util.ArrayList

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * The pending rows of one key at a time, in the window's order. In append mode they wait for
 * other rows of the key. In update mode each has a fingerprint of its last answer.
 *
 * If a key has many pending rows in update mode, all but the last ones are in chunks. The last
 * ones are the ''tail''. For each chunk but the first, and for the tail, the state has its
 * ''start'': the header of the key's windows when they hold all rows before. The windows go on
 * from there, so that they take in the rows of a chunk again, and not all pending rows. Before
 * the first chunk the windows hold the final rows alone, and their header is the key's.
 *
 * A start may have nodes of pending rows. They are in the state beside the nodes of the final
 * rows. No node leaves before the final rows let it go, since an earlier start may need it.
 *
 * Invariants:
 *  - (K1) there are the chunks from `first` until `end`, and the starts after `first` up to
 *    `end`, which is the tail's. If there are chunks, the tail has a row
 *  - (K2) rows that are equal in the window's order are in one chunk, or in the tail
 *  - (K3) start n is the header after the final rows and all rows before chunk n
 *
 * @param time the ordinal of a row's time
 */
private[streams] final class PendingOfKey(state: StreamState, columns: Int, time: Int) {
  import PendingOfKey._

  private[this] var key: Array[Byte] = _
  private[this] var first = 0L
  private[this] var end = 0L
  private[this] var lastOfFirst = 0L // the time of the first chunk's last row, or an earlier one
  private[this] var nodesUntil = 0L
  private[this] var at = 0L // the number of the chunk at which the loaded rows begin
  private[this] var loaded = new ArrayList[PendingRow]

  /** The last pending rows, from a start on, which belong to the caller. */
  def rows: ArrayList[PendingRow] = loaded

  /** Whether there are chunks before the tail. */
  def hasChunks: Boolean = first < end

  /** The position after the last element of a pending row that a node in the state may have. */
  def nodeEnd: Long = nodesUntil

  /** Moves to a key, and loads the tail. */
  def open(key: Array[Byte]): Unit = {
    this.key = key
    first = 0L
    end = 0L
    lastOfFirst = 0L
    nodesUntil = 0L
    at = 0L
    loaded = new ArrayList
    val bytes = state.pendingOf(key)
    if (bytes != null) {
      val in = ByteBuffer.wrap(bytes)
      if (in.getLong() == Divided) {
        first = in.getLong()
        end = in.getLong()
        lastOfFirst = in.getLong()
        nodesUntil = in.getLong()
        at = end
      }
      loaded = PendingRow.decode(in, columns)
    }
  }

  /** Loads earlier chunks, too, until the first loaded row is one that suffices. */
  def loadBack(suffices: UnsafeRow => Boolean): Unit = {
    var chunks = List(loaded)
    while (at > first && !suffices(chunks.head.get(0).row)) {
      at -= 1
      chunks ::= chunk(at)
    }
    if (chunks.tail.nonEmpty) {
      loaded = new ArrayList
      chunks.foreach(c => loaded.addAll(c))
    }
  }

  def loadAll(): Unit = loadBack(_ => false)

  /** The header of the windows before the loaded rows; null if the key has none. */
  def start: Array[Byte] =
    if (at == first) state.heads.getValue(key) else state.starts.get(key, at)

  /** Whether the watermark may have passed all rows of a chunk. */
  def hasFinalChunks(passed: Long): Boolean = hasChunks && lastOfFirst <= passed

  /**
   * Takes out the rows that the watermark has passed. Those in a chunk stay until it has passed
   * all rows of the chunk, so that a chunk is not written again and again. Only the tail may be
   * loaded. `write` has to follow if any row is taken.
   */
  def takeFinal(passed: Long): ArrayList[PendingRow] = {
    val finals = new ArrayList[PendingRow]
    while (hasFinalChunks(passed)) {
      val rows = chunk(first)
      lastOfFirst = timeOf(rows.get(rows.size - 1))
      if (lastOfFirst <= passed) {
        finals.addAll(rows)
        state.chunks.remove(key, first, first + 1)
        first += 1
        state.starts.remove(key, first, first + 1)
      }
    }
    if (!hasChunks) {
      var count = 0
      while (count < loaded.size && timeOf(loaded.get(count)) <= passed) count += 1
      val ofTail = loaded.subList(0, count)
      finals.addAll(ofTail)
      ofTail.clear()
    }
    finals
  }

  /**
   * Makes the loaded rows [from, until) a chunk. Other rows follow, and the rows before `from`
   * are in chunks or final.
   *
   * @param header the header of the windows after these rows
   * @param nodeEnd the number of the elements in these windows' trees
   */
  def close(from: Int, until: Int, header: Array[Byte], nodeEnd: Long): Unit = {
    if (at == first) lastOfFirst = timeOf(loaded.get(until - 1))
    state.chunks.put(key, at, PendingRow.encode(loaded.subList(from, until)))
    at += 1
    state.starts.put(key, at, header)
    nodesUntil = math.max(nodesUntil, nodeEnd)
  }

  /** Writes the loaded rows from `from` on as the tail. Earlier ones are in chunks, or final. */
  def write(from: Int): Unit = {
    state.chunks.remove(key, at, end)
    state.starts.remove(key, at + 1, end + 1)
    end = at
    val tail = loaded.subList(from, loaded.size)
    if (tail.isEmpty) state.removePending(key)
    else if (nodesUntil == 0L) state.putPending(key, PendingRow.encode(tail, Whole))
    else {
      val header = Seq(Divided, first, end, lastOfFirst, nodesUntil)
      state.putPending(key, PendingRow.encode(tail, header: _*))
    }
  }

  private def chunk(number: Long): ArrayList[PendingRow] =
    PendingRow.decode(ByteBuffer.wrap(state.chunks.get(key, number)), columns)

  private def timeOf(pending: PendingRow): Long = pending.row.getLong(time)
}

private[spark] object PendingOfKey {

  /** The least rows of a chunk: as many as a node has elements. A var only for tests. */
  private[streams] var ChunkRows: Int = 32

  /** The rows after which a chunk ends. Only rows that are equal in the order make it larger. */
  private[streams] def MostRows: Int = (16L * ChunkRows).min(Int.MaxValue).toInt

  private val Whole = 0L
  private val Divided = 1L
}
