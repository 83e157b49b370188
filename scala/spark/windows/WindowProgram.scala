package io.sash.spark.windows

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.DataType

import io.sash.core.elements.InOrderWindow
import io.sash.core.frames.{KeyRing, BoundingCondition}
import io.sash.core.shared.SharedWindow
import io.sash.spark.memory.WindowMemory
import io.sash.spark.monoids.Algorithm
import io.sash.spark.slots.{SlotColumns, SlotProgram}

/**
 * The recipe of a store of elements, serializable for tasks.
 *
 * @param ranges the number of windows over the elements; the longest comes first
 */
private[spark] final case class StoreProgram(
    algorithm: Algorithm,
    slots: SlotProgram,
    ranges: Int
) {
  def create(memory: WindowMemory): ElementStore = {
    val columns = SlotColumns(slots).accountedBy(memory, slots)
    if (ranges == 1) {
      new ElementStore(Array(algorithm.window(columns)))
    } else {
      val shared = algorithm.windows(columns, ranges)
      new ElementStore(Array.tabulate[InOrderWindow](ranges)(new SharedWindow(shared, _)))
    }
  }
}

/** Names window number `range` over store number `store`. */
private[spark] final case class StoreRange(store: Int, range: Int)

/**
 * The recipe of one frame, serializable for tasks.
 *
 * @param keys the keys by which the frame, its exclusion and its slide compare rows
 * @param windows the windows that move with the frame
 * @param bounding the number of the store whose aggregate bounds the frame; none without one
 * @param results the ordinals of the frame's answers in the result row
 */
private[spark] final case class FrameProgram(
    shape: WindowShape,
    keys: FrameKeys[KeysView],
    windows: Seq[StoreRange],
    bounding: Option[Int],
    results: Seq[Int]
) {

  /** Whether each row gets its answer as soon as it arrives. */
  def isImmediate: Boolean = shape.frame.isImmediate

  def create(
      rings: IndexedSeq[KeyRing],
      stores: IndexedSeq[ElementStore]
  ): SlidingFrame = {
    val groups = windows.map(w => new LoweredWindow(stores(w.store), w.range)).toArray
    val bound = bounding.map(stores(_).windows.head)
    val moved = groups.map(_.window) ++ bound
    val condition = bound.map[BoundingCondition] { window => (_, _) =>
      window.column.asInstanceOf[SlotColumns].holds(window.query())
    }
    val ranges = keys.map(_.of(rings))
    new SlidingFrame(
      shape.frame.frame(FrameParts(moved, ranges.parts, condition)),
      shape.exclude.map(_.exclusion(ranges.peers.orNull)).orNull,
      shape.slide.map(_.slide(ranges.panes.orNull)).orNull,
      groups,
      results.toArray
    )
  }
}

/**
 * The recipe of all frames of one operator, serializable for tasks. The driver makes it.
 *
 * @param key the partition key, as a program of one slot; none without PARTITION BY
 * @param rings the keys by which frames compare rows; frames share the keys of the window's order
 * @param stores the elements of the windows, and of the aggregates that bound a frame
 * @param results the types of the results, in the order of the operator's window calls
 * @param kept the SQL of the calls that keep a running answer outside the slots
 */
private[spark] final case class WindowProgram(
    key: Option[SlotProgram],
    rings: Seq[RingProgram],
    stores: Seq[StoreProgram],
    frames: Seq[FrameProgram],
    results: Seq[DataType],
    kept: Seq[String]
) {
  def isImmediate: Boolean = frames.forall(_.isImmediate)

  def create(memory: WindowMemory): SlidingFrames = {
    val keys = rings.toIndexedSeq.map { r =>
      new KeyRing(SlotColumns(r.slots).accountedBy(memory, r.slots), r.users)
    }
    val elements = stores.toIndexedSeq.map(_.create(memory))
    new SlidingFrames(
      frames.map(_.create(keys, elements)).toArray,
      elements.toArray,
      keys.toArray
    )
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
    val elements = SharedElements.of(calls)
    val keys = KeysProgram(rows, elements.frames.map(_.shape.keys(rows)))
    val answering = elements.stores.map { s =>
      StoreProgram(s.algorithm, product(s, input), s.results.length)
    }
    val bounding = elements.frames.flatMap(_.bounding)
    val frames =
      elements.frames.zip(keys.views).map { case (frame, views) =>
        val bound = frame.bounding.map(b => answering.length + bounding.indexWhere(_ eq b))
        FrameProgram(frame.shape, views, frame.windows, bound, frame.results)
      }
    WindowProgram(
      partitionKey(partitionSpec, input),
      keys.rings,
      answering ++ bounding.map(_.program(input)),
      frames,
      calls.map(_.expression.dataType),
      calls.filter(_.monoid.running.nonEmpty).map(c => WindowCall.textOf(c.expression))
    )
  }

  /** The product of several monoids: one slot has the cells of all. */
  private def product(store: SharedElements.Store, input: Seq[Attribute]): SlotProgram =
    store.algorithm.program(
      input,
      store.members.map(_.call.monoid),
      store.members.zipWithIndex.map { case (member, i) =>
        member.result +: store.results.tail.map(_(i))
      }
    )

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
        SlotProgram
          .ofRow(input, keys, partitionSpec)
          .copy(matches = Some(same.reduce[Expression](And(_, _))))
      )
    }
}
