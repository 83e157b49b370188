package io.sash.spark.multisets

import scala.collection.mutable
import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

/** Multisets of rows as bytes, against maps. */
class RowMultisetSuite extends AnyFunSuite {
  private val toRow = UnsafeProjection.create(Array[DataType](LongType, StringType))

  private type Model = Map[(Long, String), Long]

  private def row(of: (Long, String)): UnsafeRow =
    toRow(InternalRow(of._1, UTF8String.fromString(of._2)))

  private def bytes(of: Iterable[((Long, String), Long)]): Array[Byte] = {
    val counted = new RowMultiset
    of.foreach { case (value, times) => counted.add(row(value), times) }
    counted.toBytes
  }

  private def read(bytes: Array[Byte]): Model = {
    val found = mutable.HashMap.empty[(Long, String), Long]
    RowMultiset.foreach(bytes, width = 2) { (row, times) =>
      val before = found.put((row.getLong(0), row.getUTF8String(1).toString), times)
      assert(before.isEmpty, "a row is there twice")
    }
    found.toMap
  }

  private def sum(a: Model, b: Model): Model =
    (a.keySet ++ b.keySet).map(k => k -> (a.getOrElse(k, 0L) + b.getOrElse(k, 0L))).toMap

  private def random(rng: Random): Model =
    Seq
      .fill(rng.nextInt(12))(
        (rng.nextInt(5) - 2L, "ab" * rng.nextInt(6)) -> (1L + rng.nextInt(200))
      )
      .toMap

  test("a union is the sum of the counts, in any order and grouping") {
    val seed = 5L
    val rng = new Random(seed)
    for (i <- 1 to 300) withClue(s"seed $seed, round $i") {
      val (a, b, c) = (random(rng), random(rng), random(rng))
      val (x, y, z) = (bytes(a), bytes(b), bytes(c))
      val all = RowMultiset.union(RowMultiset.union(x, y), z)
      assert(read(all) == sum(sum(a, b), c))
      assert(all sameElements RowMultiset.union(z, RowMultiset.union(y, x)))
      assert(all sameElements bytes(sum(sum(a, b), c)))
    }
  }

  test("a row is added as often as it comes, and one row is a multiset") {
    assert(read(bytes(Seq((1L, "a") -> 2L, (1L, "a") -> 3L))) == Map((1L, "a") -> 5L))
    assert(RowMultiset.one(row((1L, "a"))) sameElements bytes(Seq((1L, "a") -> 1L)))
    assert(bytes(Nil) sameElements RowMultiset.Empty)
  }
}
