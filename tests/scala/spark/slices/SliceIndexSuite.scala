package io.sash.spark.slices

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import org.scalatest.funsuite.AnyFunSuite

/**
 * The index against its definition: a slice is held if a range holds its times, and no range
 * holds some of its times alone.
 */
final class SliceIndexSuite extends AnyFunSuite {
  private type Range = (Any, java.lang.Long, java.lang.Long)

  private def built(keys: Seq[DataType], rows: Seq[InternalRow], limit: Long = 1 << 20) = {
    val Array(table, starts, ofKeys) =
      new SliceIndexBuilder(keys, limit).build(rows.iterator).map(_.asInstanceOf[UnsafeRow])
    new SliceIndex(table, starts, ofKeys)
  }

  private def row(range: Range): InternalRow = InternalRow(range._1, range._2, range._3, true)

  private def check(keys: Seq[DataType], ranges: Seq[Range], times: Seq[Long])(
      entryOf: (SliceIndex, Any) => Int
  ): Unit = {
    val index = built(keys, ranges.map(row))
    assert(index.isComplete && index.labels == ranges.length)
    val absent = if (keys == Seq(LongType)) 77L else UTF8String.fromString("absent")
    for (key <- ranges.map(_._1).distinct :+ absent) {
      val entry = entryOf(index, key)
      val ofKey = ranges.filter(_._1 == key).collect {
        case (_, from, until) if from != null && until != null =>
          (from.longValue, until.longValue)
      }
      def holding(time: Long) =
        ofKey.indices.filter(i => ofKey(i)._1 <= time && time <= ofKey(i)._2)
      val found = times.map { t =>
        val slice = if (entry < 0) -1 else index.sliceOf(entry, t)
        val isHeld = slice >= 0 && index.isHeld(slice)
        assert(isHeld == holding(t).nonEmpty, s"$t of $key in $ofKey")
        (slice, holding(t))
      }
      for ((slice, alike) <- found.filter(_._2.nonEmpty).groupBy(_._1))
        assert(alike.map(_._2).distinct.length == 1, s"slice $slice of $key in $ofKey")
      // no more slices than ends
      val ends = ofKey.filter { case (a, b) => a <= b }.flatMap { case (a, b) =>
        a +: Option.when(b != Long.MaxValue)(b + 1).toSeq
      }
      assert(found.map(_._1).filter(_ >= 0).distinct.length <= ends.distinct.length)
    }
  }

  for (seed <- 1 to 40) test(s"ranges at random, seed $seed") {
    val random = new Random(seed)
    val wide = seed % 4 == 0
    def time: java.lang.Long = random.nextInt(12) match {
      case 0         => null
      case 1 if wide => Long.MinValue
      case 2 if wide => Long.MaxValue
      case _         => random.nextInt(20).toLong - 5
    }
    def ranges(key: => Any): Seq[Range] =
      Seq.fill(random.nextInt(25))((key, time, time))
    val times = (-8L to 18L) ++ Seq(Long.MinValue, Long.MaxValue, Long.MaxValue - 1)
    check(
      Seq(LongType),
      ranges(if (random.nextInt(5) == 0) null else random.nextInt(4).toLong),
      times
    ) { (index, key) =>
      if (key == null) index.entryOfNull else index.entryOf(key.asInstanceOf[Long])
    }
    val texts = Seq("", "a", "longer than eight bytes").map(UTF8String.fromString) :+ null
    val project = UnsafeProjection.create(Array[DataType](StringType))
    check(Seq(StringType), ranges(texts(random.nextInt(4))), times) { (index, key) =>
      index.entryOf(project(InternalRow(key)))
    }
  }

  test("keys of numbers that are far apart, and the key of an entry") {
    val random = new Random(1)
    val keys = Seq.fill(3000)(random.nextLong()).distinct
    val index = built(
      Seq(LongType),
      (keys.map(k => (k, 1L, 2L)) :+ ((null, 1L, 2L))).map { case (k, a, b) =>
        InternalRow(k, a, b, true)
      }
    )
    for (k <- keys) {
      val entry = index.entryOf(k)
      assert(index.numberOf(entry) == k && !index.isOfNull(entry))
    }
    assert(index.isOfNull(index.entryOfNull))
    assert(
      Seq.fill(1000)(random.nextLong()).filterNot(keys.contains).forall(index.entryOf(_) < 0)
    )
  }

  test("an index beyond its limit, or over an end that wrapped around, is not complete") {
    val rows = (1L to 100L).map(k => InternalRow(k, k, k + 1, true))
    val size = 16 + (256 + 1) * 16 + 200 * 8 + 25
    assert(built(Seq(LongType), rows, size + 100).isComplete)
    assert(!built(Seq(LongType), rows, 16 * 100).isComplete)
    assert(!built(Seq(LongType), rows :+ InternalRow(1L, 1L, 2L, false)).isComplete)
    assert(built(Seq(LongType), rows :+ InternalRow(1L, 1L, 2L, null)).isComplete)
  }
}
