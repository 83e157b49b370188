package io.sash.papers.algebra

import java.nio.ByteBuffer

import org.apache.datasketches.hll.{HllSketch, TgtHllType, Union}

import io.sash.core.algebra.Aggregation
import io.sash.core.slots.{Bytes, Slots}

/**
 * The number of distinct values in the window, estimated by the HyperLogLog sketch of Apache
 * DataSketches.
 *
 * Types: T, HllSketch, Double. Identity: the empty sketch. Associative, commutative; not
 * invertible. Cost: one union of sketches, of up to 2^lgK^ registers each. The answer is the
 * composite estimate. It depends on the registers alone, and so not on the order of arrival. Its
 * standard error is about 1.04 / 2^lgK/2^. DataSketches passes over a null and an empty string;
 * for zeros and NaNs see [[Sketched]].
 * {{{
 * HyperLogLog[String](lgK = 12).aggregate("a", "b", "a").round == 2L
 * }}}
 * Paper: ''In-Order Sliding-Window Aggregation in Worst-Case Constant Time'', table 1.
 */
final class HyperLogLog[T] private (lgK: Int)(implicit sketched: Sketched[T])
    extends Aggregation[T, HllSketch, Double]
    with MakesColumn[T, Double]
    with Commutative {
  override def identity: HllSketch = new HllSketch(lgK, TgtHllType.HLL_8)

  override def lift(in: T): HllSketch = {
    val sketch = identity
    sketched.update(sketch, in)
    sketch
  }

  override def combine(older: HllSketch, younger: HllSketch): HllSketch = {
    val union = new Union(lgK)
    union.update(older)
    union.update(younger)
    union.getResult(TgtHllType.HLL_8)
  }

  override def lower(agg: HllSketch): Double = agg.getCompositeEstimate

  override def newColumn(): Column[T, Double] = new ObjectColumn(this) {
    override def write(slots: Slots, slot: Int, out: Bytes): Unit =
      out.putBytes(get(slot).toCompactByteArray)
    override def read(slots: Slots, slot: Int, in: ByteBuffer): Unit =
      put(slot, HllSketch.heapify(Bytes.bytes(in)))
  }
}

object HyperLogLog {
  def apply[T: Sketched](lgK: Int = HllSketch.DEFAULT_LG_K): HyperLogLog[T] = {
    require(lgK >= 4 && lgK <= 21, s"lgK is from 4 to 21, not $lgK")
    new HyperLogLog[T](lgK)
  }
}
