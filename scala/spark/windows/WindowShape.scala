package io.sash.spark.windows

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.types.LongType

import io.sash.core.frames.{CountSlide, Exclusion, KeyBound, PaneSlide, Rows, Slide}
import io.sash.spark.kinds._
import io.sash.spark.monoids.{Algorithm, Place}
import io.sash.spark.slots.SlotProgram
import io.sash.spark.times.PaneNumber

/**
 * Defines which rows an answer aggregates (frame and exclusion), and which rows get one (slide).
 */
private[spark] final case class WindowShape(
    frame: FrameSpec,
    exclude: Option[ExcludeSpec] = None,
    slide: Option[SlideSpec] = None
) {

  /** The elements over which windows are queried. */
  def place: Place[Algorithm] = if (exclude.nonEmpty) Place.RingStretches else frame.place

  /** The keys by which rows are compared. */
  def keys(rows: RowsOfFrame): FrameKeys[KeysSpec] =
    FrameKeys(frame.parts.map(_.keys(rows)), exclude.flatMap(_.keys), slide.flatMap(_.keys(rows)))
}

private[spark] object WindowShape {

  def of(expression: WindowExpression): WindowShape = {
    def sqls = FrameSpec.ofFrame(expression.windowSpec.frameSpecification)
    expression.windowFunction match {
      case AggregateExpression(s: SlidingAggregate, _, _, _, _) =>
        WindowShape(
          s.kind.fold(sqls)(FrameSpec.ofKind(_, expression.windowSpec.orderSpec)),
          s.exclude.map(ExcludeSpec(_)),
          s.slide.map(SlideSpec(_))
        )
      case _ => WindowShape(sqls)
    }
  }
}

private[spark] final case class ExcludeSpec(window: WindowExclude) {

  /** The keys that tell peers apart, unless only the current row is excluded. */
  def keys: Option[KeysSpec] =
    Option.when(window.what != WindowExclude.CurrentRow)(SqlFrameKeys.Peers)

  /** @param peers the keys that tell peers apart, or null */
  def exclusion(peers: Rows): Exclusion =
    new Exclusion(peers, keepsRow = window.what == WindowExclude.Ties)
}

private[spark] final case class SlideSpec(window: WindowSlide) {

  /** The keys that tell panes apart, if the slide is by time. */
  def keys(rows: RowsOfFrame): Option[KeysSpec] = Option.when(!window.countsRows) {
    val pane = AttributeReference("pane", LongType)()
    val number = PaneNumber.ofSlide(rows.order.head.child, window.every, rows.timeZone).get
    val program = SlotProgram
      .ofRow(rows.input, Seq(pane), Seq(number))
      .copy(keyOrder = Seq(SortOrder(pane, Ascending)))
    OwnKeys(program, KeyBound.Unbounded, KeyBound.Unbounded)
  }

  /** @param panes the keys that tell panes apart, or null */
  def slide(panes: Rows): Slide =
    if (window.countsRows) new CountSlide(everyRows) else new PaneSlide(panes)

  /** The slide in the signature of a checkpoint. */
  def signature(panes: Option[PartBounds]): String =
    panes.fold(s"at each row of $everyRows")(_.text("at each pane"))

  private def everyRows: Long = window.every.eval().asInstanceOf[Number].longValue
}
