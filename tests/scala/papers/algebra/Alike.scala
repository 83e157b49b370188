package io.sash.papers.algebra

import java.math.{BigDecimal => JBigDecimal}

import org.apache.datasketches.filters.bloomfilter.{BloomFilter => Filter, BloomFilterBuilder}
import org.apache.datasketches.hll.HllSketch

/** Equality of partials and answers, up to the last bits of doubles. */
object Alike {
  private val tolerance = 1e-9

  def apply(a: Any, b: Any): Boolean = (a, b) match {
    case (x: Double, y: Double)           => doubles(x, y)
    case (x: JBigDecimal, y: JBigDecimal) => x.compareTo(y) == 0
    case (x: Filter, y: Filter)           => x.isCompatible(y) && bits(x) == bits(y)
    case (x: HllSketch, y: HllSketch) => doubles(x.getCompositeEstimate, y.getCompositeEstimate)
    case (x: Frequencies[_], y: Frequencies[_]) => x.counters == y.counters
    case (x: Set[_], y: Set[_])                 => x == y
    case (x: Iterable[_], y: Iterable[_])       => x.size == y.size && x.lazyZip(y).forall(apply)
    case (x: scala.Product, y: scala.Product) =>
      x.productPrefix == y.productPrefix && apply(
        x.productIterator.toSeq,
        y.productIterator.toSeq
      )
    case _ => a == b
  }

  private def doubles(x: Double, y: Double): Boolean =
    java.lang.Double.compare(x, y) == 0 ||
      Math.abs(x - y) <= tolerance * Math.max(1.0, Math.max(Math.abs(x), Math.abs(y)))

  /** The serialized form of a filter after it has counted its bits. */
  private def bits(filter: Filter): Seq[Long] = {
    val counted = BloomFilterBuilder.createBySize(
      filter.getCapacity,
      filter.getNumHashes.toInt,
      filter.getSeed
    )
    counted.union(filter)
    counted.toLongArray.toSeq
  }
}
