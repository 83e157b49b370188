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
 * @param size of a window, at most [[HopPanes.Longest]]
 * @param slide from one window's beginning to the next one's, at most the size
 * @param start the beginning of window 0
 */
private[spark] final case class HopPanes(size: Long, slide: Long, start: Long) {
  private[this] val rest = size % slide
  private[this] val perSlide = if (rest == 0) 1L else 2L

  /** How many panes a window has. */
  val panes: Long = if (rest == 0) size / slide else 2 * (size / slide) + 1

  /** In how many windows an instant is, at most. */
  val overlapping: Long = (size + slide - 1) / slide

  // windows begin so long after multiples of the slide, window 0 so many windows before the first of 1970
  private[this] val offset = Math.floorMod(start, slide)
  private[this] val before = (offset - start) / slide

  // the windows of times from one to the other begin and end within BIGINT
  private[this] val earliest = {
    val least = Long.MinValue + (overlapping - 1) * slide
    least + Math.floorMod(offset - Math.floorMod(least, slide), slide)
  }
  private[this] val latest = {
    val most = Long.MaxValue - size
    most - Math.floorMod(most - offset, slide) + (slide - 1)
  }

  /** Fails as Spark's addition does where windows would begin or end beyond BIGINT. */
  def paneOf(time: Long): Long = {
    if (time < earliest || time > latest) MathUtils.addExact(Long.MaxValue, 1L)
    val from = time - offset
    val slides = Math.floorDiv(from, slide)
    if (rest == 0) slides + before
    else 2 * (slides + before) + (if (from - slides * slide >= rest) 1 else 0)
  }

  def startOf(window: Long): Long = start + window * slide

  def endOf(window: Long): Long = startOf(window) + size

  def firstPaneOf(window: Long): Long = window * perSlide

  /** The pane after its last one. */
  def endPaneOf(window: Long): Long = firstPaneOf(window) + panes

  /** The first window that has a pane, or those after it. */
  def firstWindowOf(pane: Long): Long = Math.floorDiv(pane - panes, perSlide) + 1

  /** The last window that has a pane. */
  def lastWindowOf(pane: Long): Long = Math.floorDiv(pane, perSlide)

  /** The first window that ends after an instant. */
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

  /** Spark knows longer windows; numbers of their panes would not all be BIGINT's. */
  val Longest: Long = Long.MaxValue / 4
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
