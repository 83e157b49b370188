package io.sash.spark.streams.task

import java.nio.ByteBuffer
import java.util.UUID

import scala.collection.IndexedSeq

import org.apache.spark.sql.catalyst.InternalRow

import io.sash.core.slots.Bytes
import io.sash.core.stored.{PeerMarks, StoredWindows, TreeFrame, WriteBehind}
import io.sash.spark.memory.WindowMemory
import io.sash.spark.slots.{RunningState, SlotColumns}
import io.sash.spark.streams.program.StreamProgram
import io.sash.spark.streams.state.{StreamMetrics, StreamState}

/**
 * The windows of a [[TreeProgram]] for one key at a time.
 *
 * @param peers the current rows of the key
 */
private[streams] final class KeyTree(
    program: StreamProgram,
    number: Int,
    peers: PeerMarks,
    state: StreamState
) {
  private[this] val of = program.trees(number)
  private[this] val shapes = of.windows.map(program.windows(_)).toArray
  private[this] val isOfPeers = shapes.map(_.isOfPeers)
  private[this] val movesWithinPeers = shapes.map(_.movesWithinPeers)
  private[this] val countsGroups = shapes.head.countsGroups // the same in all frames of a tree
  private[this] val frames: Array[TreeFrame] = shapes.indices.map { w =>
    def window = stored.window(w)
    new TreeFrame(
      condition => shapes(w).createFrame(_.rows(peers, window), Some(condition)),
      program.later.nonEmpty,
      window,
      column.holds(window.query())
    )
  }.toArray
  private[this] val nodes = new state.Nodes(number)

  /** Whether each window has answers beside the slots. */
  private[this] val isBeside = of.slots.running.nonEmpty
  private[this] val kept = Option.when(isBeside)(state.keptAnswers(program, number))

  private[this] val keeps = of.keepsAnswers(program.mode)
  private[this] var answers: Array[Array[RunningState]] = _
  private[this] lazy val unused = kept.map(_.create()).orNull

  private[this] val isOfRow = of.slots.isOfRow

  private[this] var rewrites = false // whether the state may have nodes of pending rows

  // a key that begins anew numbers its nodes from 0 again
  private[this] val behind =
    new WriteBehind(nodes, changing = rewrites || program.timeToLive.nonEmpty)
  private[this] val slots =
    SlotColumns(of.slots).accountedBy(WindowMemory.Unlimited, of.slots)
  private[this] val stored: StoredWindows = new StoredWindows(
    slots,
    slots.compactCodec,
    behind,
    StreamState.LogFanOut,
    frames.toSeq.map(_.stored),
    Option.when(!of.algorithm.isOverNodes)(StoredWindows.Inverse(of.algorithm.subtracts, select))
  )

  /** Makes the slots work on the answers of a window. */
  private def select(window: Int): Unit = if (isBeside) column.answeredBy(answers(window))

  // `stored.kept` when the key's state was read or written
  private[this] var keptBefore = 0L

  /** The number of rows that have come. */
  def end: Long = stored.end

  /** Moves to a key without state. */
  def clear(key: Array[Byte]): Unit = {
    nodes.of(key)
    rewrites = false
    stored.clear()
    frames.foreach(_.clear())
    keptBefore = stored.kept
    begin()
  }

  /** Moves to a key and reads the state that `write` has left in `in`. */
  def read(key: Array[Byte], in: ByteBuffer, rewrites: Boolean): Unit = {
    nodes.of(key)
    this.rewrites = rewrites
    stored.read(in)
    frames.foreach(_.read(in))
    keptBefore = stored.kept
    val found =
      if (keeps) kept.map(_.take(new UUID(in.getLong(), in.getLong()))).orNull else null
    if (found == null) begin()
    else {
      answers = unused // `resume` clears the answers that it finds
      stored.resume()
      answers = found
    }
  }

  /**
   * Makes answers unless there are some. They belong to a new key, or will be made anew from the
   * elements of its windows.
   */
  private def begin(): Unit = if (answers == null) kept.foreach(k => answers = k.create())

  def write(out: Bytes): Unit = {
    writeWindows(out)
    if (keeps) writeStamp(out)
    store()
  }

  /** Writes the present state. The state that was written before can still be read. */
  def writeBeside(out: Bytes): Unit = {
    writeWindows(out)
    behind.putHeld()
  }

  private def writeWindows(out: Bytes): Unit = {
    stored.write(out)
    frames.foreach(_.write(out))
  }

  private def store(): Unit = {
    state.counts(StreamMetrics.PartialsEvicted) += stored.kept - keptBefore
    keptBefore = stored.kept // a key may be written and then dropped
    behind.flush()
  }

  private def writeStamp(out: Bytes): Unit = {
    val stamp = kept.filter(_ => stored.isCurrent).fold(KeyTree.NoStamp)(_.keep(answers))
    if (stamp != KeyTree.NoStamp) answers = null
    out.putLong(stamp.getMostSignificantBits)
    out.putLong(stamp.getLeastSignificantBits)
  }

  /** Forgets the changes that have not been written. */
  def discard(): Unit = behind.discard()

  /** Removes the key's nodes. */
  def drop(): Unit = {
    stored.drop()
    store()
  }

  /** Begins the key's windows anew, without rows. The store is not written yet. */
  def beginAnew(): Unit = {
    stored.drop()
    val evicted = stored.kept - keptBefore
    stored.clear()
    frames.foreach(_.clear())
    keptBefore = stored.kept - evicted // counted when the state is written
    answers = null
    begin()
  }

  /** Takes in a row that has come, which enters the windows that do not lag. */
  def takeIn(row: InternalRow): Unit = {
    val slot = stored.open()
    column.lift(slot, row)
    var w = 0
    while (w < frames.length) {
      frames(w).come(stored.end, slot)
      w += 1
    }
    stored.append(if (countsGroups) peers.group else peers.time)
  }

  /**
   * Moves the windows of peers, or all others, to the peers from `first` until `until`. Writes
   * the answers for these rows into the results, unless the rows are `silent`.
   */
  def answer(
      ofPeers: Boolean,
      rows: IndexedSeq[InternalRow],
      results: Array[InternalRow],
      first: Int,
      until: Int,
      silent: Boolean
  ): Unit = {
    var w = 0
    while (w < frames.length) {
      if (isOfPeers(w) == ofPeers) {
        var slot = 0
        var i = first
        while (i < until) {
          if (i == first || movesWithinPeers(w)) {
            frames(w).moveTo(peers.firstPeer + i, stored.end)
            if (!silent) slot = frames(w).query()
          }
          if (!silent) {
            if (isOfRow) column.answersFor(rows(i))
            column.lower(w, slot, results(i))
          }
          i += 1
        }
      }
      w += 1
    }
  }

  /** Gives up the elements that no window holds any more. */
  def release(): Unit = stored.release()

  private def column: SlotColumns = stored.column.asInstanceOf[SlotColumns]
}

private object KeyTree {

  /** Stands for a stamp if no answers are kept. */
  private val NoStamp = new UUID(0L, 0L)
}
