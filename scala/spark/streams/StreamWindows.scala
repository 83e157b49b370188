package io.sash.spark.streams

import scala.util.{Left, Right}

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.optimizer.ReplaceExpressions
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.WINDOW
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.sash.SqlInternals
import org.apache.spark.sql.types.TimestampType

import io.sash.spark.SashConf
import io.sash.spark.kinds.SlidingAggregate
import io.sash.spark.monoids.AggregateMonoid
import io.sash.spark.running.{Distinct, ReplayedMonoid}
import io.sash.spark.slots.SlotProgram
import io.sash.spark.windows.RangeBounds

/** Puts an operator with state in the place of each Window over a stream. */
private[spark] object StreamWindows extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!SashConf.enabled(conf)) plan
    else
      plan.resolveOperatorsUpWithPruning(_.containsPattern(WINDOW)) {
        case window: Window if window.resolved && window.child.isStreaming =>
          planned(window)
      }

  private def planned(window: Window): LogicalPlan = {
    val time = timeOf(window)
    val child = Filter(IsNotNull(time), window.child)
    val calls = new Calls(ReplaceExpressions(window).asInstanceOf[Window], conf)
    val keys = keysOf(window)
    StatefulPlan(child, keys, SashConf.streamBuckets(conf), window.output) { input =>
      calls.program(input, keys, input.indexWhere(_.exprId == time.exprId))
    }
  }

  private def keysOf(window: Window): Seq[Expression] = window.partitionSpec.map { p =>
    if (!Distinct.canKey(p.dataType))
      throw StreamErrors.unsupported(
        window,
        s"PARTITION BY ${p.sql}: values of type ${p.dataType.sql} are not told apart by their " +
          "bytes; partition by another expression of it"
      )
    Distinct.key(SqlInternals.normalized(p))
  }

  private def hasWatermark(a: Attribute): Boolean =
    a.metadata.contains(EventTimeWatermark.delayKey)

  /** The event time, by which the window has to be ordered. */
  private def timeOf(window: Window): Attribute = {
    def refuse(why: String) = throw StreamErrors.unsupported(window, why)
    val watermarked = window.child.collect { case p => p.output }.flatten.filter(hasWatermark)
    def remedy =
      watermarked.headOption.fold("call withWatermark on the event time below the window")(a =>
        s"ORDER BY ${a.name}, which has a watermark"
      )
    window.orderSpec.headOption match {
      case Some(SortOrder(a: Attribute, Ascending, _, _))
          if hasWatermark(a) && a.dataType == TimestampType =>
        a
      case Some(SortOrder(a: Attribute, Descending, _, _)) if hasWatermark(a) =>
        refuse(s"a stream is ordered by ascending event time; ORDER BY ${a.name}")
      case Some(o) =>
        refuse(s"${o.child.sql}, the order, is not an event time with a watermark; $remedy")
      case None => refuse(s"it has no order; $remedy")
    }
  }
}

/** The calls of a Window, as a program of windows and monoids, each of them once. */
private final class Calls(window: Window, conf: SQLConf) {
  private val expressions = window.windowExpressions
    .flatMap(_.collect { case w: WindowExpression => w })
    .distinctBy(_.canonicalized)

  private val time = window.orderSpec.head
  private var bounds = Vector.empty[Expression]
  private val windows = expressions.map(windowOf)
  private val aggregates = expressions.map(aggregateOf)

  def program(input: Seq[Attribute], keys: Seq[Expression], time: Int): StreamProgram = {
    val distinct = aggregates.distinctBy(_.canonicalized)
    val monoids = distinct.map(monoidOf)
    val all = windows.distinct
    // by monoid and window
    val ordinals = distinct.map { a =>
      all.map { w =>
        expressions.indices
          .find(i => aggregates(i).canonicalized == a.canonicalized && windows(i) == w)
          .getOrElse(SlotProgram.NotAsked)
      }
    }
    val firsts = monoids.scanLeft(0)(_ + _.left.length)
    val parts = monoids.indices.map { i =>
      SlotProgram.Part(
        firsts(i),
        monoids(i).identity,
        monoids(i).lift,
        combine = monoids(i).combine,
        results = Seq((ordinals(i).head, monoids(i).lower)),
        ranges = ordinals(i).tail.map(Seq(_))
      )
    }
    StreamProgram(
      input,
      keys,
      time,
      window.orderSpec,
      SlotProgram(input, monoids.flatMap(_.left), monoids.flatMap(_.right), parts),
      all,
      bounds,
      expressions.map(_.dataType),
      output(input),
      text(keys)
    )
  }

