package io.sash.papers.algebra

import java.nio.charset.StandardCharsets.UTF_8

import scala.annotation.implicitNotFound

import org.apache.datasketches.filters.bloomfilter.{BloomFilter => Filter}
import org.apache.datasketches.hll.HllSketch
import org.apache.datasketches.memory.XxHash

/**
 * How a value enters a sketch: as in Apache DataSketches itself. So sketches of both can be
 * merged and give the same answers. All NaNs are one value. -0.0 and 0.0 are two values, except
 * in HyperLogLog, where they are one.
 */
@implicitNotFound("sketches take Long, Double and String, not ${T}")
trait Sketched[T] extends Serializable {
  def update(filter: Filter, value: T): Unit
  def update(sketch: HllSketch, value: T): Unit

  /** The hash that DataSketches' Bloom filter uses. */
  def hash(value: T, seed: Long): Long

  /** Whether sketches ignore the value. */
  def passesOver(value: T): Boolean
}

object Sketched {
  implicit object OfLong extends Sketched[Long] {
    override def update(filter: Filter, value: Long): Unit = filter.update(value)
    override def update(sketch: HllSketch, value: Long): Unit = sketch.update(value)
    override def hash(value: Long, seed: Long): Long = XxHash.hashLong(value, seed)
    override def passesOver(value: Long): Boolean = false
  }

  implicit object OfDouble extends Sketched[Double] {
    override def update(filter: Filter, value: Double): Unit = filter.update(value)
    override def update(sketch: HllSketch, value: Double): Unit = sketch.update(value)
    override def hash(value: Double, seed: Long): Long =
      XxHash.hashLong(java.lang.Double.doubleToLongBits(value), seed)
    override def passesOver(value: Double): Boolean = false
  }

  implicit object OfString extends Sketched[String] {
    override def update(filter: Filter, value: String): Unit = filter.update(value)
    override def update(sketch: HllSketch, value: String): Unit = sketch.update(value)

    override def hash(value: String, seed: Long): Long = {
      val bytes = value.getBytes(UTF_8)
      XxHash.hashByteArr(bytes, 0, bytes.length, seed)
    }

    override def passesOver(value: String): Boolean = value == null || value.isEmpty
  }
}
