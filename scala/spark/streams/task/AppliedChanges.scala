package io.sash.spark.streams.task

import java.util.{ArrayList, HashMap, LinkedHashMap}

import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeProjection, UnsafeRow}
import org.apache.spark.sash.SparkInternals

import io.sash.spark.streams.program.{ChangeFeed, StreamProgram}
import io.sash.spark.streams.state.{StreamMetrics, StreamState, Waiting}

/**
 * Applies the changes of a batch to the pending rows of a key. A change of a row that the
 * watermark has passed is late, and only counted: the windows of final rows hold the row as it
 * was. Some of these rows may still wait in the state, until they are settled.
 *
 * @param late the watermark of late rows, in microseconds
 */
private[streams] final class AppliedChanges(
    program: StreamProgram,
    changes: ChangeFeed,
    late: Long,
    state: StreamState
) {
  import AppliedChanges._
  import ChangeFeed._

  private[this] val idOf = UnsafeProjection.create(changes.keys, program.input)
  private[this] val kindAt = ordinalOf(changes.kind)
  private[this] val versionAt = ordinalOf(changes.version)

  private def ordinalOf(column: Attribute): Int =
    program.input.indexWhere(_.exprId == column.exprId)

  /**
   * Changes the pending rows.
   *
   * @param pending the pending rows of a key, which become those after the changes, in any order
   * @param come the batch's rows of the key, in any order
   * @return the changes that have taken an answered row away
   */
  def change(pending: ArrayList[Waiting], come: Iterator[UnsafeRow]): Seq[UnsafeRow] = {
    val rows = new LinkedHashMap[UnsafeRow, Waiting]
    val finals = new ArrayList[Waiting]
    pending.forEach { w =>
      if (w.row.getLong(program.time) > late) rows.put(id(w.row), w) else finals.add(w)
    }
    val gone = new HashMap[UnsafeRow, Gone]
    val sorted = come.map(read).toVector.sortBy(c => (c.version, !c.isRemoval))
    sorted.foreach(apply(_, rows, gone))
    pending.clear()
    pending.addAll(finals)
    pending.addAll(rows.values)
    val removed = Vector.newBuilder[UnsafeRow]
    gone.values.forEach(g => if (g.answered.nonEmpty) removed += g.change)
    removed.result()
  }

  private def apply(
      c: Change,
      rows: LinkedHashMap[UnsafeRow, Waiting],
      gone: HashMap[UnsafeRow, Gone]
  ): Unit = c.kind match {
    case Before | Delete =>
      val removed = rows.remove(c.id)
      if (removed != null) gone.put(c.id, new Gone(c.row, removed.answered))
      // a row without a time, or that a condition has left out, is in no window
      else if (c.kind == Before) gone.putIfAbsent(c.id, new Gone(c.row, None))
      else if (!gone.containsKey(c.id)) state.counts(StreamMetrics.ChangesTooLate) += 1
    case After if !rows.containsKey(c.id) && !gone.containsKey(c.id) =>
      state.counts(StreamMetrics.ChangesTooLate) += 1
    case _ =>
      // the row's last answer, so that the same answer does not come again
      val old = Option(gone.remove(c.id)).map(_.answered)
      val other = Option(rows.remove(c.id)).map(_.answered)
      rows.put(c.id, new Waiting(c.row, other.orElse(old).flatten))
  }

  private def id(row: UnsafeRow): UnsafeRow = idOf(row).copy()

  private def read(row: UnsafeRow): Change = {
    val version = if (row.isNullAt(versionAt)) Long.MinValue else row.getLong(versionAt)
    new Change(row, id(row), kindOf(row), version)
  }

  private def kindOf(row: UnsafeRow): String = {
    val kind = if (row.isNullAt(kindAt)) "NULL" else row.getUTF8String(kindAt).toString
    if (Kinds.contains(kind)) kind
    else
      throw SparkInternals.runtimeError(
        "USER_RAISED_EXCEPTION",
        Map(
          "errorMessage" -> (s"The $Kind of a row is $kind; write one of " +
            s"${Kinds.mkString(", ")}")
        )
      )
  }
}

private object AppliedChanges {

  /** A row of the feed. */
  private final class Change(
      val row: UnsafeRow,
      val id: UnsafeRow,
      val kind: String,
      val version: Long
  ) {
    def isRemoval: Boolean = kind == ChangeFeed.Before || kind == ChangeFeed.Delete
  }

  /**
   * A row that a change has taken away.
   *
   * @param answered its last answer
   */
  private final class Gone(val change: UnsafeRow, val answered: Option[Long])
}
