package io.sash.spark.windows

import scala.util.{Either, Left, Right}

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.types.CalendarIntervalType

import io.sash.spark.kinds.SlidingAggregate
import io.sash.spark.monoids.Algorithm
import io.sash.spark.plan.{BoundingCall, WindowCall}

/**
 * Which window calls keep their elements together: those of one frame and algorithm in one slot,
 * and of frames that end together (7, 30 and 90 days) those of equal aggregates in one store,
 * with a window over it for each frame.
 *
 * @param frames in an order in which the longest of those that share comes first
 */
private[spark] final case class SharedElements(frames: Seq[SharedElements.Frame]) {

  /** How many frames the elements of a call serve. */
  def rangesOf(call: Int): Int = frames.iterator
    .flatMap(_.groups.collect { case Right(g) => g })
    .find(g => (g.members.map(_.result) ++ g.sharing.flatten).contains(call))
    .fold(1)(_.ranges)
}

private[spark] object SharedElements {

  /** @param result the number of the call, which is the ordinal of its result */
  final case class Member(call: WindowCall, result: Int)

  /** @param sharing the results of the same members over the windows of other frames */
  final case class Group(algorithm: Algorithm, members: Seq[Member], sharing: Seq[Seq[Int]]) {
    def ranges: Int = 1 + sharing.length
  }

  final case class Frame(
      framing: Framing,
      groups: Seq[Either[SharingGroup, Group]],
      bounding: Option[BoundingCall],
      results: Seq[Int]
  )

  def of(calls: Seq[WindowCall]): SharedElements = {
    val members = calls.zipWithIndex.map { case (c, i) => Member(c, i) }
    val byFraming = members.groupBy(_.call.framing).toSeq.sortBy(_._2.head.result)
    val longestFirst = byFraming
      .groupBy { case (framing, of) => classOf(framing).toLeft(of.head.result) }
      .toSeq
      .sortBy(_._2.head._2.head.result)
      .flatMap { case (_, ofClass) =>
        ofClass.sortWith { case ((a, _), (b, _)) => isLonger(a, b) }
      }
    val groups = longestFirst.map(f => grouped(f._2))
    val keys =
      longestFirst.zip(groups).map { case ((framing, _), of) => of.map(keyOf(framing, _)) }
    val places = for (f <- groups.indices; g <- groups(f).indices) yield (f, g)
    val sharing = places.filter { case (f, g) => keys(f)(g).nonEmpty }.groupBy { case (f, g) =>
      keys(f)(g).get
    }
    val frames = longestFirst.zipWithIndex.map { case ((framing, of), f) =>
      val own = groups(f).zipWithIndex.map { case (group, g) =>
        val all = keys(f)(g).fold(Seq((f, g)))(sharing)
        val (firstFrame, firstGroup) = all.head
        if ((firstFrame, firstGroup) == ((f, g))) {
          val others = all.tail.map { case (frame, i) => groups(frame)(i).map(_.result) }
          Right(Group(group.head.call.algorithm, group, others))
        } else {
          Left(SharingGroup(firstFrame, firstGroup, all.indexOf((f, g))))
        }
      }
      Frame(framing, own, of.head.call.bounding, of.map(_.result))
    }
    SharedElements(frames)
  }

  /**
   * Calls of one frame that share a slot, equal ones in equal places. What answers beside the slots
   * has one of its own, so that the others can be shared.
   */
  private def grouped(members: Seq[Member]): Seq[Seq[Member]] =
    members
      .groupBy(m => (m.call.algorithm, m.call.monoid.running.isEmpty))
      .toSeq
      .sortBy(_._2.head.result)
      .flatMap { case ((algorithm, _), of) =>
        val sorted = of.sortBy(m => (aggregate(m).toString, m.result))
        if (algorithm.sharesWindow) Seq(sorted) else sorted.map(Seq(_))
      }

  /** What has to be equal for elements to be shared; none if they cannot be. */
  private def keyOf(framing: Framing, group: Seq[Member]): Option[Any] = {
    val algorithm = group.head.call.algorithm
    val isPlain = framing.exclude.isEmpty && group.forall(_.call.monoid.running.isEmpty)
    if (algorithm.sharesElements && isPlain)
      classOf(framing).map((_, algorithm, group.map(aggregate)))
    else None
  }

  private def aggregate(member: Member): Expression = {
    val call = member.call.expression.windowFunction.asInstanceOf[AggregateExpression]
    call.aggregateFunction match {
      case s: SlidingAggregate =>
        call.copy(aggregateFunction = s.function).canonicalized
      case _ => call.canonicalized
    }
  }

  /** Frames of SQL's: the type, the upper bound, and the lower one as an offset. */
  private def boundsOf(framing: Framing): Option[(FrameType, Expression, Literal)] = {
    val specified = framing.frame match {
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

  /** Frames that end together and whose beginnings can be compared. */
  private def classOf(framing: Framing): Option[Any] =
    boundsOf(framing).map { case (frame, upper, lower) => (frame, upper, lower.dataType) }

  /** Of two of one class. */
  private def isLonger(a: Framing, b: Framing): Boolean = (boundsOf(a), boundsOf(b)) match {
    case (Some((_, _, of)), Some((_, _, other))) => LessThan(of, other).eval() == true
    case _                                       => false
  }
}
