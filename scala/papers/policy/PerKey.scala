package io.sash.papers.policy

import java.util.LinkedHashMap
import java.util.function.Function

/**
 * One window for each key, made when the key first comes. Each key's part of a stream is
 * aggregated by itself.
 * {{{
 *   val windows = new PerKey((key: String) => {
 *     val policy = new CountPolicy(size = 3, slide = 1) // a new one, as it belongs to one window
 *     new ValuesByPolicy(TwoStacksLite(Max[Double]), policy, (max: Double) => emit(key, max))
 *   })
 *   windows(key).insert(timestamp, value)
 * }}}
 * Paper: ''General Incremental Sliding-Window Aggregation'', sections 2.2 and 5.4.
 */
final class PerKey[K, W <: ByPolicy](make: K => W) {
  private[this] val windows = new LinkedHashMap[K, W]
  private[this] val making: Function[K, W] = make(_) // one for all calls

  /** The window of this key; makes it if the key is new. */
  def apply(key: K): W = windows.computeIfAbsent(key, making)

  /** The number of keys that have a window. */
  def size: Int = windows.size

  /**
   * Passes a punctuation to the windows of all keys, in the order in which the keys first came.
   */
  def punctuate(attribute: Long): Unit = windows.values.forEach(_.punctuate(attribute))

  /** Drops a key and its window. Throws if there is none. */
  def remove(key: K): Unit =
    if (windows.remove(key) == null) {
      throw new NoSuchElementException(s"remove($key): no window has this key")
    }
}
