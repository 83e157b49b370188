package io.sash.spark.streams.plan

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.internal.SQLConf

import io.sash.core.frames.KeyBound
import io.sash.spark.kinds._
import io.sash.spark.streams.program._
import io.sash.spark.times._
import io.sash.spark.windows._

/**
 * Reads the windows of calls as windows of a stream. A window names its marks and its condition
 * by their numbers; equal ones have one number.
 *
 * @param time the event time, by which the windows are ordered
 * @param overRows turns an expression into one over the rows, without the columns made for the
 *   arguments of aggregates
 */
private[streams] final class FrameReader(
    time: Expression,
    overRows: Expression => Expression,
    source: WindowSourceText,
    conf: SQLConf
) {
  import StreamCalls.InBatch

  private val numberedMarks = new Numbered[Expression](_ semanticEquals _)
  private val numberedConditions = new Numbered[StreamCondition](_.signature == _.signature)

  def marks: Seq[Expression] = numberedMarks.values
  def conditions: Seq[StreamCondition] = numberedConditions.values

  /** The rows in the windows of a call. */
  def read(e: WindowExpression): StreamShape = {
    UnknownWindow
      .of(e.windowSpec)
      .foreach(what => refuse(s"this Spark has $what, which Sash does not know"))
    val shape = WindowShape.of(e)
    shape.exclude.foreach { x =>
      refuse(
        s"${source(x.window)} leaves rows out of a window, and a stream keeps only the " +
          s"window's aggregate; end the frame before its row, or $InBatch"
      )
    }
    check(shape.frame)
    unboundedIn(shape.frame).foreach(refuseOwnWidth)
    new StreamShape(
      shape.frame,
      shape.frame.parts.map(boundsOf),
      shape.slide,
      shape.slide.flatMap(_.keys(rows)).map(boundsOf)
    )
  }

  private val rows = RowsOfFrame(Nil, Seq(SortOrder(time, Ascending)), conf.sessionLocalTimeZone)

  /** Refuses frames that a stream does not have. */
  private def check(frame: FrameSpec): Unit = frame match {
    case RowsSpec(of)      => if (of.upper == UnboundedFollowing) refuseAhead(of.upper)
    case RangeSpec(of)     => if (of.upper == UnboundedFollowing) refuseAhead(of.upper)
    case BoundsSpec(of, _) => if (risingBounds(of).isEmpty) refuseBounds(of)
    case j: JoinedSpec =>
      j.joined.foreach(check)
      faultOf(j.parts).foreach(why => refuse(s"${source(j.kind)} $why; $InBatch"))
    case _ => ()
  }

  /** The reason why these parts cannot be joined; None if they can. */
  private def faultOf(parts: Seq[FrameSpec]): Option[String] = {
    val bounds = parts.map(boundsOf)
    def endsElsewhere(part: FrameSpec, of: StreamBounds) = part match {
      case r: RowsSpec        => r.upper != 0L
      case groups: GroupsSpec => groups.following > 0L
      case range              => range.isRange && of.upper != KeyBound.CurrentRow
    }
    def measuresTimes(part: FrameSpec) = part.isRange || part.isInstanceOf[OwnRangeSpec]
    if (bounds.exists(_.condition.nonEmpty))
      Some("has a part whose rows leave by a condition on its own window")
    else if (parts.zip(bounds).exists { case (part, of) => endsElsewhere(part, of) })
      Some("has a part that does not end at the current row")
    else
      Option.when(parts.exists(_.isInstanceOf[GroupsSpec]) && parts.exists(measuresTimes))(
        "counts groups and measures times, and a stream keeps one of both for a window"
      )
  }

  /** The kind of a frame that does not say how far back later frames begin. */
  private def unboundedIn(frame: FrameSpec): Option[WindowKind] = frame match {
    case OwnRowsSpec(w)  => Some(w)
    case OwnRangeSpec(w) => Some(w)
    case j: JoinedSpec   => Option.when(j.joined.forall(unboundedIn(_).nonEmpty))(j.kind)
    case _               => None
  }

  private def boundsOf(part: FrameSpec): StreamBounds = part match {
    case PredicateSpec(p) => bounded(StreamCondition.of(p))
    case DeltaSpec(d)     => bounded(StreamCondition.of(d, conf.sessionLocalTimeZone))
    case _: GroupsSpec    => StreamBounds()
    case BoundsSpec(w, _) => risingBounds(w).get
    case _                => part.keys(rows).fold(StreamBounds())(boundsOf)
  }

  private def bounded(by: StreamCondition): StreamBounds =
    StreamBounds(condition = Some(numberedConditions.numberOf(by)))

  private def boundsOf(keys: KeysSpec): StreamBounds = keys match {
    case SqlFrameKeys(frame) =>
      StreamBounds(
        lower = boundOf(frame.lower),
        upper = boundOf(frame.upper),
        isAhead = ConstantInterval.mayLeadAhead(frame.upper)
      )
    case OwnKeys(slots, lower, upper) =>
      val values = slots.columns.map(_.exprId).zip(slots.parts.head.lift).toMap
      def mark(e: Expression) = markOf(e.transform { case a: Attribute =>
        values.getOrElse(a.exprId, a)
      })
      def bound(of: KeyBound) = of match {
        case KeyBound.Shifted(shift, isOpen) =>
          KeyBound.Shifted(mark(slots.keyShifts(shift)), isOpen)
        case other => other
      }
      StreamBounds(
        slots.keyOrder
          .map(_.child)
          .filterNot(k => isTime(values(k.references.head.exprId)))
          .headOption
          .map(mark),
        bound(lower),
        bound(upper),
        holds = slots.holds.map { condition =>
          mark(If(EqualNullSafe(condition, Literal.TrueLiteral), Literal(1L), Literal(0L)))
        },
        width = slots.parts.head.results.headOption.map { case (_, width) => mark(width) }
      )
  }

  private def isTime(e: Expression): Boolean = e.semanticEquals(time)

  private def boundOf(bound: Expression): KeyBound = bound match {
    case CurrentRow              => KeyBound.CurrentRow
    case _: SpecialFrameBoundary => KeyBound.Unbounded
    case offset =>
      KeyBound.Shifted(
        markOf(KeyDistance.shifted(time, Ascending, offset, conf.sessionLocalTimeZone))
      )
  }

  /** The bounds of a window whose ends rise with the event time; None if an end does not. */
  private def risingBounds(w: BoundsWindow): Option[StreamBounds] = {
    val bounds = (w.lower ++ w.upper).map(b => overRows(b.value)).toSeq
    val times = bounds.flatMap(RisingTime.of(_, conf.sessionLocalTimeZone))
    Option.when(times.length == bounds.length && times.forall(t => isTime(t.base))) {
      def mark(bound: OwnBound, inwards: Long) = {
        val end = overRows(bound.value)
        markOf(if (bound.isIncluded) end else TimestampPlusMicros(end, inwards))
      }
      def of(bound: Option[OwnBound], none: KeyBound, inwards: Long) =
        bound.fold(none)(b => KeyBound.Shifted(mark(b, inwards)))
      StreamBounds(
        lower = of(w.lower, KeyBound.Unbounded, 1L),
        upper = of(w.upper, KeyBound.CurrentRow, -1L),
        isAhead = w.upper.nonEmpty && times.last.most > 0
      )
    }
  }

  private def refuseOwnWidth(kind: WindowKind): Nothing = refuse(
    s"how far ${source(kind)} looks back has no bound, so that a stream would have to keep " +
      s"all rows; bound it, as in window_and(${source(kind)}, count_window(1000)) or " +
      s"window_and(${source(kind)}, time_window('7 days'))"
  )

  private def refuseBounds(kind: BoundsWindow): Nothing = refuse(
    s"how far ${source(kind)} looks back has no bound, so that a stream would have to keep " +
      "all rows; ask for a window that is as long as the longest"
  )

  private def markOf(e: Expression): Int = numberedMarks.numberOf(e)

  private def refuse(why: String): Nothing = throw StreamErrors.unsupported(source, why)

  private def refuseAhead(bound: Expression): Nothing =
    refuse(
      s"the bound ${source(bound)} is never reached on a stream; say how far the frame looks " +
        "ahead, as in ROWS BETWEEN CURRENT ROW AND 3 FOLLOWING"
    )
}

/** Numbers for values: equal values have one number, and a new value has the next. */
private final class Numbered[A](areEqual: (A, A) => Boolean) {
  private[this] var numbered = Vector.empty[A]

  def values: Seq[A] = numbered

  def numberOf(value: A): Int = {
    if (!numbered.exists(areEqual(_, value))) numbered :+= value
    numbered.indexWhere(areEqual(_, value))
  }
}
