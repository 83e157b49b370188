package io.sash.spark.streams

import scala.util.{Left, Right}

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.plans.logical.Window
import org.apache.spark.sql.catalyst.trees.TreePattern.CURRENT_LIKE
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.TimestampType

import io.sash.spark.SashConf
import io.sash.spark.functions.Partial
import io.sash.spark.kinds._
import io.sash.spark.monoids.{AggregateMonoid, Algorithm}
import io.sash.spark.running.ReplayedMonoid
import io.sash.spark.windows.RangeBounds

/**
 * The calls of a Window, as a program of windows and monoids, each of them once.
 *
 * @param inputs columns that aggregates read, beside those of the window's child
 */
private[streams] final class StreamCalls(window: Window, inputs: Seq[Alias], conf: SQLConf) {
  private val expressions = window.windowExpressions
    .flatMap(_.collect { case w: WindowExpression => w })
    .distinctBy(_.canonicalized)

  private val time = window.orderSpec.head
  private var marks = Vector.empty[Expression]
  private val asWritten = expressions.map(windowOf)

  /** How far windows look ahead, in rows. */
  private val ahead: Int =
    asWritten
      .map(_.frame)
      .collect { case StreamRows(_, until) => -until.toInt }
      .foldLeft(0)(math.max)

  private val windows = if (ahead == 0) asWritten else asWritten.map(later)
  private val aggregates = expressions.map(aggregateOf)

  /** The predicate that bounds a window, of which there is one at most. */
  private val bounding: Option[PredicateWindow] = {
    val all = expressions.flatMap(kindOf).collect { case p: PredicateWindow => p.evaluable }
    if (all.distinctBy(_.canonicalized).length > 1)
      refuse("windows of several predicates in one OVER; ask for them in one query each")
    all.headOption
  }

  /** What each call asks: calls that come to the same (by a minute, and by 60 seconds) are one. */
  private val asked: Seq[(Expression, StreamFraming)] =
    aggregates.map(_.canonicalized).zip(windows)

  def program(input: Seq[Attribute], keys: Seq[Expression], time: Int): StreamProgram = {
    val groups = this.groups(input)
    val answers = output(input)
    (answers ++ marks ++ groups.flatMap(_.slots.holds)).foreach(refuseMoment)
    StreamProgram(
      input,
      keys,
      time,
      window.orderSpec,
      groups,
      allWindows,
      marks,
      expressions.map(_.dataType),
      answers,
      ahead,
      AnswerMode.Append,
      text(keys, groups)
    )
  }

  private def allWindows: Seq[StreamFraming] = windows.distinct

  private def groups(input: Seq[Attribute]): Seq[StreamGroup] = {
    val (bounded, others) = allWindows.indices.partition(allWindows(_).frame == StreamPredicate)
    def asking(a: AggregateExpression, among: Seq[Int]): Seq[Int] =
      among.filter(w => asked.contains((a.canonicalized, allWindows(w))))
    val distinct = aggregates.distinctBy(_.canonicalized)
    val ofBounded = bounding.map { b =>
      val by = b.function.toAggregateExpression()
      val all = (distinct.filter(asking(_, bounded).nonEmpty) :+ by).distinctBy(_.canonicalized)
      group(input, bounded, all, Some((b, by)))
    }
    val byWindows = distinct.map(a => (asking(a, others), a)).filter(_._1.nonEmpty)
    ofBounded.toSeq ++ byWindows.map(_._1).distinct.map { windows =>
      group(input, windows, byWindows.filter(_._1 == windows).map(_._2), None)
    }
  }

  /** @param bounding a predicate, and the aggregate that it is of */
  private def group(
      input: Seq[Attribute],
      windows: Seq[Int],
      aggregates: Seq[AggregateExpression],
      bounding: Option[(PredicateWindow, AggregateExpression)]
  ): StreamGroup = {
    val monoids = aggregates.map(monoidOf)
    val holds = bounding.map { case (predicate, by) =>
      val monoid = monoids(aggregates.indexWhere(_.canonicalized == by.canonicalized))
      Partial.compilable(predicate.of(monoid.lower))
    }
    // -1, NotAsked, where no call asks for it
    val ordinals = aggregates.map { a =>
      windows.map(w => asked.indexOf((a.canonicalized, allWindows(w))))
    }
    val slots = Algorithm.TwoStacksLiteAlgorithm.program(input, monoids, ordinals)
    StreamGroup(slots.copy(holds = holds), windows)
  }

  private def output(input: Seq[Attribute]): Seq[Expression] = {
    val answers = expressions.zipWithIndex.map { case (e, i) =>
      e.canonicalized -> BoundReference(
        input.length + asked.indexOf(asked(i)),
        e.dataType,
        e.nullable
      )
    }.toMap
    window.child.output ++ window.windowExpressions.map(_.transform { case w: WindowExpression =>
      answers(w.canonicalized)
    })
  }

  /** Says all that the state depends on, in words, and what words leave out in a hash. */
  private def text(keys: Seq[Expression], groups: Seq[StreamGroup]): String = {
    val words = new StateText(window.child, inputs, groups.map(_.slots))
    import words.said
    val asks = expressions.indices.map { i =>
      s"${said(aggregates(i))} in window ${allWindows.indexOf(windows(i))}"
    }
    Seq(
      s"buckets ${SashConf.streamBuckets(conf)}",
      inputs.map(i => said(i.child)).mkString("inputs ", ", ", ""),
      keys.map(said).mkString("partition by ", ", ", ""),
      window.orderSpec.map(said).mkString("order by ", ", ", ""),
      asks.distinct.mkString("aggregates ", ", ", ""),
      allWindows.mkString("windows ", ", ", ""),
      marks.map(said).mkString("marks ", ", ", ""),
      s"answered $ahead rows later",
      words.definitions
    ).mkString("; ") + words.zone(keys ++ window.orderSpec ++ inputs ++ aggregates ++ marks)
  }

  private def aggregateOf(e: WindowExpression): AggregateExpression = e.windowFunction match {
    case a @ AggregateExpression(s: SlidingAggregate, _, _, _, _) =>
      a.copy(aggregateFunction = s.function)
    case a: AggregateExpression => a
    case f                      => refuse(s"${f.prettyName} is not an aggregate")
  }

  private def kindOf(e: WindowExpression): Option[WindowKind] = e.windowFunction match {
    case AggregateExpression(s: SlidingAggregate, _, _, _, _) => s.kind
    case _                                                    => None
  }

  private def monoidOf(a: AggregateExpression): AggregateMonoid = AggregateMonoid.of(a) match {
    case Right(m) => m.running.fold(m)(ReplayedMonoid(_, a.filter))
    case Left(r)  => refuse(r.reason)
  }

  private def windowOf(e: WindowExpression): StreamFraming = {
    val frame = kindOf(e).fold(sqlFrame(e))(frameOf)
    e.windowFunction match {
      case AggregateExpression(s: SlidingAggregate, _, _, _, _) =>
        s.exclude.foreach(x => refuse(s"${x.sql} is not on streams yet"))
        StreamFraming(frame, s.slide.map(slideOf))
      case _ => StreamFraming(frame, None)
    }
  }

  private def sqlFrame(e: WindowExpression): StreamFrame = {
    val frame = e.windowSpec.frameSpecification.asInstanceOf[SpecifiedWindowFrame]
    frame.frameType match {
      case RowFrame => StreamRows(rows(frame.lower), rows(frame.upper).getOrElse(0L))
      case RangeFrame if frame.lower == CurrentRow && frame.upper == CurrentRow => StreamPeers
      case RangeFrame =>
        StreamRange(range(frame.lower), range(frame.upper))
    }
  }

  private def frameOf(kind: WindowKind): StreamFrame = kind match {
    case p: PunctuationWindow =>
      val isOne = If(EqualNullSafe(p.punctuation, Literal.TrueLiteral), Literal(1L), Literal(0L))
      StreamPunctuation(markOf(isOne))
    case g: GapWindow       => StreamSession(markOf(shifted(time.child, g.gap)))
    case _: PredicateWindow => StreamPredicate
    case other              => refuse(s"${other.sql} is not on streams yet")
  }

  private def slideOf(slide: WindowSlide): StreamSlide =
    if (slide.countsRows) StreamCountSlide(slide.every.eval().asInstanceOf[Number].longValue)
    else
      StreamPaneSlide(
        markOf(SlidePanes.number(time.child, slide.every, conf.sessionLocalTimeZone).get)
      )

  /** How many rows before the current one, which may be less than 0; none if without bound. */
  private def rows(bound: Expression): Option[Long] = bound match {
    case UnboundedPreceding => None
    case CurrentRow         => Some(0L)
    case b if b.foldable    => Some(-b.eval().asInstanceOf[Int].toLong)
    case _                  => refuseAhead(bound)
  }

  /** The window as it lies before the row that comes so many rows later. */
  private def later(framing: StreamFraming): StreamFraming = framing match {
    case StreamFraming(StreamRows(preceding, until), None) =>
      StreamFraming(StreamRows(preceding.map(_ + ahead), until + ahead), None)
    case _ =>
      refuse(
        s"beside a frame that looks ${ahead} rows ahead all others have to be ROWS frames that do not " +
          "slide; ask for them in one query each"
      )
  }

  /** The mark of a bound, none if nothing lies beyond it yet. */
  private def range(bound: Expression): Option[Int] = bound match {
    case UnboundedPreceding | CurrentRow => None
    case _ =>
      if (isAhead(bound)) refuseAhead(bound)
      Some(markOf(shifted(time.child, bound)))
  }

  private def shifted(of: Expression, bound: Expression): Expression =
    RangeBounds.shifted(of, Ascending, bound, conf.sessionLocalTimeZone)

  private def isAhead(bound: Expression): Boolean =
    !bound.foldable || (shifted(Literal(0L, TimestampType), bound).eval() match {
      case moved: Long => moved > 0
      case _           => true
    })

  private def markOf(e: Expression): Int = {
    if (!marks.exists(_.semanticEquals(e))) marks :+= e
    marks.indexWhere(_.semanticEquals(e))
  }

  /** Spark replaces it in the plan of each batch, where it does not see what is sent to tasks. */
  private def refuseMoment(e: Expression): Unit = if (e.containsPattern(CURRENT_LIKE)) {
    if (e.children.exists(_.containsPattern(CURRENT_LIKE))) e.children.foreach(refuseMoment)
    else
      refuse(
        s"${e.sql} asks for the time or the user of the moment; name it as a column below the window"
      )
  }

  private def refuse(why: String): Nothing = throw StreamErrors.unsupported(window, why)

  private def refuseAhead(bound: Expression): Nothing =
    refuse(s"the bound ${bound.sql} looks ahead of the row, which windows of streams do not yet")
}
