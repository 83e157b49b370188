package io.sash.spark.windows

import scala.util.{Left, Right}

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.DataType

import io.sash.core.frames.KeyRing
import io.sash.core.shared.SharedWindow
import io.sash.spark.memory.WindowMemory
import io.sash.spark.monoids.Algorithm
import io.sash.spark.plan.WindowCall
import io.sash.spark.slots.{SlotColumns, SlotProgram}

/** The windows of some aggregates of a frame, whose partials lie in one slot. */
private[spark] sealed abstract class GroupProgram

/** @param ranges how many frames share the elements, of which this one's window is the longest */
private[spark] final case class OwnGroup(
    algorithm: Algorithm,
    slots: SlotProgram,
    ranges: Int = 1
) extends GroupProgram

/** The window number `range` of a group of another frame. */
private[spark] final case class SharingGroup(frame: Int, group: Int, range: Int)
    extends GroupProgram

/**
 * One frame and the windows of its aggregates, ready to be sent to tasks.
 *
 * @param keys what the frame, its exclusion and its slide compare rows by
 * @param bounding the window by whose aggregate the frame is bounded, if it is
 * @param results the ordinals of its answers
 */
private[spark] final case class FrameProgram(
    framing: Framing,
    keys: Seq[Option[KeysView]],
    groups: Seq[GroupProgram],
    bounding: Option[(Algorithm, SlotProgram)],
    results: Seq[Int]
) {

  /** Whether each row has its answer as soon as it arrives. */
  def isImmediate: Boolean = framing.frame.isImmediate

  /** @param before the groups of the frames before this one */
  def create(
      memory: WindowMemory,
      rings: IndexedSeq[KeyRing],
      before: Seq[Seq[WindowGroup]]
  ): (SlidingFrame, Seq[WindowGroup]) = {
    def columns(of: SlotProgram): SlotColumns = SlotColumns(of).accountedBy(memory, of)
    val answered = groups.map {
      case OwnGroup(algorithm, slots, 1) => new OwnWindowGroup(algorithm.window(columns(slots)))
      case OwnGroup(algorithm, slots, ranges) =>
        val windows = algorithm.windows(columns(slots), ranges)
        new OwnWindowGroup(new SharedWindow(windows, 0), Some(windows))
      case SharingGroup(frame, group, range) => before(frame)(group).sharing(range)
    }
    val bound = bounding.map { case (a, slots) => new OwnWindowGroup(a.window(columns(slots))) }
    val all = (answered ++ bound).toArray
    val Seq(ofFrame, ofPeers, ofPanes) = keys.map(_.map(_.of(rings)).orNull)
    val frame = new SlidingFrame(
      framing.frame.frame(FrameParts(all.map(_.window), ofFrame, bound.map(_.window).orNull)),
      framing.exclude.map(_.exclusion(ofPeers)).orNull,
      framing.slide.map(_.slide(ofPanes)).orNull,
      all,
      answered.length,
      results.toArray
    )
    (frame, answered)
  }
}

/**
 * All that a task needs to run the frames of one operator, made on the driver.
 *
 * @param key the partition key, as a program of one slot; none without PARTITION BY
 * @param rings the keys that frames compare rows by, those of one order once
 * @param results types of the results, in the order of the operator's window calls
 */
private[spark] final case class WindowProgram(
    key: Option[SlotProgram],
    rings: Seq[RingProgram],
    frames: Seq[FrameProgram],
    results: Seq[DataType]
) {
  def isImmediate: Boolean = frames.forall(_.isImmediate)

  def create(memory: WindowMemory): SlidingFrames = {
    val keys = rings.toIndexedSeq.map { r =>
      new KeyRing(SlotColumns(r.slots).accountedBy(memory, r.slots), r.users)
    }
    val (created, _) = frames.foldLeft((Seq.empty[SlidingFrame], Seq.empty[Seq[WindowGroup]])) {
      case ((before, groups), program) =>
        val (frame, own) = program.create(memory, keys, groups)
        (before :+ frame, groups :+ own)
    }
    new SlidingFrames(created.toArray, keys.toArray)
  }
}

private[spark] object WindowProgram {
  def apply(
      calls: Seq[WindowCall],
      partitionSpec: Seq[Expression],
      orderSpec: Seq[SortOrder],
      input: Seq[Attribute],
      timeZone: String
  ): WindowProgram = {
    val rows = RowsOfFrame(input, orderSpec, timeZone)
    val sharing = SharedElements.of(calls)
    val keys = KeysProgram(rows, sharing.frames.flatMap(_.framing.keys(rows)))
    val frames =
      sharing.frames.zip(keys.views.grouped(Framing.KeysOfEach)).map { case (frame, views) =>
        FrameProgram(
          frame.framing,
          views,
          frame.groups.map {
            case Left(shared) => shared
            case Right(own)   => OwnGroup(own.algorithm, product(own, input), own.ranges)
          },
          frame.bounding.map(_.program(input)),
          frame.results
        )
      }
    val results = calls.map(_.expression.dataType)
    WindowProgram(partitionKey(partitionSpec, input), keys.rings, frames, results)
  }

  /** The product of several monoids: their cells side by side in one slot. */
  private def product(group: SharedElements.Group, input: Seq[Attribute]): SlotProgram = {
    val monoids = group.members.map(_.call.monoid)
    val firsts = monoids.scanLeft(0)(_ + _.left.length)
    val running = monoids.scanLeft(0)(_ + _.running.size)
    val parts = group.members.zipWithIndex.map { case (member, i) =>
      group.algorithm
        .part(member.call.monoid, firsts(i), member.result)
        .copy(ranges = group.sharing.map(others => Seq(others(i))))
        .at(running(i))
    }
    SlotProgram(input, monoids.flatMap(_.left), monoids.flatMap(_.right), parts)
  }

  private def partitionKey(
      partitionSpec: Seq[Expression],
      input: Seq[Attribute]
  ): Option[SlotProgram] =
    if (partitionSpec.isEmpty) {
      None
    } else {
      val keys = partitionSpec.map(e => AttributeReference("key", e.dataType, e.nullable)())
      val same = keys.zip(partitionSpec).map { case (key, e) => EqualNullSafe(key, e) }
      Some(
        SlotProgram(
          input,
          keys,
          keys.map(_.newInstance()),
          Seq(SlotProgram.Part(first = 0, identity = Nil, lift = partitionSpec)),
          matches = Some(same.reduce[Expression](And(_, _)))
        )
      )
    }
}
