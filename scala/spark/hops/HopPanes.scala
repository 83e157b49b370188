package io.sash.spark.hops

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.util.MathUtils
import org.apache.spark.sql.types._

import io.sash.spark.times.PaneNumber

/**
 * The hop windows of Spark's `window(time, size, slide)`, and their panes. A window is a fixed
 * number of consecutive panes, and no window divides a pane. All times are in microseconds since
 * 1970.
 *
 * If the size is a multiple of the slide, panes are as wide as the slide. Otherwise each slide is
 * divided into two panes at the end of a window.
 *
 * Paper: ''Cutty: Aggregate Sharing for User-Defined Windows'', section 2 (Panes and Pairs).
 *
 * @param size the length of a window
 * @param slide from one window's start to the next window's start. For the limits of size and
 *   slide see [[HopPanes.areNumbered]]
 * @param start the start of window 0
 * @param isAnsi whether a time is an error if one of its windows would begin or end beyond
 *   BIGINT. If not, there are no such windows
 */
private[spark] final case class HopPanes(
    size: Long,
    slide: Long,
    start: Long,
    isAnsi: Boolean = true
) {
  private[this] val rest = size % slide
  private[this] val perSlide = if (rest == 0) 1L else 2L

  /** The number of panes in a window. */
  val panes: Long = if (rest == 0) size / slide else 2 * (size / slide) + 1

  /** The greatest number of windows that contain one time. */
  val overlapping: Long = (size + slide - 1) / slide

  // the least start of a window from 1970 on, and the number of that window
  private[this] val offset = Math.floorMod(start, slide)
  private[this] val before = (offset - start) / slide

  /** The first window that begins within BIGINT, and the last that ends there. */
  private[this] val firstOfAll =
    Math.floorDiv(Long.MinValue, slide) + before +
      (if (Math.floorMod(Long.MinValue, slide) > offset) 1 else 0)
  private[this] val lastOfAll = Math.floorDiv(Long.MaxValue - size - offset, slide) + before

  /** For times from `earliest` to `latest`, all windows begin and end within BIGINT. */
  private[this] val earliest = startOf(firstOfAll + overlapping - 1)
  private[this] val latest = startOf(lastOfAll) + (slide - 1)

  /** The start of the first window, and the end of the last. */
  def startOfAll: Long = startOf(firstOfAll)
  def endOfAll: Long = endOf(lastOfAll)

  /**
   * The pane of a time. In ANSI mode it throws, as Spark's addition does, if a window of the time
   * would begin or end beyond BIGINT.
   */
  def paneOf(time: Long): Long = {
    if (isAnsi && (time < earliest || time > latest)) MathUtils.addExact(Long.MaxValue, 1L)
    val slides = PaneNumber.of(time, slide, -before, offset)
    if (rest == 0) slides
    else 2 * slides + (if (time - startOf(slides) >= rest) 1 else 0)
  }

  /** Whether the window begins and ends within BIGINT. */
  def exists(window: Long): Boolean = window >= firstOfAll && window <= lastOfAll

  def startOf(window: Long): Long = start + window * slide

  def endOf(window: Long): Long = startOf(window) + size

  def firstPaneOf(window: Long): Long = window * perSlide

  /** The pane after the window's last pane. */
  def endPaneOf(window: Long): Long = firstPaneOf(window) + panes

  /** The first existing window that has the pane or a later one. */
  def firstWindowOf(pane: Long): Long =
    math.max(firstOfAll, Math.floorDiv(pane - panes, perSlide) + 1)

  /**
   * The last existing window that has the pane. If none has it, a number less than
   * `firstWindowOf(pane)`.
   */
  def lastWindowOf(pane: Long): Long = math.min(lastOfAll, Math.floorDiv(pane, perSlide))

  /** The number of existing windows that have the pane. */
  def windowsWith(pane: Long): Long = lastWindowOf(pane) - firstWindowOf(pane) + 1

  /** The first window that ends after a time. The time must not be before 1970. */
  def firstEndingAfter(time: Long): Long =
    Math.floorDiv(time - size - offset, slide) + before + 1

  /** The start or the end of the first or the last window that has a pane. */
  def boundOf(pane: Long, last: Boolean, end: Boolean): Long = {
    val window = if (last) lastWindowOf(pane) else firstWindowOf(pane)
    if (end) endOf(window) else startOf(window)
  }

  /** The same windows, numbered so that window 0 has ended by 1970. */
  def sinceEpoch: HopPanes =
    copy(start = Math.floorMod(start, slide) - (overlapping + 1) * slide)

  /** The windows in the signature of a checkpoint, and in EXPLAIN. */
  def signature: String = s"$size us every $slide us from $start us"
}

private[spark] object HopPanes {

  /**
   * Whether the numbers of all windows and panes fit BIGINT. Spark accepts some windows whose
   * numbers do not.
   */
  def areNumbered(size: Long, slide: Long): Boolean =
    slide >= 3 && slide <= size && size < Long.MaxValue / 4
}

/** A property of windows and panes, as a function from BIGINT to BIGINT. */
private[spark] sealed abstract class HopExpression extends UnaryExpression {
  def hops: HopPanes

  /** The Java expression for the value. */
  protected def call(hops: String, child: String): String

  override def dataType: DataType = LongType

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val panes = ctx.addReferenceObj("hops", hops, classOf[HopPanes].getName)
    defineCodeGen(ctx, ev, call(panes, _))
  }
}

/** The pane of a time in microseconds. */
private[spark] final case class PaneOf(child: Expression, hops: HopPanes) extends HopExpression {
  override def prettyName: String = "pane_of"

  override protected def call(hops: String, time: String): String = s"$hops.paneOf($time)"

  override protected def nullSafeEval(time: Any): Any = hops.paneOf(time.asInstanceOf[Long])

  override protected def withNewChildInternal(newChild: Expression): PaneOf =
    copy(child = newChild)
}

/** The number of existing windows that have a pane. */
private[spark] final case class WindowsWith(child: Expression, hops: HopPanes)
    extends HopExpression {
  override def prettyName: String = "windows_with"

  override protected def call(hops: String, pane: String): String = s"$hops.windowsWith($pane)"

  override protected def nullSafeEval(pane: Any): Any = hops.windowsWith(pane.asInstanceOf[Long])

  override protected def withNewChildInternal(newChild: Expression): WindowsWith =
    copy(child = newChild)
}

/** The start or the end, in microseconds, of the first or the last window that has a pane. */
private[spark] final case class BoundOf(
    child: Expression,
    hops: HopPanes,
    last: Boolean,
    end: Boolean
) extends HopExpression {
  override def prettyName: String =
    s"${if (end) "end" else "start"}_of_${if (last) "last" else "first"}"

  override protected def call(hops: String, pane: String): String =
    s"$hops.boundOf($pane, $last, $end)"

  override protected def nullSafeEval(pane: Any): Any =
    hops.boundOf(pane.asInstanceOf[Long], last, end)

  override protected def withNewChildInternal(newChild: Expression): BoundOf =
    copy(child = newChild)
}
