package io.sash.spark.streams

import java.nio.ByteBuffer

import org.apache.spark.sql.catalyst.InternalRow

import io.sash.core.policy.Condition
import io.sash.core.stored.{Bytes, StoredWindows, WriteBehind}
import io.sash.spark.memory.WindowMemory
import io.sash.spark.slots.SlotColumns

/** The windows of a [[StreamGroup]], of one key at a time. */
private[streams] final class GroupWindows(
    program: StreamProgram,
    number: Int,
    state: StreamState
) {
  private[this] val group = program.groups(number)
  private[this] val frames = group.windows.map(program.windows(_).frame).toArray
  private[this] val lags = frames.map(program.later.nonEmpty || _.lags)
  private[this] val countsGroups = frames.head.countsGroups // all of them do, or none
  private[this] val nodes = new state.Nodes(number)

  /** Whether answers are beside the slots: those of each window. */
  private[this] val isBeside = group.slots.running.nonEmpty
  private[this] val answers = frames.map(_ => group.slots.running.map(_.create()).toArray)

  private[this] val behind = new WriteBehind(nodes)
  private[this] val slots =
    SlotColumns(group.slots).accountedBy(WindowMemory.Unlimited, group.slots)
  private[this] val stored = new StoredWindows(
    slots,
    slots.codec,
    behind,
    StreamTask.LogFanOut,
    frames.indices.map(w => StoredWindows.Shape(frames(w).evicts, lags(w))),
    Option.when(isBeside)(StoredWindows.Inverse(group.isInvertible, select))
  )
  private[this] val condition: Condition = slot => column.holds(slot)

  /** Works on the answers of a window from now on. */
  private def select(window: Int): Unit = column.answeredBy(answers(window))

  /** How many rows have come. */
  def end: Long = stored.end

  /** Goes on with a key of which there is nothing yet. */
  def clear(key: Array[Byte]): Unit = {
    nodes.of(key)
    stored.clear()
  }

  /** Goes on with a key, of which `write` has left this. */
  def read(key: Array[Byte], in: ByteBuffer): Unit = {
    nodes.of(key)
    stored.read(in)
  }

  def write(out: Bytes): Unit = {
    stored.write(out)
    behind.flush()
  }

  /** Forgets what has not been written. */
  def discard(): Unit = behind.discard()

  /** Removes the key's nodes. */
  def drop(): Unit = {
    stored.drop()
    behind.flush()
  }

  /** A row comes, and enters the windows that do not lag. */
  def takeIn(row: InternalRow, current: StreamRow): Unit = {
    val slot = stored.open()
    column.lift(slot, row)
    var w = 0
    while (w < frames.length) {
      val window = stored.window(w)
      frames(w).arrive(window, current)
      if (!lags(w)) window.insert(slot)
      w += 1
    }
    stored.append(if (countsGroups) current.group else current.time)
  }

  /** Moves the windows that are of peers, or that are not, and writes what they answer. */
  def answer(
      ofPeers: Boolean,
      current: StreamRow,
      results: Array[InternalRow],
      first: Int,
      until: Int
  ): Unit = {
    var w = 0
    while (w < frames.length) {
      if (frames(w).isOfPeers == ofPeers) {
        val window = stored.window(w)
        if (lags(w)) frames(w).enter(window, current)
        frames(w).leave(window, current, condition)
        val slot = window.query()
        var i = first
        while (i < until) {
          column.lower(w, slot, results(i))
          i += 1
        }
      }
      w += 1
    }
  }

  /** Gives up what no window holds any more. */
  def release(): Unit = stored.release()

  private def column: SlotColumns = stored.column.asInstanceOf[SlotColumns]
}
