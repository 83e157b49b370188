package io.sash.spark.split

import java.time.DateTimeException

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import io.sash.core.frames.KeyBound
import io.sash.spark.memory.WindowMemory
import io.sash.spark.slots.SlotColumns
import io.sash.spark.windows.{KeysView, RingProgram}

/** The rows with the least and with the greatest bound of some rows. */
private[spark] final case class BoundEnds(least: UnsafeRow, greatest: UnsafeRow) {
  def rows: Seq[UnsafeRow] = Seq(least, greatest)
}

/**
 * The ends of the bounds of some rows' windows.
 *
 * @param lower none if there is no lower bound, or no row has a window
 * @param isKnown whether each bound has a value, without an overflow
 */
private[spark] final case class WindowEnds(
    lower: Option[BoundEnds],
    upper: Option[BoundEnds],
    isKnown: Boolean
) {
  def rows: Seq[UnsafeRow] = (lower ++ upper).flatMap(_.rows).toSeq
}

private[spark] object WindowEnds {
  val None: WindowEnds = WindowEnds(Option.empty, Option.empty, isKnown = true)
}

/**
 * Finds the ends of the bounds of rows, where the order of the rows does not say the order of
 * their bounds. The rows may come in any order.
 */
private[split] final class BoundSearch(ring: RingProgram, view: KeysView) {
  import BoundSearch._

  private[this] val columns: SlotColumns = SlotColumns(ring.slots)
    .accountedBy(WindowMemory.Unlimited, ring.slots)
    .grow(Slots)
  private[this] val mayLackWindow = ring.slots.holds.nonEmpty
  private[this] val bounds = Array(view.lower, view.upper)
  private[this] val found = new Array[BoundEnds](bounds.length)
  private[this] var isKnown = true

  def clear(): Unit = {
    java.util.Arrays.fill(found.asInstanceOf[Array[AnyRef]], null)
    isKnown = true
  }

  /** Takes a row. Says whether one of its bounds is greater than the bounds before. */
  def add(row: UnsafeRow): Boolean = {
    columns.lift(Key, row)
    isKnown && (!mayLackWindow || columns.holds(Key)) && {
      try bounds.indices.count(i => bounds(i) != KeyBound.Unbounded && take(i, row)) > 0
      catch {
        case _: ArithmeticException | _: DateTimeException =>
          isKnown = false
          false
      }
    }
  }

  private def take(i: Int, row: UnsafeRow): Boolean = {
    val (bound, least, greatest) = (computed(bounds(i)), 2 + 2 * i, 3 + 2 * i)
    if (found(i) == null) {
      found(i) = BoundEnds(row.copy(), row.copy())
      columns.copy(least, bound)
      columns.copy(greatest, bound)
      true
    } else {
      if (columns.compare(bound, least) < 0) {
        found(i).least.copyFrom(row)
        columns.copy(least, bound)
      }
      val isGreater = columns.compare(bound, greatest) > 0
      if (isGreater) {
        found(i).greatest.copyFrom(row)
        columns.copy(greatest, bound)
      }
      isGreater
    }
  }

  /** The slot of a bound of the row. */
  private def computed(bound: KeyBound): Int = bound match {
    case KeyBound.Shifted(shift, _) =>
      columns.shift(shift, Bound, Key)
      Bound
    case _ => Key
  }

  /** The ends of all rows since the last `clear`. */
  def result: WindowEnds = {
    def ends(i: Int) = Option(found(i)).map(e => BoundEnds(e.least.copy(), e.greatest.copy()))
    WindowEnds(ends(0), ends(1), isKnown)
  }
}

private object BoundSearch {

  /** The slots of a row's key and bound; behind them lie the ends of both bounds. */
  private final val Key = 0
  private final val Bound = 1
  private final val Slots = 6
}
