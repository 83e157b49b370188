package io.sash.papers.algebra

import org.apache.datasketches.filters.bloomfilter.BloomFilterBuilder
import org.apache.datasketches.hll.HllSketch
import org.scalacheck.Gen
import org.scalacheck.Prop.{forAll, propBoolean}

import io.sash.core.Laws
import io.sash.papers.inorder.{SlickDequeInv, TwoStacksLite}

/** The sketches keep their promises and equal the sketches of DataSketches. */
class SketchesSuite extends Laws {
  private val streams = Gen.listOfN(300, Gen.choose(0L, 60L))

  law("a Bloom filter has every value of the window, and few others", runs = 20) {
    forAll(streams) { stream =>
      val window = TwoStacksLite(BloomFilter[Long](bits = 1024, hashes = 5))
      stream.zipWithIndex.forall { case (value, i) =>
        if (window.size == 20) window.evict()
        window.insert(value)
        val filter = window.query()
        val present = stream.slice(math.max(0, i - 19), i + 1)
        present.forall(filter.query) && (1000L until 2000L).count(filter.query) < 20
      }
    }
  }

  for (bits <- Seq(64L, 100L, 1000L, 1024L))
    test(s"a window's Bloom filter is the one that DataSketches makes, of $bits bits") {
      val window = TwoStacksLite(BloomFilter[String](bits, hashes = 3, seed = 7L))
      val filter = BloomFilterBuilder.createBySize(bits, 3, 7L)
      (0 until 40).map(_.toString).foreach { value =>
        window.insert(value)
        filter.update(value)
      }
      assert(Alike(window.query(), filter))
      assert(window.query().getBitsUsed == filter.getBitsUsed)
    }

  test("a Bloom filter that was answered stays as it was, and its owner may change it") {
    val window = TwoStacksLite(BloomFilter[Long](bits = 128, hashes = 2))
    window.insert(1L)
    val filter = window.query()
    filter.update(2L)
    assert(!window.query().query(2L))
    window.evict()
    assert(filter.query(1L) && !window.query().query(1L) && window.query().isEmpty)
    val shared = BloomFilter[Long](bits = 128, hashes = 2)
    val partial = shared.lift(1L)
    shared.lower(partial).update(2L)
    assert(!partial.query(2L))
  }

  law("a count-min sketch never says less, and seldom much more, than the truth", runs = 20) {
    forAll(streams) { stream =>
      val (width, depth) = (128, 5)
      val window = SlickDequeInv(CountMinSketch[Long](width, depth))
      stream.zipWithIndex.forall { case (value, i) =>
        if (window.size == 100) window.evict()
        window.insert(value)
        val present = stream.slice(math.max(0, i - 99), i + 1)
        val answer = window.query()
        val excess = (0L to 60L).map(v => answer.estimate(v) - present.count(_ == v))
        val bound = Math.E * present.length / width
        excess.forall(_ >= 0) && excess.count(_ > bound) <= 3
      }
    }
  }

  test("sizes that no sketch has are refused before there is a window") {
    Seq[() => Any](
      () => CountMinSketch[Long](width = 0, depth = 3),
      () => CountMinSketch[Long](width = 1 << 30, depth = 4),
      () => BloomFilter[Long](bits = 0, hashes = 3),
      () => BloomFilter[Long](bits = Long.MaxValue, hashes = 3),
      () => BloomFilter[Long](bits = 64, hashes = 0),
      () => HyperLogLog[Long](lgK = 3),
      () => HyperLogLog[Long](lgK = 22)
    ).foreach(make => assertThrows[IllegalArgumentException](make()))
  }

  test("all NaNs are one value, and so are zeros to HyperLogLog alone") {
    val nan = java.lang.Double.longBitsToDouble(0xfff8000000000001L)
    val counts = CountMinSketch[Double](width = 1024, depth = 5).aggregate(0.0, nan)
    assert(counts.estimate(Double.NaN) == 1 && counts.estimate(-0.0) == 0)
    val filter = BloomFilter[Double](bits = 4096, hashes = 5).aggregate(0.0, nan)
    assert(filter.query(Double.NaN) && !filter.query(-0.0))
    assert(HyperLogLog[Double]().aggregate(Double.NaN, nan, 0.0, -0.0).round == 2L)
  }

  test("HyperLogLog tells distinct values within its error, window after window") {
    val window = TwoStacksLite(HyperLogLog[Long](lgK = 10))
    val error = 4 * 1.04 / Math.sqrt(1024.0)
    (0 until 12000).foreach { i =>
      if (window.size == 4000) window.evict()
      window.insert(i / 2L)
      if (i % 1000 == 999) {
        val distinct = math.min(i + 1, 4000) / 2
        val estimate = window.query()
        assert(Math.abs(estimate - distinct) <= error * distinct, s"$estimate, not $distinct")
      }
    }
  }

  test("HyperLogLog is the one that DataSketches makes of the same values") {
    val values = (0 until 500).map(i => (i % 200).toString)
    val sketch = new HllSketch(8)
    values.foreach(v => sketch.update(v))
    val window = TwoStacksLite(HyperLogLog[String](lgK = 8))
    values.foreach(window.insert)
    assert(window.query() == sketch.getCompositeEstimate)
  }

  law("what DataSketches passes over is passed over", runs = 5) {
    forAll(Gen.oneOf("", null)) { nothing =>
      val distinct = HyperLogLog[String]().aggregate(nothing, "a", nothing)
      val filter = BloomFilter[String](bits = 64, hashes = 2).aggregate(nothing)
      val window = TwoStacksLite(BloomFilter[String](bits = 64, hashes = 2))
      window.insert(nothing)
      val counts = CountMinSketch[String](width = 16, depth = 2).aggregate(nothing, "a")
      (distinct.round == 1L && filter.isEmpty && window.query().isEmpty &&
        counts.estimate(nothing) == 0 && counts.estimate("a") == 1) :| s"$distinct"
    }
  }
}
