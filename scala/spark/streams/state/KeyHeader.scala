package io.sash.spark.streams.state

import java.nio.ByteBuffer

import io.sash.core.slots.Bytes
import io.sash.spark.streams.program.StreamProgram

/** The header of a key beside its windows: the key's last row, and its rows without an answer. */
private[streams] final class KeyHeader(program: StreamProgram) {

  /** The time of the last row, in microseconds, or NoTime. */
  var lastTime: Long = KeyHeader.NoTime

  /** The number of groups of peers, if a window counts them. */
  var groups: Long = 0L

  /**
   * The number of rows, and of groups of peers, without an answer; only if windows look ahead.
   */
  var unanswered: Long = 0L
  var unansweredGroups: Long = 0L

  /** The time that the watermark has to pass before the last row is answered. */
  var lastDue: Long = KeyHeader.NoTime

  private[this] val isLater = program.later.nonEmpty
  private[this] val countsGroups = program.countsGroups

  def isNew: Boolean = lastTime == KeyHeader.NoTime

  def clear(): Unit = {
    lastTime = KeyHeader.NoTime
    groups = 0L
    unanswered = 0L
    unansweredGroups = 0L
    lastDue = KeyHeader.NoTime
  }

  def read(in: ByteBuffer): Unit = {
    lastTime = in.getLong()
    if (isLater) {
      unanswered = Bytes.number(in)
      unansweredGroups = Bytes.number(in)
      lastDue = in.getLong()
    }
    if (countsGroups) groups = Bytes.number(in)
  }

  def write(out: Bytes): Unit = {
    out.putLong(lastTime)
    if (isLater) {
      out.putNumber(unanswered)
      out.putNumber(unansweredGroups)
      out.putLong(lastDue)
    }
    if (countsGroups) out.putNumber(groups)
  }
}

private[streams] object KeyHeader {

  /** Stands for a time if there is no row. */
  val NoTime: Long = Long.MinValue
}
