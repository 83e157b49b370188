package io.sash.spark.windows

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.types.CalendarIntervalType

import io.sash.spark.kinds.SlidingAggregate
import io.sash.spark.monoids.Algorithm

/**
 * Decides which calls share storage. Calls with the same frame and algorithm share one slot per
 * row, which has all their partials. Equal aggregates over frames that end together, such as the
 * last 7, 30 and 90 days, share one store, with a window for each frame.
 *
 * @param frames the frames; if several share a store, the longest comes first
 */
private[spark] final case class SharedElements(
    stores: Seq[SharedElements.Store],
    frames: Seq[SharedElements.MovedFrame]
) {

  /** The number of frames that share the elements of a call. */
  def rangesOf(call: Int): Int =
    stores.find(_.results.exists(_.contains(call))).fold(1)(_.results.length)
}

private[spark] object SharedElements {

  /** @param result the number of the call, which is the ordinal of its result */
  final case class CallResult(call: WindowCall, result: Int)

  /** @param results for each window over the store, the ordinals of the members' answers */
  final case class Store(algorithm: Algorithm, members: Seq[CallResult], results: Seq[Seq[Int]])

  /** @param windows the windows that move with the frame */
  final case class MovedFrame(
      shape: WindowShape,
      windows: Seq[StoreRange],
      bounding: Option[BoundingCall],
      results: Seq[Int]
  )

  /** Calls of frame number `frame` that share a slot. Groups with equal keys share a store. */
  private final case class Group(frame: Int, key: Any, members: Seq[CallResult])

  def of(calls: Seq[WindowCall]): SharedElements = {
    val members = calls.zipWithIndex.map { case (c, i) => CallResult(c, i) }
    val byShape = members.groupBy(_.call.shape).toSeq.sortBy(_._2.head.result)
    val longestFirst = byShape
      .groupBy { case (shape, of) => classOf(shape).toLeft(of.head.result) }
      .toSeq
      .sortBy(_._2.head._2.head.result)
      .flatMap { case (_, ofClass) =>
        ofClass.sortWith { case ((a, _), (b, _)) => isLonger(a, b) }
      }
    val groups = longestFirst.zipWithIndex.flatMap { case ((shape, of), frame) =>
      grouped(of).map(g => Group(frame, keyOf(shape, g).getOrElse(g), g))
    }
    val keys = groups.map(_.key).distinct
    val sharing = keys.map(k => groups.filter(_.key == k))
    SharedElements(
      sharing.map { of =>
        val first = of.head.members
        Store(first.head.call.algorithm, first, of.map(_.members.map(_.result)))
      },
      longestFirst.zipWithIndex.map { case ((shape, of), frame) =>
        val windows = groups.filter(_.frame == frame).map { g =>
          val store = keys.indexOf(g.key)
          StoreRange(store, sharing(store).indexOf(g))
        }
        MovedFrame(shape, windows, of.head.call.bounding, of.map(_.result))
      }
    )
  }

  /**
   * Groups the calls of one frame that share a slot. A group is sorted by aggregate, so that a
   * group with equal aggregates in another frame gets the same key. Calls with a running answer
   * form groups of their own, so that the other calls can share a store.
   */
  private def grouped(members: Seq[CallResult]): Seq[Seq[CallResult]] =
    members
      .groupBy(m => (m.call.algorithm, m.call.monoid.running.isEmpty))
      .toSeq
      .sortBy(_._2.head.result)
      .flatMap { case ((algorithm, _), of) =>
        val sorted = of.sortBy(m => (aggregate(m).toString, m.result))
        if (algorithm.sharesWindow) Seq(sorted) else sorted.map(Seq(_))
      }

  /** The key of a group: groups with equal keys share a store. None if the group cannot share. */
  private def keyOf(shape: WindowShape, group: Seq[CallResult]): Option[Any] = {
    val algorithm = group.head.call.algorithm
    val isPlain = shape.exclude.isEmpty && group.forall(_.call.monoid.running.isEmpty)
    if (algorithm.sharesElements && isPlain)
      classOf(shape).map((_, algorithm, group.map(aggregate)))
    else None
  }

  private def aggregate(member: CallResult): Expression = {
    val call = member.call.expression.windowFunction.asInstanceOf[AggregateExpression]
    SlidingAggregate.withoutWindows(call).canonicalized
  }

  /** The type, the upper bound and the lower offset of a frame of SQL; none for other frames. */
  private def boundsOf(shape: WindowShape): Option[(FrameType, Expression, Literal)] = {
    val specified = shape.frame match {
      case RowsSpec(frame)  => Some(frame)
      case RangeSpec(frame) => Some(frame)
      case _                => None
    }
    specified.flatMap { frame =>
      frame.lower match {
        case e if e.foldable && e.dataType != CalendarIntervalType =>
          Some((frame.frameType, frame.upper.canonicalized, Literal(e.eval(), e.dataType)))
        case _ => None
      }
    }
  }

  /** The class of frames that end together and whose lower bounds can be compared. */
  private def classOf(shape: WindowShape): Option[Any] =
    boundsOf(shape).map { case (frame, upper, lower) => (frame, upper, lower.dataType) }

  /** Whether `a` is longer than `b`, which is in the same class. */
  private def isLonger(a: WindowShape, b: WindowShape): Boolean =
    (boundsOf(a), boundsOf(b)) match {
      case (Some((_, _, of)), Some((_, _, other))) => LessThan(of, other).eval() == true
      case _                                       => false
    }
}
