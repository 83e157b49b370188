package io.sash.core.mta

/**
 * Where KVS-AMTA keeps the middle of its level queues: a map from (level, number of the node in
 * its level) to bytes, such as an embedded or a remote key-value store. A window that is the
 * store's only user writes a key once, and reads only what it has written and not removed.
 *
 * Paper: ''Constant-Time Sliding Window Framework with Reduced Memory Footprint and Efficient
 * Bulk Evictions'', section 4.1.5.
 */
trait KeyValueStore {

  /**
   * Stores a batch: the values of the nodes first, first + 1, … of the level. The store may do
   * so in the background, if `get` knows of it.
   */
  def put(level: Int, first: Long, values: Array[Array[Byte]]): Unit

  /** The values of `count` nodes of the level from `first` on, all of which are there. */
  def get(level: Int, first: Long, count: Int): Array[Array[Byte]]

  /** Removes the nodes from <= number < until of the level, those of them that are there. */
  def remove(level: Int, from: Long, until: Long): Unit
}
