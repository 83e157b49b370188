package io.sash.papers.algebra

import org.apache.datasketches.filters.bloomfilter.{BloomFilter => Filter, BloomFilterBuilder}
import org.apache.datasketches.memory.{Memory, WritableMemory}

import io.sash.core.algebra.Aggregation

/**
 * The set of the window's values, as a Bloom filter of Apache DataSketches. `query(value)` is
 * true for every value of the window, and by chance for some others.
 *
 * Types: T, Filter, Filter. Identity: the empty filter. Associative, commutative; not invertible.
 * Cost: the union of `bits` bits, in words. DataSketches passes over a null and an empty string;
 * for zeros and NaNs see [[Sketched]].
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
    with MakesColumn[T, Filter]
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

  /** A filter can only be united with filters of the same size, number of hashes and seed. */
  val DefaultSeed: Long = 9001L

  def apply[T: Sketched](bits: Long, hashes: Int, seed: Long = DefaultSeed): BloomFilter[T] = {
    require(
      bits > 0 && bits <= Filter.MAX_SIZE_BITS,
      s"a filter has 1 to ${Filter.MAX_SIZE_BITS} bits, not $bits"
    )
    require(
      hashes > 0 && hashes <= Short.MaxValue,
      s"a filter has 1 to ${Short.MaxValue} hashes, not $hashes"
    )
    new BloomFilter[T](bits, hashes, seed)
  }
}

/**
 * The bits of each filter, in words. A value sets the same bits as in a filter of DataSketches.
 * Only the answers are such filters, since working on them would take three times as long.
 */
private final class FilterColumn[T](bits: Long, hashes: Int, seed: Long)(implicit
    sketched: Sketched[T]
) extends LongRows(FilterColumn.words(bits))
    with Column[T, Filter] {
  import FilterColumn._

  private[this] val width = words(bits)
  private[this] val capacity = width * 64L
  private[this] val powerOfTwo = java.lang.Long.bitCount(capacity) == 1

  /** The serialized form of an empty filter. */
  private[this] val empty = new Array[Long](Header + width)
  BloomFilterBuilder.initializeBySize(bits, hashes, seed, WritableMemory.writableWrap(empty))

  override def lift(slot: Int, in: T): Unit = {
    identity(slot)
    if (!sketched.passesOver(in)) {
      val filter = rows(slot)
      val start = sketched.hash(in, seed)
      val step = sketched.hash(in, start)
      var i = 1
      while (i <= hashes) {
        val hash = (start + i * step) >>> 1
        val bit = if (powerOfTwo) hash & (capacity - 1) else hash % capacity
        filter((bit >>> 6).toInt) |= 1L << bit
        i += 1
      }
    }
  }

  override def combine(dst: Int, left: Int, right: Int): Unit = {
    val union = rows(dst)
    val older = rows(left)
    val younger = rows(right)
    var i = 0
    while (i < union.length) {
      union(i) = older(i) | younger(i)
      i += 1
    }
  }

  override def lower(slot: Int): Filter = {
    val filter = rows(slot)
    val answer = empty.clone()
    var set = 0L
    var i = 0
    while (i < width) {
      answer(Header + i) = filter(i)
      set += java.lang.Long.bitCount(filter(i))
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

  def words(bits: Long): Int = ((bits + 63) / 64).toInt
}
