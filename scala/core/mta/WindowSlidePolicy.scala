package io.sash.core.mta

/**
 * A window slide policy (WSP): says which elements have to leave a window, in terms of the
 * window's own aggregates. `evict(policy)` of a [[MonoidTreeAggregator]] enforces it, in O(log n)
 * however many elements leave.
 *
 * Law: a policy is monotone. Where it evicts a prefix, it evicts each shorter prefix of the same
 * window, too; the enforcement may ask about any prefixes and in any order.
 *
 * A window of the last hour, over a column whose operation is the latest timestamp:
 * {{{
 *   val lastHour: WindowSlidePolicy = (total, prefix) =>
 *     column.timestamp(total) - column.timestamp(prefix) >= 3600000
 * }}}
 * A policy that looks at one aggregate while the answer is another needs a column of both: the
 * product of two operations is an operation.
 *
 * Paper: ''Constant-Time Sliding Window Framework with Reduced Memory Footprint and Efficient
 * Bulk Evictions'', section 4.1.3 and listing 1.
 */
trait WindowSlidePolicy {

  /**
   * Whether at least this prefix of the window has to go.
   *
   * @param total slot of the aggregate of the whole window, as it was before the enforcement
   * @param prefix slot of the aggregate of the oldest elements, of at least one
   */
  def evicts(total: Int, prefix: Int): Boolean
}
