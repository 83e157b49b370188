package io.sash.core.frames

import java.nio.ByteBuffer

import io.sash.core.elements.{InOrderWindow, Stretches}
import io.sash.core.slots.Bytes

/**
 * The rows that are in the frames of all parts, or else all rows from the parts' earliest first
 * row to their latest last row. If no part's bound ever moves back, this frame's do not either.
 *
 * Otherwise the windows hold the rows that a later frame may begin with, and answer for some of
 * them ([[io.sash.core.elements.Stretches]]). The parts whose bounds move forwards say which.
 *
 * Cost: the moves of all parts, and the windows' cost. A part that finds its first row by
 * comparing rows compares one for each row that leaves this frame, amortised, and one or two
 * more.
 *
 * @param parts frames without windows of their own, of the same rows
 * @param ofAll whether a row has to be in the frames of all parts
 */
final class JoinedFrame(windows: Array[InOrderWindow], parts: Array[Frame], ofAll: Boolean)
    extends Frame(windows) {
  private[this] var begin = 0L // evicted <= begin <= entered

  // the part that has said where the last frame begins, and most likely says it of the next one
  private[this] var deciding = 0

  override def first: Long = begin

  private[frames] override val movesBack: Boolean = parts.exists(_.movesBack)

  override def query(window: InOrderWindow): Int =
    if (begin == evicted) window.query()
    else {
      val stretches = window.asInstanceOf[Stretches]
      stretches.begin()
      if (begin < end) stretches.append(place(begin), place(end))
      stretches.answer()
    }

  override def lags: Boolean = parts.exists(_.lags)

  override def longest: Long =
    if (ofAll) parts.map(_.longest).min else parts.map(_.longest).max

  // A row that one part no longer holds is in no frame of all. But a part may remember it.
  override def isOver(last: Long, now: Long): Boolean =
    if (!ofAll) parts.forall(_.isOver(last, now))
    else
      parts.exists(_.isOver(last, now)) && parts.forall(p => !p.remembers || p.isOver(last, now))

  override def remembers: Boolean = parts.exists(_.remembers)

  override def resume(first: Long, end: Long): Unit = {
    super.resume(first, end)
    begin = first
    parts.foreach(_.resume(first, end))
  }

  override def write(out: Bytes): Unit = parts.foreach(_.write(out))

  override def read(in: ByteBuffer): Unit = parts.foreach(_.read(in))

  override def clear(): Unit = {
    super.clear()
    parts.foreach(_.clear())
    begin = 0L
  }

  override def moveTo(current: Long, arrived: Long, ended: Boolean): Boolean = {
    val isWhole = moveEnd(current, arrived, ended)
    if (isWhole) {
      leaveTo(firstIn(current, evicted, entered, ofLater = true))
      begin = if (movesBack) firstIn(current, evicted, entered, ofLater = false) else evicted
    }
    isWhole
  }

  private[frames] override def moveEnd(
      current: Long,
      arrived: Long,
      ended: Boolean
  ): Boolean = {
    var isWhole = parts(0).moveEnd(current, arrived, ended)
    var until = parts(0).end
    var i = 1
    while (i < parts.length) {
      isWhole &= parts(i).moveEnd(current, arrived, ended)
      until = if (ofAll) math.min(until, parts(i).end) else math.max(until, parts(i).end)
      i += 1
    }
    if (isWhole) enterTo(until)
    isWhole
  }

  /** Asks the deciding part first. In a frame of any, the others then look at fewer rows. */
  private[frames] override def firstIn(
      current: Long,
      from: Long,
      until: Long,
      ofLater: Boolean
  ): Long = {
    val last = deciding
    var at = parts(last).firstIn(current, from, until, ofLater)
    var i = 0
    while (i < parts.length) {
      if (i != last) {
        val row = parts(i).firstIn(current, from, if (ofAll) until else at, ofLater)
        if (if (ofAll) row > at else row < at) {
          at = row
          deciding = i
        }
      }
      i += 1
    }
    at
  }
}
