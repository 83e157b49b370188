package io.sash.spark.split

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{RowOrdering, UnsafeRow}

/**
 * Finds the rows of a stretch's first and last key. The rows of the stretch come in any order,
 * unless partials need the window's order.
 */
private[split] final class StretchEnds(program: SplitProgram) {
  private[this] val byKey = RowOrdering.create(program.keys, program.order.input)
  private[this] var first: EndRows = _
  private[this] var last: EndRows = _

  def add(row: UnsafeRow): Unit =
    if (first == null) {
      first = new EndRows(program, row)
      last = first
    } else {
      val toFirst = byKey.compare(row, first.any)
      if (toFirst == 0) first.add(row)
      else if (toFirst < 0) first = ofKey(row, first)
      else addBehind(row)
    }

  private def addBehind(row: UnsafeRow): Unit = {
    val toLast = if (first eq last) 1 else byKey.compare(row, last.any)
    if (toLast == 0) last.add(row)
    else if (toLast > 0) last = ofKey(row, last)
  }

  /** The rows of another key, in the place of a key that lies between two others from now on. */
  private def ofKey(row: UnsafeRow, instead: EndRows): EndRows =
    if (first eq last) new EndRows(program, row)
    else {
      instead.begin(row)
      instead
    }

  def result: Seq[StretchEnd] =
    if (first == null) Nil
    else if (first eq last) Seq(first.result)
    else Seq(first.result, last.result)
}

/** The rows of one key that have come so far: how many, their totals and their ends. */
private[split] final class EndRows(program: SplitProgram, row: UnsafeRow) {
  private[this] val totals = program.stages.map(s => new StretchTotals(s.totals)).toArray
  private[this] val bounds = program.stages.map(_.frame.search).toArray
  private[this] val ordering = RowOrdering.create(program.order.order, program.order.input)
  private[this] val compares = program.comparesRows
  private[this] val first = row.copy()
  private[this] val last = row.copy()
  private[this] var rows = 0L

  count(row)

  /** One of the rows, to compare keys with. */
  def any: InternalRow = first

  /** Forgets all rows but this one, which has another key. */
  def begin(row: UnsafeRow): Unit = {
    first.copyFrom(row)
    last.copyFrom(row)
    totals.foreach(_.clear())
    bounds.foreach(_.foreach(_.clear()))
    rows = 0L
    count(row)
  }

  def add(row: UnsafeRow): Unit = {
    if (compares) {
      if (ordering.compare(row, last) >= 0) last.copyFrom(row)
      else if (ordering.compare(row, first) < 0) first.copyFrom(row)
    }
    count(row)
  }

  private def count(row: UnsafeRow): Unit = {
    rows += 1
    var i = 0
    while (i < totals.length) {
      totals(i).add(row)
      if (bounds(i).nonEmpty) bounds(i).get.add(row)
      i += 1
    }
  }

  def result: StretchEnd = StretchEnd(
    rows,
    first,
    last,
    totals.toIndexedSeq.map(_.cells),
    bounds.toIndexedSeq.map(_.fold(WindowEnds.None)(_.result))
  )
}
