package io.sash.spark.streams.state

import java.nio.ByteBuffer

import io.sash.core.slots.Bytes
import io.sash.spark.streams.program.StreamProgram

/** What is known of a key beside its windows: how far its rows have come, and its answers. */
private[streams] final class KeyHeader(program: StreamProgram) {
  private[this] val isLater = program.later.nonEmpty

  /** The time of the last row, in microseconds, or NoTime. */
  var lastTime: Long = KeyHeader.NoTime

  /** How many groups of peers have come, if anybody asks. */
  var groups: Long = 0L

  /** Of the rows and the groups, how many have no answer yet; where rows are answered later. */
  var unanswered: Long = 0L
  var unansweredGroups: Long = 0L

  /** What the watermark has to pass before the last row is answered. */
  var lastDue: Long = KeyHeader.NoTime

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
    if (program.countsGroups) groups = Bytes.number(in)
  }

  def write(out: Bytes): Unit = {
    out.putLong(lastTime)
    if (isLater) {
      out.putNumber(unanswered)
      out.putNumber(unansweredGroups)
      out.putLong(lastDue)
    }
    if (program.countsGroups) out.putNumber(groups)
  }
}

private[streams] object KeyHeader {

  /** In the place of the time of a row, where there is none. */
  val NoTime: Long = Long.MinValue
}
