package io.sash.spark.slots

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._

/**
 * Slots without code generation. A slot is a row of boxed cells, and expressions are evaluated.
 */
private[sash] final class InterpretedSlots(program: SlotProgram) extends SlotColumns {
  private[this] val width = program.columns.length
  private[this] var rows = Array.empty[GenericInternalRow]

  private[this] val inputs = program.input
  private[this] val slotPair = program.columns ++ program.right
  // the slot comes first, since a row may have more columns than `input`; those come last
  private[this] val slotAndInput = program.columns ++ program.input
  private[this] val answered = if (program.isOfRow) slotAndInput else program.columns

  private[this] val identities = assignments(_.identity, Nil)
  private[this] val lifts = assignments(_.lift, inputs)
  private[this] val combines = assignments(_.combine, slotPair)
  private[this] val subtracts = assignments(_.subtract, slotPair)
  private[this] val selection =
    program.parts.flatMap(_.selectsRight).headOption.map(bind(_, slotPair))
  private[this] val results = Array.tabulate(program.ranges) { range =>
    program.resultsOf(range).map { case (at, e) => (at, bind(e, answered)) }.toArray
  }
  private[this] val shifts = program.keyShifts.map(bind(_, program.columns)).toArray
  private[this] val condition = program.matches.map(bind(_, slotAndInput))
  private[this] val holding = program.holds.map(bind(_, program.columns))
  private[this] val order = new InterpretedOrdering(program.keyOrder.map { o =>
    BindReferences.bindReference[Expression](o, program.columns).asInstanceOf[SortOrder]
  })
  private[this] val copies = program.columns.zipWithIndex.map { case (c, i) =>
    BoundReference(i, c.dataType, c.nullable): Expression
  }.toArray

  private[this] val pair = new JoinedRow

  private def bind(e: Expression, schema: Seq[Attribute]): Expression =
    BindReferences.bindReference(e, schema).transform { case r: RunningExpression =>
      r.in(running)
    }

  private def assignments(
      of: SlotProgram.Part => Seq[Expression],
      schema: Seq[Attribute]
  ): Array[(Int, Expression)] =
    program.parts.flatMap { part =>
      of(part).zipWithIndex.map { case (e, i) => (part.first + i, bind(e, schema)) }
    }.toArray

  /** Computes all cells before it writes one, since `dst` may be an operand. */
  private def assign(dst: Int, cells: Array[(Int, Expression)], from: InternalRow): Unit = {
    val values = cells.map { case (_, e) => InternalRow.copyValue(e.eval(from)) }
    val row = new GenericInternalRow(width)
    cells.indices.foreach(i => row.update(cells(i)._1, values(i)))
    set(dst, row)
  }

  private def set(dst: Int, row: GenericInternalRow): Unit = {
    if (program.varying.nonEmpty) valuesChanged(valueBytesOf(rows(dst)), valueBytesOf(row))
    rows(dst) = row
  }

  override protected def valueBytesOf(slot: Int): Long = valueBytesOf(rows(slot))

  private def valueBytesOf(row: GenericInternalRow): Long =
    if (row == null) 0L else program.varying.map(i => ValueBytes.of(row.values(i))).sum

  override protected[spark] def fresh(): SlotColumns = new InterpretedSlots(program)

  override protected def resize(slots: Int): Unit = rows = java.util.Arrays.copyOf(rows, slots)

  override def identity(dst: Int): Unit = assign(dst, identities, InternalRow.empty)

  override def lift(dst: Int, row: InternalRow): Unit = assign(dst, lifts, row)

  override def combine(dst: Int, left: Int, right: Int): Unit = {
    count()
    assign(dst, combines, pair(rows(left), rows(right)))
  }

  override def subtract(dst: Int, whole: Int, oldest: Int): Unit = {
    count()
    assign(dst, subtracts, pair(rows(whole), rows(oldest)))
  }

  override def selectsRight(left: Int, right: Int): Boolean = {
    count()
    selection.get.eval(pair(rows(left), rows(right))) == true
  }

  override def copy(dst: Int, src: Int): Unit = set(dst, rows(src))

  override def lower(range: Int, slot: Int, out: InternalRow): Unit = {
    val ofRange = results(range)
    val from = if (program.isOfRow) pair(rows(slot), current) else rows(slot)
    var i = 0
    while (i < ofRange.length) {
      val (ordinal, expression) = ofRange(i)
      out.update(ordinal, expression.eval(from))
      i += 1
    }
  }

  override def shift(which: Int, dst: Int, src: Int): Unit =
    assign(dst, Array((0, shifts(which))), rows(src))

  override def compare(left: Int, right: Int): Int = order.compare(rows(left), rows(right))

  override def matches(slot: Int, row: InternalRow): Boolean =
    condition.get.eval(pair(rows(slot), row)) == true

  override def holds(slot: Int): Boolean = holding.get.eval(rows(slot)) == true

  override def save(slot: Int, out: InternalRow): Unit = {
    val row = if (rows(slot) == null) new GenericInternalRow(width) else rows(slot)
    copies.indices.foreach(i => out.update(i, row.get(i, program.columns(i).dataType)))
  }

  override def load(dst: Int, in: InternalRow): Unit =
    assign(dst, copies.indices.map(i => (i, copies(i))).toArray, in)
}
