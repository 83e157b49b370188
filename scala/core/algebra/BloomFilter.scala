package io.sash.core.algebra

import java.util.Arrays

import org.apache.datasketches.filters.bloomfilter.{BloomFilter => Filter, BloomFilterBuilder}
import org.apache.datasketches.memory.{Memory, WritableMemory}

/**
 * Which values are in the window, perhaps with some that are not: a Bloom filter of Apache
 * DataSketches, of which `query(value)` is never false for a value of the window.
 *
 * Types: T, Filter, Filter. Identity: the empty filter. Associative, commutative; not
 * invertible. Cost: the union of `bits` bits, in words. DataSketches passes over a null and an
 * empty string; -0.0 and 0.0 are two values to it, and all NaNs are one.
 * {{{
 * BloomFilter[Long](bits = 1024, hashes = 3).aggregate(3L, 1L).query(3L)
 * }}}
 * Paper: ''In-Order Sliding-Window Aggregation in Worst-Case Constant Time'', table 1.
 *
 * @param bits the size of a filter, rounded up to whole words
 * @param hashes how many bits a value sets; BloomFilterBuilder suggests sizes and numbers
 */
final class BloomFilter[T] private (bits: Long, hashes: Int, seed: Long)(implicit
    sketched: Sketched[T]
) extends Aggregation[T, Filter, Filter]
    with Commutative {
  override def identity: Filter = BloomFilterBuilder.createBySize(bits, hashes, seed)

  override def lift(in: T): Filter = {
    val filter = identity
    sketched.update(filter, in)
    filter
  }

  override def combine(older: Filter, younger: Filter): Filter = {
    val union = identity
    union.union(older)
    union.union(younger)
    union
  }

  override def lower(agg: Filter): Filter = combine(agg, identity)

  override def newColumn(): Column[T, Filter] = new FilterColumn[T](bits, hashes, seed)
}

object BloomFilter {

  /** Filters can be united with others of the same sizes and the same seed only. */
  val DefaultSeed: Long = 9001L

  def apply[T: Sketched](bits: Long, hashes: Int, seed: Long = DefaultSeed): BloomFilter[T] =
    new BloomFilter[T](bits, hashes, seed)
}

/**
 * The bits of all filters side by side, in words. One filter of DataSketches hashes for all: it
 * writes into `image`, its serialized form, whose words after the header are its bits.
 */
private final class FilterColumn[T](bits: Long, hashes: Int, seed: Long)(implicit
    sketched: Sketched[T]
) extends LongCells(FilterColumn.words(bits))
    with Column[T, Filter] {
  import FilterColumn._

  private[this] val width = words(bits)
  private[this] val image = new Array[Long](Header + width)
  private[this] val hasher =
    BloomFilterBuilder.initializeBySize(bits, hashes, seed, WritableMemory.writableWrap(image))

  override def identity(dst: Int): Unit =
    Arrays.fill(cells, dst * width, (dst + 1) * width, 0L)

  override def lift(slot: Int, in: T): Unit = {
    hasher.reset()
    sketched.update(hasher, in)
    System.arraycopy(image, Header, cells, slot * width, width)
  }

  override def combine(dst: Int, left: Int, right: Int): Unit = {
    val d = dst * width
    val l = left * width
    val r = right * width
    val words = cells
    var i = 0
    while (i < width) {
      words(d + i) = words(l + i) | words(r + i)
      i += 1
    }
  }

  override def copy(dst: Int, src: Int): Unit =
    System.arraycopy(cells, src * width, cells, dst * width, width)

  override def lower(slot: Int): Filter = {
    val answer = image.clone()
    var set = 0L
    var i = 0
    while (i < width) {
      val word = cells(slot * width + i)
      answer(Header + i) = word
      set += java.lang.Long.bitCount(word)
      i += 1
    }
    answer(BitsSet) = set
    Filter.heapify(Memory.wrap(answer))
  }
}

private object FilterColumn {

  /** Words before the bits: kind and number of hashes, seed, length, number of bits set. */
  final val Header = 4
  final val BitsSet = 3

  def words(bits: Long): Int = Math.toIntExact((bits + 63) / 64)
}
