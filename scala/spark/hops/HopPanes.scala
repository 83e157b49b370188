package io.sash.spark.hops

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.util.MathUtils
import org.apache.spark.sql.types._

/**
 * Windows of one size that begin every so often, as those of Spark's `window(time, size, slide)`,
 * and the panes that they are made of: each window is some panes that follow one another, and no
 * two windows cut a pane. All times are in microseconds since 1970.
 *
 * Where the size is a multiple of the slide, panes are as wide as the slide. Elsewhere each slide
 * has a pair of them, divided where windows end.
 *
 * Paper: ''Cutty: Aggregate Sharing for User-Defined Windows'', section 2 (Panes and Pairs).
 *
 * @param size of a window
 * @param slide from one window's beginning to the next one's; for it and the size, see [[HopPanes.areNumbered]]
 * @param start the beginning of window 0
 * @param isAnsi if a time fails of which a window would begin or end beyond BIGINT; if not, there are
 *   no such windows
 */
private[spark] final case class HopPanes(
    size: Long,
    slide: Long,
    start: Long,
    isAnsi: Boolean = true
) {
  private[this] val rest = size % slide
  private[this] val perSlide = if (rest == 0) 1L else 2L

  /** How many panes a window has. */
  val panes: Long = if (rest == 0) size / slide else 2 * (size / slide) + 1

  /** In how many windows an instant is, at most. */
  val overlapping: Long = (size + slide - 1) / slide

  // windows begin so long after multiples of the slide, window 0 so many windows before the first of 1970
  private[this] val offset = Math.floorMod(start, slide)
  private[this] val before = (offset - start) / slide

  /** The first window that begins within BIGINT, and the last that ends there. */
  private[this] val firstOfAll =
    Math.floorDiv(Long.MinValue, slide) + before +
      (if (Math.floorMod(Long.MinValue, slide) > offset) 1 else 0)
  private[this] val lastOfAll = Math.floorDiv(Long.MaxValue - size - offset, slide) + before

  /** All windows of times from one to the other are among these. */
  private[this] val earliest = startOf(firstOfAll + overlapping - 1)
  private[this] val latest = startOf(lastOfAll) + (slide - 1)

  /** When the first window begins, and when the last one ends. */
  def startOfAll: Long = startOf(firstOfAll)
  def endOfAll: Long = endOf(lastOfAll)

  /** Fails as Spark's addition does in ANSI mode. */
  def paneOf(time: Long): Long = {
    if (isAnsi && (time < earliest || time > latest)) MathUtils.addExact(Long.MaxValue, 1L)
    // the time less the offset may be beyond BIGINT
    val multiple = Math.floorDiv(time, slide)
    val after = time - multiple * slide - offset
    val slides = multiple + before - (if (after < 0) 1 else 0)
    if (rest == 0) slides
    else 2 * slides + (if ((if (after < 0) after + slide else after) >= rest) 1 else 0)
  }

  /** Whether the window begins and ends within BIGINT. */
  def exists(window: Long): Boolean = window >= firstOfAll && window <= lastOfAll

  def startOf(window: Long): Long = start + window * slide

  def endOf(window: Long): Long = startOf(window) + size

  def firstPaneOf(window: Long): Long = window * perSlide

  /** The pane after its last one. */
  def endPaneOf(window: Long): Long = firstPaneOf(window) + panes

  /** The first window that exists and has a pane, or those after it. */
  def firstWindowOf(pane: Long): Long =
    math.max(firstOfAll, Math.floorDiv(pane - panes, perSlide) + 1)

  /** The last window that exists and has a pane; before the first one if there is none. */
  def lastWindowOf(pane: Long): Long = math.min(lastOfAll, Math.floorDiv(pane, perSlide))

  /** The first window that ends after an instant, from 1970 on. */
  def firstEndingAfter(time: Long): Long =
    Math.floorDiv(time - size - offset, slide) + before + 1

  /** When the first or the last window that has a pane begins or ends. */
  def boundOf(pane: Long, last: Boolean, end: Boolean): Long = {
    val window = if (last) lastWindowOf(pane) else firstWindowOf(pane)
    if (end) endOf(window) else startOf(window)
  }

  /** When the last window ends that holds an instant. */
  def lastEndOf(time: Long): Long = endOf(lastWindowOf(paneOf(time)))

  /** The same windows, numbered from one on that has ended by 1970. */
  def sinceEpoch: HopPanes =
    copy(start = Math.floorMod(start, slide) - (overlapping + 1) * slide)

  override def toString: String = s"$size us every $slide us from $start us"
}

private[spark] object HopPanes {

  /** Whether the numbers of all windows and panes are BIGINT's. Spark's windows are not all of these. */
  def areNumbered(size: Long, slide: Long): Boolean =
    slide >= 3 && slide <= size && size < Long.MaxValue / 4
}

/** Something about windows and their panes, as BIGINT of BIGINT. */
private[spark] sealed abstract class HopExpression extends UnaryExpression {
  def hops: HopPanes

  /** Java for the value. */
  protected def call(hops: String, child: String): String

  override def dataType: DataType = LongType

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val panes = ctx.addReferenceObj("hops", hops, classOf[HopPanes].getName)
    defineCodeGen(ctx, ev, call(panes, _))
  }
}

/** The pane of a time in microseconds. */
private[spark] final case class PaneOf(child: Expression, hops: HopPanes) extends HopExpression {
  override protected def call(hops: String, time: String): String = s"$hops.paneOf($time)"

  override protected def nullSafeEval(time: Any): Any = hops.paneOf(time.asInstanceOf[Long])

  override protected def withNewChildInternal(newChild: Expression): PaneOf =
    copy(child = newChild)
}

/** When the last window ends that holds a time, both in microseconds. */
private[spark] final case class LastEndOf(child: Expression, hops: HopPanes)
    extends HopExpression {
  override protected def call(hops: String, time: String): String = s"$hops.lastEndOf($time)"

  override protected def nullSafeEval(time: Any): Any = hops.lastEndOf(time.asInstanceOf[Long])

  override protected def withNewChildInternal(newChild: Expression): LastEndOf =
    copy(child = newChild)
}

/** When, in microseconds, the first or the last window that has a pane begins or ends. */
private[spark] final case class BoundOf(
    child: Expression,
    hops: HopPanes,
    last: Boolean,
    end: Boolean
) extends HopExpression {
  override protected def call(hops: String, pane: String): String =
    s"$hops.boundOf($pane, $last, $end)"

  override protected def nullSafeEval(pane: Any): Any =
    hops.boundOf(pane.asInstanceOf[Long], last, end)

  override protected def withNewChildInternal(newChild: Expression): BoundOf =
    copy(child = newChild)
}
