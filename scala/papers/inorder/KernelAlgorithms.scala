package io.sash.papers.inorder

import io.sash.papers.algebra.{OfAggregation, OfInvertible, OfSelective}
import io.sash.core.{inorder => kernel}

// The names of the algorithms that the plugin runs, for windows of values. Their classes, over
// slots, are in io.sash.core.inorder.

object GrowingWindow extends OfAggregation(new kernel.GrowingWindow(_))

object PrefixAggregates extends OfInvertible(new kernel.PrefixAggregates(_))

object Recalculate extends OfAggregation(new kernel.Recalculate(_))

object SlickDequeInv extends OfInvertible(new kernel.SlickDequeInv(_))

object SlickDequeNonInv extends OfSelective(new kernel.SlickDequeNonInv(_))

object TwoStacksLite extends OfAggregation(new kernel.TwoStacksLite(_))
