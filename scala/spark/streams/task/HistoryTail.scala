package io.sash.spark.streams.task

import scala.collection.{AbstractIterator, BufferedIterator}
import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import io.sash.spark.streams.program.{StreamProgram, StreamReach}

/**
 * Leaves out the rows of a history that no answered row's window holds. So a history costs its
 * exchange and a sort of all its rows, which spills beyond 64 MB a bucket. However long it is,
 * windows take in only its last rows.
 */
private[streams] final class HistoryTail(program: StreamProgram) {
  private[this] val until = program.start.flatMap(_.silent).getOrElse(Long.MinValue)
  private[this] val reach =
    HistoryTail.reachOf(program).filter(_.rows <= HistoryTail.MostRows).orNull

  /** @param rows the rows of a key, in order; there is at least one */
  def of(rows: BufferedIterator[UnsafeRow]): BufferedIterator[UnsafeRow] =
    if (reach == null || !isHistory(rows.head)) rows else new Tail(rows).buffered

  private def isHistory(row: UnsafeRow): Boolean = row.getLong(program.time) <= until

  private final class Tail(rows: BufferedIterator[UnsafeRow])
      extends AbstractIterator[UnsafeRow] {
    private[this] val last = mutable.ArrayDeque.empty[UnsafeRow]
    private[this] var reached: UnsafeRow = _ // a row that windows may hold by its time

    override def hasNext: Boolean = {
      while (reached == null && rows.hasNext && isHistory(rows.head)) {
        last += rows.next()
        if (last.length > reach.rows) {
          val row = last.removeHead()
          if (row.getLong(program.time) >= reach.time) reached = row
        }
      }
      reached != null || last.nonEmpty || rows.hasNext
    }

    override def next(): UnsafeRow = {
      if (!hasNext) throw new NoSuchElementException("no more rows")
      val row =
        if (reached != null) reached else if (last.nonEmpty) last.removeHead() else rows.next()
      reached = null
      row
    }
  }
}

private[streams] object HistoryTail {

  /** So many rows are held to find the last ones. For longer windows no row is left out. */
  private val MostRows = 1L << 14

  /** The rows of the program's history that its windows may hold; None if they may hold any. */
  def reachOf(program: StreamProgram): Option[StreamReach] =
    program.start.flatMap(_.silent).flatMap(new Marks(program).reach)
}
