package io.sash.bench

import io.sash.core.slots.Partials
import io.sash.papers.algebra.Column

/** A column of partials that is fed with ints, as the authors' C++ is. */
trait BenchColumn {
  def partials: Partials

  def lift(slot: Int, value: Int): Unit

  /** Some bits of the answer, so that computing it is not in vain. */
  def lower(slot: Int): Long
}

/** A column as users get it, whose inputs and answers are ints. */
final class IntsColumn(override val partials: Column[Int, Int]) extends BenchColumn {
  override def lift(slot: Int, value: Int): Unit = partials.lift(slot, value)
  override def lower(slot: Int): Long = partials.lower(slot).toLong
}

/** A column as users get it, whose answers are longs. */
final class LongsColumn(override val partials: Column[Int, Long]) extends BenchColumn {
  override def lift(slot: Int, value: Int): Unit = partials.lift(slot, value)
  override def lower(slot: Int): Long = partials.lower(slot)
}

/** A column as users get it, whose inputs and answers are doubles. */
final class DoublesColumn(override val partials: Column[Double, Double]) extends BenchColumn {
  override def lift(slot: Int, value: Int): Unit = partials.lift(slot, value.toDouble)
  override def lower(slot: Int): Long = partials.lower(slot).toLong
}

/** A column that users do not get. */
abstract class OwnColumn extends Partials with BenchColumn {
  override final def partials: Partials = this
  override final def total: Boolean = true
}

/** The sums of so many ints at once: aggregation over several dimensions. */
final class SumsColumn(dimensions: Int) extends OwnColumn {
  private[this] var values = new Array[Int](0)

  override def lift(slot: Int, value: Int): Unit = {
    var i = slot * dimensions
    val end = i + dimensions
    while (i < end) {
      values(i) = value
      i += 1
    }
  }

  override def lower(slot: Int): Long = values(slot * dimensions).toLong

  override def identity(dst: Int): Unit =
    java.util.Arrays.fill(values, dst * dimensions, (dst + 1) * dimensions, 0)

  override def combine(dst: Int, left: Int, right: Int): Unit = {
    val d = dst * dimensions
    val l = left * dimensions
    val r = right * dimensions
    var i = 0
    while (i < dimensions) {
      values(d + i) = values(l + i) + values(r + i)
      i += 1
    }
  }

  override def copy(dst: Int, src: Int): Unit =
    System.arraycopy(values, src * dimensions, values, dst * dimensions, dimensions)

  override def grow(slots: Int): Partials = {
    val needed = Math.multiplyExact(slots, dimensions)
    if (needed > values.length) values = java.util.Arrays.copyOf(values, needed)
    this
  }
}

/** A Bloom filter of 4,096 bits and 4 hashes, as the authors' C++ has it. */
final class BloomColumn extends OwnColumn {
  private[this] val words = 4096 / 64
  private[this] val salts = Array(1804289383L, 846930886L, 1681692777L, 1714636915L)
  private[this] var bits = new Array[Long](0)

  override def lift(slot: Int, value: Int): Unit = {
    identity(slot)
    val hash = mix(101L, value.toLong)
    var i = 0
    while (i < salts.length) {
      val bit = (mix(hash, salts(i)) & 4095L).toInt
      bits(slot * words + (bit >> 6)) |= 1L << bit
      i += 1
    }
  }

  override def lower(slot: Int): Long = bits(slot * words) & 1L

  override def identity(dst: Int): Unit =
    java.util.Arrays.fill(bits, dst * words, (dst + 1) * words, 0L)

  override def combine(dst: Int, left: Int, right: Int): Unit = {
    val d = dst * words
    val l = left * words
    val r = right * words
    var i = 0
    while (i < words) {
      bits(d + i) = bits(l + i) | bits(r + i)
      i += 1
    }
  }

  override def copy(dst: Int, src: Int): Unit =
    System.arraycopy(bits, src * words, bits, dst * words, words)

  override def grow(slots: Int): Partials = {
    val needed = Math.multiplyExact(slots, words)
    if (needed > bits.length) bits = java.util.Arrays.copyOf(bits, needed)
    this
  }

  private def mix(a: Long, b: Long): Long =
    a ^ (a << 7) ^ (b >>> 32) * (a >>> 3) ^ ~((a << 11) + ((b & 0xffffffffL) ^ (a >>> 5)))
}
