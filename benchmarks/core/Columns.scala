package io.sash.bench

import java.nio.ByteBuffer

import io.sash.core.slots.{Bytes, Invertible, Partials, Selective, SlotCodec, Slots}
import io.sash.papers.slots.ChunkedPartials

/** What a benchmark slides over: a column of partials, fed with ints, as the authors' C++ is. */
trait BenchColumn extends Partials {

  /** As the library's own columns of primitives are. */
  override def total: Boolean = true

  def lift(slot: Int, value: Int): Unit

  /** Some bits of the answer, so that computing it is not in vain. */
  def lower(slot: Int): Long
}

/** An int a partial, as the library's own columns of primitives are. */
abstract class IntColumn extends BenchColumn {
  protected[this] final var values = new Array[Int](0)

  protected[this] def combined(older: Int, younger: Int): Int

  override def lift(slot: Int, value: Int): Unit = values(slot) = value
  override final def lower(slot: Int): Long = values(slot).toLong
  override final def combine(dst: Int, left: Int, right: Int): Unit =
    values(dst) = combined(values(left), values(right))
  override final def suffixes(first: Int, last: Int): Unit = {
    var running = values(last)
    var i = last - 1
    while (i >= first) {
      running = combined(values(i), running)
      values(i) = running
      i -= 1
    }
  }
  override final def fold(dst: Int, slots: Array[Int], count: Int): Unit = {
    var running = values(slots(0))
    var i = 1
    while (i < count) {
      running = combined(running, values(slots(i)))
      i += 1
    }
    values(dst) = running
  }
  override final def foldRange(dst: Int, first: Int, last: Int): Unit = {
    var running = values(dst)
    var i = first
    while (i <= last) {
      running = combined(running, values(i))
      i += 1
    }
    values(dst) = running
  }
  override final def copy(dst: Int, src: Int): Unit = values(dst) = values(src)
  override final def move(dst: Int, src: Int, count: Int): Unit =
    System.arraycopy(values, src, values, dst, count)
  private def all: Array[Int] = values
  override final def copyFrom(other: Partials, dst: Int, src: Int): Unit =
    values(dst) = other.asInstanceOf[IntColumn].all(src)
  override final def grow(slots: Int): Partials = {
    if (slots > values.length) values = java.util.Arrays.copyOf(values, slots)
    this
  }
}

/** A column in chunks, each of which `make` makes. */
final class ChunkedColumn(make: () => BenchColumn)
    extends ChunkedPartials[BenchColumn](make)
    with BenchColumn {
  override def total: Boolean = chunk(0).total
  override def lift(slot: Int, value: Int): Unit = chunk(slot).lift(at(slot), value)
  override def lower(slot: Int): Long = chunk(slot).lower(at(slot))
}

/** Sum of ints, of which a window may be told that they can throw. */
final class SumColumn(override val total: Boolean = true) extends IntColumn with Invertible {
  override protected[this] def combined(older: Int, younger: Int): Int = older + younger
  override def identity(dst: Int): Unit = values(dst) = 0
  override def subtract(dst: Int, whole: Int, oldest: Int): Unit =
    values(dst) = values(whole) - values(oldest)
}

/** Four bytes a sum, for a key-value store. */
object SumCodec extends SlotCodec {
  override def write(column: Slots, slot: Int, out: Bytes): Unit =
    out.putInt(sums(column).lower(slot).toInt)

  override def read(column: Slots, slot: Int, in: ByteBuffer): Unit =
    sums(column).lift(slot, in.getInt())

  private def sums(column: Slots): SumColumn = column.asInstanceOf[SumColumn]
}

/** Counts, which a window slide policy looks at. */
final class CountColumn extends IntColumn with Invertible {
  override def lift(slot: Int, value: Int): Unit = values(slot) = 1
  override protected[this] def combined(older: Int, younger: Int): Int = older + younger
  override def identity(dst: Int): Unit = values(dst) = 0
  override def subtract(dst: Int, whole: Int, oldest: Int): Unit =
    values(dst) = values(whole) - values(oldest)
}

/** The sums of so many ints at once: aggregation over several dimensions. */
final class SumsColumn(dimensions: Int) extends BenchColumn {
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

/** Maximum of ints. */
final class MaxColumn extends IntColumn with Selective {
  override protected[this] def combined(older: Int, younger: Int): Int =
    math.max(older, younger)
  override def identity(dst: Int): Unit = values(dst) = Int.MinValue
  override def selectsRight(left: Int, right: Int): Boolean = values(right) > values(left)
}

/** Geometric mean: the sum of logarithms and the count, as the authors' C++ has it. */
final class GeometricMeanColumn extends BenchColumn {
  private[this] var logs = new Array[Double](0)
  private[this] var counts = new Array[Int](0)

  override def lift(slot: Int, value: Int): Unit = {
    logs(slot) = math.log(value.toDouble)
    counts(slot) = 1
  }
  override def lower(slot: Int): Long = math.exp(logs(slot) / counts(slot)).toLong
  override def identity(dst: Int): Unit = {
    logs(dst) = 0.0
    counts(dst) = 0
  }
  override def combine(dst: Int, left: Int, right: Int): Unit = {
    logs(dst) = logs(left) + logs(right)
    counts(dst) = counts(left) + counts(right)
  }
  override def fold(dst: Int, slots: Array[Int], count: Int): Unit = {
    var log = logs(slots(0))
    var n = counts(slots(0))
    var i = 1
    while (i < count) {
      log += logs(slots(i))
      n += counts(slots(i))
      i += 1
    }
    logs(dst) = log
    counts(dst) = n
  }
  override def foldRange(dst: Int, first: Int, last: Int): Unit = {
    var log = logs(dst)
    var n = counts(dst)
    var i = first
    while (i <= last) {
      log += logs(i)
      n += counts(i)
      i += 1
    }
    logs(dst) = log
    counts(dst) = n
  }
  override def suffixes(first: Int, last: Int): Unit = {
    var log = logs(last)
    var n = counts(last)
    var i = last - 1
    while (i >= first) {
      log += logs(i)
      n += counts(i)
      logs(i) = log
      counts(i) = n
      i -= 1
    }
  }
  override def move(dst: Int, src: Int, count: Int): Unit = {
    System.arraycopy(logs, src, logs, dst, count)
    System.arraycopy(counts, src, counts, dst, count)
  }
  override def copy(dst: Int, src: Int): Unit = {
    logs(dst) = logs(src)
    counts(dst) = counts(src)
  }
  override def grow(slots: Int): Partials = {
    if (slots > logs.length) {
      logs = java.util.Arrays.copyOf(logs, slots)
      counts = java.util.Arrays.copyOf(counts, slots)
    }
    this
  }
}

/** A Bloom filter of 4,096 bits and 4 hashes, as the authors' C++ has it. */
final class BloomColumn extends BenchColumn {
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
