package io.sash.core.fiba

import io.sash.core.slots.Partials

/**
 * Where the nodes of a [[Fiba]] live: in arrays ([[ArrayNodeStore]]), or elsewhere, loaded when
 * they are first named and written back when they have changed.
 *
 * A node of arity a has a - 1 entries, each a time and a value, and, above the leaves, a
 * children. A store names a node by a number above 0 of its choice, valid until the end of the
 * window's operation; from one operation to the next only the fields below live on, so that a
 * store may forget every node in between, and a new `Fiba` may take up the tree of a store.
 *
 * Values and aggregates lie in slots of one column, which the store grows. Whatever changes a
 * node calls a setter or a copy here, or, where only its slots are written, `changed`.
 *
 * Paper: ''Out-of-Order Sliding-Window Aggregation with Efficient Bulk Evictions and
 * Insertions'', section 3.2 (representation) and section 6 (deferred free list).
 *
 * @param minArity MIN_ARITY, a power of two from 2 to 32
 */
abstract class NodeStore(final val minArity: Int) {
  if (minArity < 2 || minArity > 32 || Integer.bitCount(minArity) != 1) {
    throw new IllegalArgumentException(
      s"the minimum arity must be a power of two from 2 to 32, not $minArity"
    )
  }

  /** MAX_ARITY: a node has at most one entry less. */
  final val maxArity: Int = 2 * minArity

  /** The root; 0 while nobody has planted a tree. */
  final var root: Int = 0

  /** The left-most leaf. */
  final var leftFinger: Int = 0

  /** The right-most leaf. */
  final var rightFinger: Int = 0

  /** Entries at the front of the left finger that are evicted, but still in their places. */
  final var head: Int = 0

  /** Entries in the tree, without those before `head`. */
  final var size: Int = 0

  /** A node without entries, parent and spine, of arity 1; level 0 is a leaf. */
  def allocate(level: Int): Int

  /** Gives back a node with all below it, in constant time; a node of arity 0 goes alone. */
  def free(node: Int): Unit

  /** The distance from the leaves. */
  def level(node: Int): Int

  final def isLeaf(node: Int): Boolean = level(node) == 0

  def arity(node: Int): Int
  def setArity(node: Int, arity: Int): Unit

  /** 0 for the root. */
  def parent(node: Int): Int

  /** Takes the parent from a node that becomes the root. */
  def detach(node: Int): Unit

  def child(node: Int, i: Int): Int

  /** Also makes `node` the parent of `child`. */
  def setChild(node: Int, i: Int, child: Int): Unit

  def time(node: Int, i: Int): Long
  def setTime(node: Int, i: Int, time: Long): Unit

  /** The slot of the value of entry i, for i < maxArity - 1. */
  def slot(node: Int, i: Int): Int

  /** The slot of the location-sensitive aggregate. */
  def aggregate(node: Int): Int

  /** The spines that the node is on: a sum of `Left` and `Right`; the root is on both. */
  def spine(node: Int): Int
  def setSpine(node: Int, spine: Int): Unit

  /** Entries of the node and all below it; kept right where the node is on no spine. */
  def count(node: Int): Int
  def setCount(node: Int, count: Int): Unit

  /** Copies the time and the value of one entry. */
  def copyEntry(src: Int, from: Int, dst: Int, to: Int): Unit

  /** Copies times and values of `count` entries; the ranges may overlap. */
  def copyEntries(src: Int, from: Int, dst: Int, to: Int, count: Int): Unit

  /** Copies `count` children and makes `dst` their parent; the ranges may overlap. */
  def copyChildren(src: Int, from: Int, dst: Int, to: Int, count: Int): Unit

  /** A slot of this node has been written. */
  def changed(node: Int): Unit

  /** The first of 3 · maxArity slots that belong to the window and to no node. */
  def windowSlots: Int

  /** The first of so many adjacent slots, no node's, to use until the next `reserve`. */
  def reserve(slots: Int): Int

  def column: Partials

  /** The column as an operation writes to it. */
  def slots: Partials = column

  /**
   * Begins an operation that `undo` may have to take back, all of it, or `commit` ends. Where the
   * column is total, nobody calls any of them; a store for others that lacks them is left as it
   * is by the combine that throws.
   */
  def begin(): Unit = ()

  def commit(): Unit = ()

  def undo(): Unit = ()

  /** Moves all slots onto the column that `move` answers; slot numbers stay the same. */
  def relocate(move: Partials => Partials): Unit
}

object NodeStore {
  final val Left = 1
  final val Right = 2
  final val Both = 3

  /** No tree is higher: 2^28 entries, and every node but the root has two children or more. */
  final val MaxHeight = 32
  final val MaxSize = 1 << 28
}
