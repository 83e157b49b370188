package io.sash.papers.elements

/**
 * A window slide policy (WSP): decides by a window's own aggregates which elements leave it. A
 * window with [[PolicyEviction]] enforces it.
 *
 * Law: a policy is monotone. If it evicts a prefix, it also evicts each shorter prefix of the
 * same window. The enforcement may ask about any prefixes in any order.
 *
 * A window of the last hour, over a column whose operation is the latest timestamp:
 * {{{
 *   val lastHour: WindowSlidePolicy = (total, prefix) =>
 *     column.timestamp(total) - column.timestamp(prefix) >= 3600000
 * }}}
 * If the policy needs another aggregate than the answer, use a column of both: the product of two
 * operations is an operation.
 *
 * Paper: ''Constant-Time Sliding Window Framework'', section 4.1.3 and listing 1.
 */
trait WindowSlidePolicy {

  /**
   * Whether at least this prefix of the window must leave.
   *
   * @param total slot of the aggregate of the whole window, as it was before the enforcement
   * @param prefix slot of the aggregate of one or more of the oldest elements
   */
  def evicts(total: Int, prefix: Int): Boolean
}
