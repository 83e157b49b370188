package io.sash.spark.streams.plan

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.LongType

import io.sash.spark.kinds._
import io.sash.spark.streams.program._
import io.sash.spark.times._
import io.sash.spark.windows._

/**
 * Reads the windows of calls as frames of a stream, with the marks, the conditions and the
 * beginnings that these frames ask for by number. Each of them is there once.
 *
 * @param time the event time, by which the windows are ordered
 * @param overRows an expression without the columns made for the arguments of aggregates
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
  private val numberedBeginnings = new Numbered[StreamBeginning](_ == _)

  def marks: Seq[Expression] = numberedMarks.values
  def conditions: Seq[StreamCondition] = numberedConditions.values
  def beginnings: Seq[StreamBeginning] = numberedBeginnings.values

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
    val frame = frameOf(shape.frame)
    if (frame.leaving.isEmpty) refuseOwnWidth(kindOf(shape.frame))
    StreamShape(frame, shape.slide.map(s => slideOf(s.window)))
  }

  private def kindOf(frame: FrameSpec): WindowKind = frame match {
    case OwnRowsSpec(w)   => w
    case OwnRangeSpec(w)  => w
    case JoinedSpec(w, _) => w
    case _                => throw new IllegalStateException(s"${frame.text} has no own width")
  }

  private def frameOf(frame: FrameSpec): StreamFrame = frame match {
    case RowsSpec(SpecifiedWindowFrame(_, lower, upper)) =>
      StreamRows(rows(lower), rows(upper).getOrElse(0L))
    case RangeSpec(SpecifiedWindowFrame(_, CurrentRow, CurrentRow)) => StreamPeers
    case RangeSpec(SpecifiedWindowFrame(_, lower, upper)) =>
      StreamRange(rangeFrom(lower), range(upper), ConstantInterval.mayLeadAhead(upper))
    case SawtoothSpec(s) => sawtooth(s)
    case PunctuationSpec(p) =>
      val isOne = If(EqualNullSafe(p.punctuation, Literal.TrueLiteral), Literal(1L), Literal(0L))
      since(StreamPunctuation(markOf(isOne)))
    case GapSpec(g) =>
      def bound(extent: Expression, up: Boolean) = markOf(
        KeyDistance.reach(time, extent, up, strict = true, conf.sessionLocalTimeZone)
      )
      since(StreamSession(bound(g.gap, up = true), g.longest.map(bound(_, up = false))))
    case PredicateSpec(p) => StreamPredicate(numberedConditions.numberOf(StreamCondition.of(p)))
    case DeltaSpec(d) =>
      StreamPredicate(
        numberedConditions.numberOf(StreamCondition.of(d, conf.sessionLocalTimeZone))
      )
    case GroupsSpec(g) => StreamGroups(constant(g.preceding), constant(g.following))
    case j: JoinedSpec => joined(j)
    case OwnRowsSpec(w) =>
      StreamOwnRows(markOf(Coalesce(Seq(Cast(w.preceding, LongType), Literal(-1L)))))
    case OwnRangeSpec(w)  => ownRange(w)
    case BoundsSpec(w)    => rising(w).getOrElse(refuseBounds(w))
    case DistancesSpec(w) => rising(w).getOrElse(refuseBounds(w))
  }

  /** The rows from a row's own time on. A row without a width has no rows. */
  private def ownRange(w: OwnRangeWindow): StreamFrame = {
    val zone = conf.sessionLocalTimeZone
    val first = KeyDistance.reach(time, w.preceding, up = false, strict = false, zone)
    val none = Literal.create(null, LongType)
    val from = If(RangeBounds.isWidth(w.preceding), UnixMicros(first), none)
    StreamOwnRange(markOf(Coalesce(Seq(from, Literal(Long.MaxValue)))))
  }

  private def sawtooth(w: SawtoothWindow): StreamFrame = {
    val zone = conf.sessionLocalTimeZone
    val cut = RangeBounds.sawtoothBegin(time, Ascending, w.size, w.hop, zone)
    val first = if (w.hasOpenStart) TimestampPlusMicros(cut, 1L) else cut
    val last = Option.when(w.hasOpenEnd)(markOf(TimestampPlusMicros(time, -1L)))
    StreamRange(Some(markOf(first)), last, looksAhead = false)
  }

  /** A window between two ends that rise with the event time; None if one of them does not. */
  private def rising(w: BoundsWindow): Option[StreamFrame] = {
    val bounds = (w.lower ++ w.upper).map(b => overRows(b.value)).toSeq
    val times = bounds.flatMap(RisingTime.of(_, conf.sessionLocalTimeZone))
    Option.when(times.length == bounds.length && times.forall(_.base.semanticEquals(time))) {
      def mark(bound: OwnBound, inwards: Long) = {
        val end = overRows(bound.value)
        markOf(if (bound.isIncluded) end else TimestampPlusMicros(end, inwards))
      }
      val isAhead = w.upper.nonEmpty && times.last.most > 0
      StreamRange(w.lower.map(mark(_, 1L)), w.upper.map(mark(_, -1L)), isAhead)
    }
  }

  private def joined(of: JoinedSpec): StreamFrame = {
    def refusePart(why: String) = refuse(s"${source(of.kind)} $why; $InBatch")
    val parts = of.joined.map(frameOf)
    val frame = if (of.kind.ofAll) StreamAnd(parts) else StreamOr(parts)
    frame.fault.foreach(refusePart)
    frame
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

  private def constant(e: Expression): Long = e.eval().asInstanceOf[Number].longValue

  private def slideOf(slide: WindowSlide): RowTest =
    if (slide.countsRows) EachRows(slide.every.eval().asInstanceOf[Number].longValue)
    else
      EachPane(
        markOf(PaneNumber.ofSlide(time, slide.every, conf.sessionLocalTimeZone).get)
      )

  /** The bound in rows before the current row, negative for rows after it; None if unbounded. */
  private def rows(bound: Expression): Option[Long] = bound match {
    case UnboundedPreceding => None
    case CurrentRow         => Some(0L)
    case b if b.foldable    => Some(-b.eval().asInstanceOf[Int].toLong)
    case _                  => refuseAhead(bound)
  }

  /** The mark of a bound; None if no row that has come lies beyond the bound. */
  private def range(bound: Expression): Option[Int] = bound match {
    case UnboundedPreceding | CurrentRow => None
    case UnboundedFollowing              => refuseAhead(bound)
    case _ =>
      Some(markOf(KeyDistance.shifted(time, Ascending, bound, conf.sessionLocalTimeZone)))
  }

  /** The mark of the frame's first time; None if the frame has no lower bound. */
  private def rangeFrom(bound: Expression): Option[Int] =
    if (bound == CurrentRow) Some(markOf(time)) else range(bound)

  private def markOf(e: Expression): Int = numberedMarks.numberOf(e)

  private def since(beginning: StreamBeginning): StreamSince =
    StreamSince(numberedBeginnings.numberOf(beginning), beginning)

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
