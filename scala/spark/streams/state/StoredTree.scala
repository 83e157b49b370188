package io.sash.spark.streams.state

import java.nio.ByteBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.DataType

import io.sash.core.stored.StoredWindows
import io.sash.spark.memory.WindowMemory
import io.sash.spark.slots.{SlotColumns, SlotProgram}
import io.sash.spark.streams.checkpoint.TreeLayout

/**
 * Reads a tree of an earlier generation: its elements, its windows and their aggregates. It only
 * knows the types of the cells, and combines nothing.
 *
 * @param number the number of the tree among the key's trees
 */
private[streams] final class StoredTree(layout: TreeLayout, number: Int, state: StreamState) {
  private[this] val types = layout.slots.flatMap(_.types).map(DataType.fromJson)
  private[this] val slots = {
    val cells = types.map(AttributeReference("cell", _)())
    val program = SlotProgram.ofRow(Nil, cells, types.map(Literal.create(null, _)))
    SlotColumns(program).accountedBy(WindowMemory.Unlimited, program)
  }
  private[this] val nodes = new state.Nodes(number)
  private[this] val stored = new StoredWindows(
    slots,
    slots.compactCodec,
    nodes,
    StreamState.LogFanOut,
    layout.windows.map(w => StoredWindows.Shape(w.evicts, w.lags, w.longest)),
    Option.when(layout.isInverse)(StoredWindows.Inverse())
  )

  /** The cells that were read last. */
  val cells: InternalRow = new SpecificInternalRow(types)

  /** Moves to a key and reads the state in `in`. */
  def read(key: Array[Byte], in: ByteBuffer): Unit = {
    nodes.of(key)
    stored.read(in)
    if (layout.isStamped) in.position(in.position() + StreamState.StampBytes)
  }

  /** The number of rows that have come. */
  def end: Long = stored.end

  /** The first row whose element is there. */
  def kept: Long = if (TreeLayout.hasElements(layout)) stored.kept else end

  /** Reads the cells of an element. */
  def readElement(position: Long): Unit = readCells(stored.element(position))

  /** The time of an element, or the number of its group. */
  def timeOf(position: Long): Long = stored.timeOf(position)

  def front(window: Int): Long = stored.window(window).front

  def back(window: Int): Long = stored.window(window).back

  /** Reads the aggregate of a window whose elements leave all at once; it is not empty. */
  def readAggregate(window: Int): Unit = readCells(stored.window(window).query())

  /**
   * Removes the key's nodes.
   *
   * @param nodeEnd the end of the elements of pending rows that nodes have
   */
  def drop(nodeEnd: Long): Unit = {
    nodes.removeAll(stored.end, nodeEnd)
    stored.drop()
  }

  private def readCells(slot: Int): Unit =
    stored.column.asInstanceOf[SlotColumns].save(slot, cells)
}