  private def output(input: Seq[Attribute]): Seq[Expression] = {
    val answers = expressions.zipWithIndex.map { case (e, i) =>
      e.canonicalized -> BoundReference(input.length + i, e.dataType, e.nullable)
    }.toMap
    window.child.output ++ window.windowExpressions.map(_.transform { case w: WindowExpression =>
      answers(w.canonicalized)
    })
  }

  /** Says all that the state depends on, by the columns' places and types. */
  private def text(keys: Seq[Expression]): String = {
    val columns = window.child.output
    def said(e: Expression): String = e.transform { case a: AttributeReference =>
      AttributeReference(s"c${columns.indexWhere(_.exprId == a.exprId)}", a.dataType)()
    }.sql
    Seq(
      s"buckets ${SashConf.streamBuckets(conf)}",
      columns.map(_.dataType.sql).mkString("columns ", ", ", ""),
      keys.map(said).mkString("partition by ", ", ", ""),
      window.orderSpec.map(said).mkString("order by ", ", ", ""),
      aggregates.map(said).distinct.mkString("aggregates ", ", ", ""),
      windows.distinct.mkString("windows ", ", ", ""),
      bounds.map(said).mkString("bounds ", ", ", "")
    ).mkString("; ")
  }

  private def aggregateOf(e: WindowExpression): AggregateExpression = e.windowFunction match {
    case AggregateExpression(s: SlidingAggregate, _, _, _, _) =>
      throw StreamErrors.unsupported(window, s"${s.windows.head.sql} is not on streams yet")
    case a: AggregateExpression => a
    case f =>
      throw StreamErrors.unsupported(window, s"${f.prettyName} is not an aggregate")
  }

  private def monoidOf(a: AggregateExpression): AggregateMonoid = AggregateMonoid.of(a) match {
    case Right(m) => m.running.fold(m)(ReplayedMonoid(_, a.filter))
    case Left(r)  => throw StreamErrors.unsupported(window, r.reason)
  }

  private def windowOf(e: WindowExpression): StreamWindow = {
    val frame = e.windowSpec.frameSpecification.asInstanceOf[SpecifiedWindowFrame]
    frame.frameType match {
      case RowFrame => StreamRows(rows(frame.lower), rows(frame.upper).getOrElse(0L))
      case RangeFrame =>
        StreamRange(range(frame.lower, isUpper = false), range(frame.upper, true))
    }
  }

  /** How many rows before the current one, none if without bound. */
  private def rows(bound: Expression): Option[Long] = bound match {
    case UnboundedPreceding => None
    case CurrentRow         => Some(0L)
    case b if b.foldable =>
      val offset = b.eval().asInstanceOf[Int]
      if (offset > 0) refuseAhead(bound)
      Some(-offset.toLong)
    case _ => refuseAhead(bound)
  }

  /** The number of a bound. */
  private def range(bound: Expression, isUpper: Boolean): Option[Int] = bound match {
    case UnboundedPreceding    => None
    case CurrentRow if isUpper => None
    case CurrentRow            => Some(numberOf(time.child))
    case _ =>
      if (isAhead(bound)) refuseAhead(bound)
      Some(numberOf(shifted(time.child, bound)))
  }

  private def shifted(of: Expression, bound: Expression): Expression =
    RangeBounds.shifted(of, Ascending, bound, conf.sessionLocalTimeZone)

  private def isAhead(bound: Expression): Boolean =
    !bound.foldable || (shifted(Literal(0L, TimestampType), bound).eval() match {
      case moved: Long => moved > 0
      case _           => true
    })

  private def numberOf(bound: Expression): Int = {
    if (!bounds.exists(_.semanticEquals(bound))) bounds :+= bound
    bounds.indexWhere(_.semanticEquals(bound))
  }

  private def refuseAhead(bound: Expression): Nothing =
    throw StreamErrors.unsupported(
      window,
      s"the bound ${bound.sql} looks ahead of the row, which windows of streams do not yet"
    )
}
