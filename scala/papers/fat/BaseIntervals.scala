package io.sash.papers.fat

import io.sash.papers.algebra.OfAggregation
import io.sash.core.{fat => kernel}

/** B-Int for windows of values. Its class, over slots, is in io.sash.core.fat. */
object BaseIntervals extends OfAggregation(new kernel.BaseIntervals(_))
