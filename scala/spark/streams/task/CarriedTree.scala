package io.sash.spark.streams.task

import org.apache.spark.sql.catalyst.expressions.SpecificInternalRow
import org.apache.spark.sql.types.DataType

import io.sash.core.slots.Bytes
import io.sash.spark.streams.checkpoint.{SlotPlace, TreeLayout, TreeMapping}
import io.sash.spark.streams.state.StoredTree

/**
 * Fills a present tree from earlier ones. An element has the cells that the earlier trees'
 * elements have at its position, and the identity of an aggregate that has none there.
 *
 * A window that is found begins where the earlier one does. If it is shorter, the next row evicts
 * its older elements. A window that is not found begins with all elements, or with none if its
 * elements leave all at once.
 *
 * @param stored the earlier trees, at the same key
 */
private[streams] final class CarriedTree(
    layout: TreeLayout,
    mapping: TreeMapping,
    stored: IndexedSeq[StoredTree],
    tree: KeyTree
) {
  private[this] val types = layout.slots.flatMap(_.types).map(DataType.fromJson).toArray
  private[this] val cells = new SpecificInternalRow(types.toSeq)
  private[this] val hasElements = TreeLayout.hasElements(layout)
  private[this] val firsts = layout.slots.scanLeft(0)(_ + _.types.length)

  /** The earlier trees with elements of this one. */
  private[this] val sources = mapping.slots.flatten.map(p => stored(p.tree)).distinct

  def beginAnew(key: Array[Byte]): Unit = tree.startAt(key, 0L)

  def carry(key: Array[Byte]): Unit = {
    val end = stored.head.end
    val start = if (hasElements) sources.map(_.kept).minOption.getOrElse(end) else end
    tree.startAt(key, start)
    var position = start
    while (position < end) {
      val holding = sources.filter(_.kept <= position)
      holding.foreach(_.readElement(position))
      fill(place => holding.contains(stored(place.tree)))
      tree.append(cells, holding.head.timeOf(position))
      position += 1
    }
    layout.windows.indices.foreach(restart(_, start, end))
  }

  def write(out: Bytes): Unit = tree.write(out)

  private def restart(w: Int, start: Long, end: Long): Unit = {
    val window = layout.windows(w)
    val holds = TreeLayout.holds(layout, window)
    val found = for {
      (Some(place), Some(earlier)) <- mapping.slots.zip(mapping.windows(w))
    } yield (stored(place.tree), earlier)
    if (found.nonEmpty) {
      val from = found.map { case (t, e) => t.front(e) }.max
      val until = found.map { case (t, e) => t.back(e) }.max
      tree.restart(w, from, until)
      if (!holds && from < until) {
        found.foreach { case (t, e) => t.readAggregate(e) }
        fill(place => found.exists(_._1 eq stored(place.tree)))
        tree.setAggregate(w, cells)
      }
    } else if (!holds) tree.restart(w, end, end)
    else tree.restart(w, start, if (window.lags) start else end)
  }

  /** Sets all cells. An aggregate that no earlier tree has read gets its identity. */
  private def fill(isRead: SlotPlace => Boolean): Unit =
    mapping.slots.indices.foreach { slot =>
      val known = mapping.slots(slot).filter(isRead).map(p => (stored(p.tree).cells, p.first))
      val (from, first) = known.getOrElse((tree.blank, firsts(slot)))
      (firsts(slot) until firsts(slot + 1)).foreach { i =>
        val at = first + i - firsts(slot)
        if (from.isNullAt(at)) cells.setNullAt(i) else cells.update(i, from.get(at, types(i)))
      }
    }
}
