package io.sash.spark.streams.task

import java.nio.ByteBuffer
import java.util.UUID

import scala.collection.IndexedSeq

import org.apache.spark.sql.catalyst.InternalRow

import io.sash.core.frames.Condition
import io.sash.core.slots.Bytes
import io.sash.core.stored.{StoredWindows, WriteBehind}
import io.sash.spark.memory.WindowMemory
import io.sash.spark.slots.{RunningState, SlotColumns}
import io.sash.spark.streams.program.{CurrentKeyRow, StreamProgram, StreamSince}
import io.sash.spark.streams.state.{StreamMetrics, StreamState}

/** The windows of a [[TreeProgram]] for one key at a time. */
private[streams] final class KeyTree(
    program: StreamProgram,
    number: Int,
    state: StreamState
) {
  private[this] val of = program.trees(number)
  private[this] val shapes = of.windows.map(program.windows(_)).toArray
  private[this] val frames = shapes.map(_.frame)
  private[this] val hasOwns = frames.map(_.owns.nonEmpty)
  private[this] val lags = frames.map(program.later.nonEmpty || _.lags)
  private[this] val beginnings = frames.map {
    case since: StreamSince => since.number
    case _                  => KeyTree.NoBeginning
  }
  private[this] val movesWithinPeers = frames.map(_.movesWithinPeers)
  private[this] val countsGroups = frames.head.countsGroups // the same in all frames of a tree
  private[this] val nodes = new state.Nodes(number)

  /** Whether answers are kept beside the slots, for each window. */
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
  private[this] val stored = new StoredWindows(
    slots,
    slots.compactCodec,
    behind,
    StreamState.LogFanOut,
    frames.indices.map(w => StoredWindows.Shape(frames(w).evicts, lags(w), frames(w).longest)),
    Option.when(!of.algorithm.isOverNodes)(StoredWindows.Inverse(of.algorithm.subtracts, select))
  )

  private[this] val condition: Condition = slot => column.holds(slot)

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
    keptBefore = stored.kept
    begin()
  }

  /** Moves to a key and reads the state that `write` has left in `in`. */
  def read(key: Array[Byte], in: ByteBuffer, rewrites: Boolean): Unit = {
    nodes.of(key)
    this.rewrites = rewrites
    stored.read(in)
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
    stored.write(out)
    if (keeps) writeStamp(out)
    store()
  }

  /** Writes the state as it is now, beside the state before, which stays as it was. */
  def writeBeside(out: Bytes): Unit = {
    stored.write(out)
    behind.putHeld()
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
    keptBefore = stored.kept - evicted // counted when the state is written
    answers = null
    begin()
  }

  /** Takes in a row that has come, which enters the windows that do not lag. */
  def takeIn(row: InternalRow, current: CurrentKeyRow): Unit = {
    val slot = stored.open()
    column.lift(slot, row)
    var w = 0
    while (w < frames.length) {
      val window = stored.window(w)
      val beginning = beginnings(w)
      if (beginning != KeyTree.NoBeginning && current.begins(beginning)) window.evictAll()
      if (!lags(w)) window.insert(slot)
      w += 1
    }
    stored.append(if (countsGroups) current.group else current.time)
  }

  /**
   * Moves the windows of peers, or all others, to the current row. Writes the answers for the
   * rows from `first` until `until` into the results, unless the rows are `silent`.
   */
  def answer(
      ofPeers: Boolean,
      current: CurrentKeyRow,
      rows: IndexedSeq[InternalRow],
      results: Array[InternalRow],
      first: Int,
      until: Int,
      silent: Boolean
  ): Unit = {
    var w = 0
    while (w < frames.length) {
      if (frames(w).isOfPeers == ofPeers) {
        val window = stored.window(w)
        if (lags(w)) frames(w).enter(window, current)
        var slot = 0
        var i = first
        while (i < until) {
          if (i == first || movesWithinPeers(w)) {
            current.end = current.firstPeer + i + 1
            if (ofPeers && hasOwns(w)) current.toValues(i)
            frames(w).leave(window, current, condition)
            if (!silent) slot = shapes(w).query(window, current)
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

  /** In the place of a stamp: no answers are kept. */
  private val NoStamp = new UUID(0L, 0L)

  /** In the place of a beginning's number: a window does not begin at once. */
  private val NoBeginning = -1
}
