package io.sash.papers.elements

// Each ability that only some windows have is a trait, so that a type can name it. The abilities
// of the kernel's algorithms are beside `InOrderWindow`: `Suffixes` and `Stretches` for ranges,
// `Elements` for iteration and snapshots.

/**
 * A window that drops any number of elements at once.
 * {{{
 * val window = Amta(Sum[Long])
 * (1L to 10L).foreach(window.insert)
 * window.algorithm.evict(8)
 * window.query() == 19L
 * }}}
 * Paper: ''Constant-Time Sliding Window Framework'', sections 4.1.4 (algorithm 2) and 4.2.4.
 */
trait BulkEviction {

  /**
   * Drops the oldest `count` elements, at the cost that the algorithm states for a bulk: O(log n)
   * combines. If there are fewer, it throws a NoSuchElementException and drops none.
   */
  def evict(count: Int): Unit
}

/**
 * A window that drops the elements which a policy finds by the window's own aggregates.
 * {{{
 * val sums = Amta(Sum[Long])
 * (1L to 10L).foreach(sums.insert)
 * sums.algorithm.evict((all, oldest) => sums.answer(all) - sums.answer(oldest) >= 19L)
 * sums.query() == 19L
 * }}}
 * Paper: ''Constant-Time Sliding Window Framework'', sections 3.2, 4.1.3 and 4.1.4.
 */
trait PolicyEviction {

  /**
   * Enforces the policy: evicts the longest prefix that the policy evicts, which may be the whole
   * window. The algorithm states the cost: O(log n) combines and calls of the policy. If the
   * policy throws, the window stays as it was.
   */
  def evict(policy: WindowSlidePolicy): Unit
}

/**
 * A window from which an element leaves wherever it is.
 * {{{
 * val letters = ReactiveAggregator(Concatenate)
 * Seq("a", "b", "c").foreach(letters.insert)
 * letters.algorithm.remove(1L)
 * letters.query() == "ac"
 * }}}
 * Papers: ''General Incremental Sliding-Window Aggregation'', section 5.1; ''Optimal and General
 * Out-of-Order Sliding-Window Aggregation'', PVLDB 2019.
 */
trait Removing {

  /**
   * Drops the element of this number: its time, or in a `ReactiveAggregator` its number of
   * arrival. If there is none, it throws a NoSuchElementException and changes nothing. The
   * algorithm states the cost: O(log n) combines, now or at the next query.
   */
  def remove(number: Long): Unit
}
