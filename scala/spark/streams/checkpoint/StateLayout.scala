package io.sash.spark.streams.checkpoint

import org.apache.spark.sql.types.DataType
import org.json4s.{Formats, NoTypeHints}
import org.json4s.jackson.Serialization

/**
 * The parts of the state of windows of rows, and their order in its bytes. A checkpoint keeps it,
 * so that a changed query can read the state of an earlier one: see `StateCarry`. Texts are the
 * names of parts: two parts with one text mean the same.
 *
 * @param time the ordinal of the event time among the columns
 * @param columns the columns of a row that waits
 */
private[spark] final case class StateLayout(
    header: HeaderLayout,
    trees: Seq[TreeLayout],
    columns: Seq[ColumnLayout],
    time: Int
) {
  def json: String = Serialization.write(this)(StateLayout.Json)
}

private[spark] object StateLayout {
  private val Json: Formats = Serialization.formats(NoTypeHints)

  def read(json: String): StateLayout = Serialization.read[StateLayout](json)(Json, manifest)
}

/** The part of a key's header before its trees: see `KeyHeader`. */
private[spark] final case class HeaderLayout(
    isLater: Boolean,
    countsGroups: Boolean,
    beginnings: Seq[BeginningLayout]
)

/** @param hasPosition, hasTime whether the header has them of the last row that was one */
private[spark] final case class BeginningLayout(
    text: String,
    hasPosition: Boolean,
    hasTime: Boolean
)

/**
 * @param elements the kind of elements, which have a time, a group of peers or a condition
 * @param isInverse whether windows are answered by SlickDeque (Inv)
 * @param isStamped whether a stamp of kept answers follows the windows: see `KeptAnswers`
 */
private[spark] final case class TreeLayout(
    elements: String,
    slots: Seq[SlotLayout],
    windows: Seq[WindowLayout],
    isInverse: Boolean,
    isStamped: Boolean
)

private[spark] object TreeLayout {

  /** Whether the tree holds the window's elements, and not only their aggregate. */
  def holds(tree: TreeLayout, window: WindowLayout): Boolean = tree.isInverse || window.evicts

  /** Whether the tree has elements: those that its windows hold, or have yet to insert. */
  def hasElements(tree: TreeLayout): Boolean =
    tree.windows.exists(w => holds(tree, w) || w.lags)
}

/**
 * The cells of an aggregate.
 *
 * @param recipe see `AggregateMonoid`
 * @param types the types of the cells, as JSON
 */
private[spark] final case class SlotLayout(text: String, recipe: Int, types: Seq[String])

/**
 * @param reach where the window begins, if windows can be compared by it
 * @see `StreamFrame` for the others
 */
private[spark] final case class WindowLayout(
    text: String,
    evicts: Boolean,
    lags: Boolean,
    longest: Long,
    reach: Option[WindowReach]
) {

  /** Whether each row of another window's is in this one's, for one and the same row. */
  def includes(other: WindowLayout): Boolean =
    text == other.text || (reach.exists(mine => other.reach.exists(mine.includes)))
}

/**
 * The beginning of a window from its row on, in rows or in microseconds; it is not after the row.
 *
 * @param until the window but for its beginning
 */
private[spark] final case class WindowReach(until: String, least: Long, most: Long) {
  def includes(other: WindowReach): Boolean = until == other.until && most <= other.least
}

/** @param dataType the type as JSON */
private[spark] final case class ColumnLayout(text: String, dataType: String) {
  def sqlType: DataType = DataType.fromJson(dataType)
}
