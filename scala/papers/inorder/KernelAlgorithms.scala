package io.sash.papers.inorder

import io.sash.papers.algebra.{OfAggregation, OfInvertible, OfSelective}
import io.sash.core.{inorder => kernel}

// The names of the algorithms that the plugin runs, for windows of values. Their classes, over
// slots, are in io.sash.core.inorder, with their invariants, costs and papers.

/** Makes windows of values that no value leaves: `evict` always throws. */
object GrowingWindow extends OfAggregation(new kernel.GrowingWindow(_))

/** Makes windows of values that answer for any range with one subtraction. */
object PrefixAggregates extends OfInvertible(new kernel.PrefixAggregates(_))

/** Makes windows of values that combine all of them at each query: the oracle. */
object Recalculate extends OfAggregation(new kernel.Recalculate(_))

/** Makes windows of values that subtract a value when it leaves. */
object SlickDequeInv extends OfInvertible(new kernel.SlickDequeInv(_))

/** Makes windows of values that keep only those that may still become the answer. */
object SlickDequeNonInv extends OfSelective(new kernel.SlickDequeNonInv(_))

/** Makes windows of values of any operation, for amortised 3 combines a slide. */
object TwoStacksLite extends OfAggregation(new kernel.TwoStacksLite(_))
