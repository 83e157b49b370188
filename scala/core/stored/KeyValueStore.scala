package io.sash.core.stored

/**
 * The store of a window's nodes: a map from (level, number of the node in its level) to bytes. It
 * may be an embedded or a remote key-value store. A node is put again when a pane in it is
 * amended ([[StoredPanes]]), when a call has failed, or if the user goes back to an earlier
 * header. A window reads only values that it has written and not removed.
 *
 * Paper: ''Constant-Time Sliding Window Framework with Reduced Memory Footprint and Efficient
 * Bulk Evictions'', section 4.1.5.
 */
trait KeyValueStore {

  /**
   * Stores a batch: the values of the nodes first, first + 1, … of the level. The store may write
   * later, in the background, if `get` already returns the new values.
   */
  def put(level: Int, first: Long, values: Array[Array[Byte]]): Unit

  /** The values of `count` nodes of the level, from `first` on. The store has all of them. */
  def get(level: Int, first: Long, count: Int): Array[Array[Byte]]

  /** Removes the nodes of the level with from <= number < until. Some may be missing. */
  def remove(level: Int, from: Long, until: Long): Unit
}
