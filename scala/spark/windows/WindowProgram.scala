package io.sash.spark.windows

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.DataType

import io.sash.core.frames.KeyRing
import io.sash.spark.memory.WindowMemory
import io.sash.spark.monoids.Algorithm
import io.sash.spark.plan.WindowCall
import io.sash.spark.slots.{SlotColumns, SlotProgram}

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
    windows: Seq[(Algorithm, SlotProgram)],
    bounding: Option[(Algorithm, SlotProgram)],
    results: Seq[Int]
) {

  /** Whether each row has its answer as soon as it arrives. */
  def isImmediate: Boolean = framing.frame.isImmediate

  def create(memory: WindowMemory, rings: IndexedSeq[KeyRing]): SlidingFrame = {
    def group(of: (Algorithm, SlotProgram)): WindowGroup =
      new WindowGroup(of._1.window(SlotColumns(of._2).accountedBy(memory, of._2)))
    val groups = windows.map(group).toArray
    val bound = bounding.map(group)
    val all = groups ++ bound
    val Seq(ofFrame, ofPeers, ofPanes) = keys.map(_.map(_.of(rings)).orNull)
    new SlidingFrame(
      framing.frame.frame(FrameParts(all.map(_.window), ofFrame, bound.map(_.window).orNull)),
      framing.exclude.map(_.exclusion(ofPeers)).orNull,
      framing.slide.map(_.slide(ofPanes)).orNull,
      all,
      groups.length,
      results.toArray
    )
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
    new SlidingFrames(frames.map(_.create(memory, keys)).toArray, keys.toArray)
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
    val byFraming = calls.zipWithIndex.groupBy(_._1.framing).toSeq.sortBy(_._2.head._2)
    val keys = KeysProgram(rows, byFraming.flatMap(_._1.keys(rows)))
    val frames = byFraming.zip(keys.views.grouped(Framing.KeysOfEach)).map {
      case ((framing, members), views) =>
        FrameProgram(
          framing,
          views,
          windows(members, input),
          members.head._1.bounding.map(_.program(input)),
          members.map(_._2)
        )
    }
    val results = calls.map(_.expression.dataType)
    WindowProgram(partitionKey(partitionSpec, input), keys.rings, frames, results)
  }

  private def windows(
      members: Seq[(WindowCall, Int)],
      input: Seq[Attribute]
  ): Seq[(Algorithm, SlotProgram)] = {
    val byAlgorithm = members.groupBy(_._1.algorithm).toSeq.sortBy(_._2.head._2)
    byAlgorithm.flatMap { case (algorithm, sharing) =>
      val groups = if (algorithm.sharesWindow) Seq(sharing) else sharing.map(Seq(_))
      groups.map(g => (algorithm, product(algorithm, g, input)))
    }
  }

  /** The product of several monoids: their cells side by side in one slot. */
  private def product(
      algorithm: Algorithm,
      members: Seq[(WindowCall, Int)],
      input: Seq[Attribute]
  ): SlotProgram = {
    val monoids = members.map(_._1.monoid)
    val firsts = monoids.scanLeft(0)(_ + _.left.length)
    val running = monoids.scanLeft(0)(_ + _.running.size)
    val parts = members.zip(firsts.zip(running)).map { case ((call, result), (first, index)) =>
      algorithm.part(call.monoid, first, result).at(index)
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
