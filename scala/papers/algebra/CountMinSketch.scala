package io.sash.papers.algebra

import scala.collection.immutable.ArraySeq

import io.sash.core.slots.Invertible

/**
 * How often each value occurs in the window, or somewhat more often. The sketch has `depth` rows
 * of `width` counters, and a value increases one counter in each row. With probability 1 -
 * e^-depth^ an estimate exceeds the truth by at most e · n / width.
 *
 * Types: T, the counters, [[Frequencies]]. Identity: zeros. Associative and commutative. It is
 * also invertible, since counters only add up, though the paper does not use it. Cost: width ·
 * depth additions. A null and an empty string are passed over.
 * {{{
 * CountMinSketch[String](width = 64, depth = 4).aggregate("a", "b", "a").estimate("a") >= 2L
 * }}}
 * Apache DataSketches hashes the values. Its own count-min sketch comes with a version that Spark
 * does not ship and that Java 17 does not run.
 *
 * Paper: ''In-Order Sliding-Window Aggregation in Worst-Case Constant Time'', table 1; Cormode
 * and Muthukrishnan, ''An Improved Data Stream Summary: The Count-Min Sketch'', 2005.
 */
final class CountMinSketch[T] private (width: Int, depth: Int, seed: Long)(implicit
    sketched: Sketched[T]
) extends InvertibleAggregation[T, ArraySeq[Long], Frequencies[T]]
    with Commutative {

  override def identity: ArraySeq[Long] = ArraySeq.fill(width * depth)(0L)

  override def lift(in: T): ArraySeq[Long] = {
    val counters = new Array[Long](width * depth)
    add(counters, in)
    ArraySeq.unsafeWrapArray(counters)
  }

  override def combine(older: ArraySeq[Long], younger: ArraySeq[Long]): ArraySeq[Long] =
    older.lazyZip(younger).map(_ + _)

  override def subtract(whole: ArraySeq[Long], oldest: ArraySeq[Long]): ArraySeq[Long] =
    whole.lazyZip(oldest).map(_ - _)

  override def lower(agg: ArraySeq[Long]): Frequencies[T] = new Frequencies(agg, this)

  override def newColumn(): Column[T, Frequencies[T]] with Invertible =
    new CountersColumn(width * depth, this)

  private[algebra] def add(counters: Array[Long], in: T): Unit = if (!sketched.passesOver(in)) {
    var row = 0
    while (row < depth) {
      counters(counter(row, in)) += 1L
      row += 1
    }
  }

  private[algebra] def least(counters: ArraySeq[Long], value: T): Long =
    if (sketched.passesOver(value)) 0L
    else (0 until depth).map(row => counters(counter(row, value))).min

  private def counter(row: Int, value: T): Int =
    row * width + Math.floorMod(sketched.hash(value, seed + row), width)
}

object CountMinSketch {
  val DefaultSeed: Long = 9001L

  def apply[T: Sketched](
      width: Int,
      depth: Int,
      seed: Long = DefaultSeed
  ): CountMinSketch[T] = {
    require(width > 0 && depth > 0, s"a sketch of $depth rows of $width counters counts nothing")
    require(width.toLong * depth <= Int.MaxValue, s"$depth rows of $width counters are too many")
    new CountMinSketch[T](width, depth, seed)
  }
}

/** The answer of a [[CountMinSketch]]. */
final class Frequencies[T] private[algebra] (
    private[algebra] val counters: ArraySeq[Long],
    sketch: CountMinSketch[T]
) {

  /** An estimate of how often `value` is in the window, never too low. */
  def estimate(value: T): Long = sketch.least(counters, value)
}

private final class CountersColumn[T](width: Int, sketch: CountMinSketch[T])
    extends LongRows(width)
    with Column[T, Frequencies[T]]
    with Invertible {
  override def lift(slot: Int, in: T): Unit = {
    identity(slot)
    sketch.add(rows(slot), in)
  }

  override def combine(dst: Int, left: Int, right: Int): Unit = add(dst, left, 1L, right)

  override def subtract(dst: Int, whole: Int, oldest: Int): Unit = add(dst, whole, -1L, oldest)

  override def lower(slot: Int): Frequencies[T] =
    sketch.lower(ArraySeq.unsafeWrapArray(rows(slot).clone()))
}
