package io.sash.spark.split

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Predicate, RowOrdering, UnsafeRow}

/**
 * Finds the rows of a stretch's first and last key. Rows may be added in any order, unless the
 * partials need the window's order.
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

  /**
   * Begins a new end key. Reuses the object of the end key that it replaces, if there are two.
   */
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

/** The rows of one key added so far: their number, their totals, and the first and last row. */
private[split] final class EndRows(program: SplitProgram, row: UnsafeRow) {
  private[this] val totals = program.stages.map(s => new StretchTotals(s.totals)).toArray
  private[this] val ordering = RowOrdering.create(program.order.order, program.order.input)
  private[this] val compares = program.comparesRows
  private[this] val hasValue = Predicate.create(program.hasValue, program.order.input)
  private[this] val values = new Outermost(ordering)
  private[this] val nulls = new Outermost(ordering)
  private[this] val one = row.copy()
  private[this] var rows = 0L

  place(row)
  count(row)

  /** Any one of the rows, for comparing keys. */
  def any: InternalRow = one

  /** Forgets all rows and begins with this one, which has another key. */
  def begin(row: UnsafeRow): Unit = {
    one.copyFrom(row)
    values.clear()
    nulls.clear()
    totals.foreach(_.clear())
    rows = 0L
    place(row)
    count(row)
  }

  def add(row: UnsafeRow): Unit = {
    if (compares) place(row)
    count(row)
  }

  private def place(row: UnsafeRow): Unit =
    if (hasValue.eval(row)) values.add(row) else nulls.add(row)

  private def count(row: UnsafeRow): Unit = {
    rows += 1
    var i = 0
    while (i < totals.length) {
      totals(i).add(row)
      i += 1
    }
  }

  def result: StretchEnd = StretchEnd(
    rows,
    (values.rows ++ nulls.rows).min(ordering),
    (values.rows ++ nulls.rows).max(ordering),
    values.rows,
    totals.toIndexedSeq.map(_.cells)
  )
}

/** The first and the last of some rows in an order. Rows may be added in any order. */
private[split] final class Outermost(ordering: Ordering[InternalRow]) {
  private[this] var first: UnsafeRow = _
  private[this] var last: UnsafeRow = _
  private[this] var isEmpty = true

  def clear(): Unit = isEmpty = true

  def add(row: UnsafeRow): Unit =
    if (first == null) {
      first = row.copy()
      last = row.copy()
      isEmpty = false
    } else if (isEmpty) {
      first.copyFrom(row)
      last.copyFrom(row)
      isEmpty = false
    } else if (ordering.compare(row, last) >= 0) last.copyFrom(row)
    else if (ordering.compare(row, first) < 0) first.copyFrom(row)

  /** The first and the last row; empty without rows. */
  def rows: Seq[UnsafeRow] = if (isEmpty) Nil else Seq(first, last)
}
