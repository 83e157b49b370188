package io.sash.papers.fiba

import io.sash.core.slots.Partials

/**
 * The store of a [[Fiba]]'s nodes. They live in arrays ([[ArrayNodeStore]]) or elsewhere. There
 * they are loaded when first named and written back when they have changed.
 *
 * A node of arity a has a - 1 entries, each a time and a value. Above the leaves it has a
 * children. A store names a node by any number above 0, which is valid until the end of the
 * window's operation. Between operations only the fields below live on. So a store may then
 * forget every node, and a new `Fiba` may go on with the tree of a store.
 *
 * Values and aggregates lie in slots of one column, which the store grows. All changes of a node
 * go through a setter or a copy of this class. If only slots are written, `changed` is called.
 *
 * Paper: ''Out-of-Order Sliding-Window Aggregation'' (2023), section 3.2 (representation) and
 * section 6 (deferred free list).
 *
 * @param minArity MIN_ARITY, a power of two from 2 to 32
 */
abstract class NodeStore(final val minArity: Int) {
  if (minArity < 2 || minArity > 32 || Integer.bitCount(minArity) != 1) {
    throw new IllegalArgumentException(
      s"the minimum arity must be a power of two from 2 to 32, not $minArity"
    )
  }

  /** MAX_ARITY: a node has at most this many children, and one entry less. */
  final val maxArity: Int = 2 * minArity

  /** The root, or 0 before there is a tree. */
  final var root: Int = 0

  /** The left-most leaf. */
  final var leftFinger: Int = 0

  /** The right-most leaf. */
  final var rightFinger: Int = 0

  /**
   * The number of evicted entries that are still in their places at the front of the left finger.
   */
  final var head: Int = 0

  /** The number of entries in the tree, without the evicted ones before `head`. */
  final var size: Int = 0

  /** Makes a node of arity 1 without entries, parent or spine. Level 0 is a leaf. */
  def allocate(level: Int): Int

  /** Frees a node and all below it, in constant time. A node of arity 0 has nothing below it. */
  def free(node: Int): Unit

  /** The node's distance from the leaves. */
  def level(node: Int): Int

  final def isLeaf(node: Int): Boolean = level(node) == 0

  def arity(node: Int): Int
  def setArity(node: Int, arity: Int): Unit

  /** The parent, or 0 for the root. */
  def parent(node: Int): Int

  /** Removes the parent of a node that becomes the root. */
  def detach(node: Int): Unit

  def child(node: Int, i: Int): Int

  /** Sets child i of `node`, and `node` as the parent of `child`. */
  def setChild(node: Int, i: Int, child: Int): Unit

  def time(node: Int, i: Int): Long
  def setTime(node: Int, i: Int, time: Long): Unit

  /** The slot of the value of entry i, for i < maxArity - 1. */
  def slot(node: Int, i: Int): Int

  /** The slot of the node's location-sensitive aggregate. */
  def aggregate(node: Int): Int

  /** The spines of the node, as a sum of `Left` and `Right`; the root is on both. */
  def spine(node: Int): Int
  def setSpine(node: Int, spine: Int): Unit

  /** The number of entries in the node and below it. It is only kept for nodes on no spine. */
  def count(node: Int): Int
  def setCount(node: Int, count: Int): Unit

  /** Copies the time and the value of one entry. */
  def copyEntry(src: Int, from: Int, dst: Int, to: Int): Unit

  /** Copies times and values of `count` entries; the ranges may overlap. */
  def copyEntries(src: Int, from: Int, dst: Int, to: Int, count: Int): Unit

  /** Copies `count` children and makes `dst` their parent; the ranges may overlap. */
  def copyChildren(src: Int, from: Int, dst: Int, to: Int, count: Int): Unit

  /** Called when a slot of this node has been written. */
  def changed(node: Int): Unit

  /** The first of 3 · maxArity slots that belong to the window and to no node. */
  def windowSlots: Int

  /**
   * The first of `slots` adjacent slots that belong to no node; valid until the next `reserve`.
   */
  def reserve(slots: Int): Int

  def column: Partials

  /** The column through which an operation writes. */
  def slots: Partials = column

  /**
   * Begins an operation. `commit` ends it, or `undo` takes back all of it after the column has
   * thrown. If the column is total, `undo` is never called. For other columns, a store that does
   * not override these stays as it was when the column threw.
   */
  def begin(): Unit = ()

  def commit(): Unit = ()

  def undo(): Unit = ()

  /** Moves all slots onto the column that `move` returns. Slot numbers stay the same. */
  def relocate(move: Partials => Partials): Unit
}

object NodeStore {
  final val Left = 1
  final val Right = 2
  final val Both = 3

  /**
   * The greatest height: there are at most 2^28 entries, and nodes have at least two children.
   */
  final val MaxHeight = 32
  final val MaxSize = 1 << 28
}
