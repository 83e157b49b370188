package io.sash.papers.algebra

import scala.collection.mutable

import org.scalatest.funsuite.AnyFunSuite

import io.sash.papers.fat.{BaseIntervals, ReactiveAggregator}
import io.sash.papers.inorder.{SlickDequeInv, TwoStacksLite}
import io.sash.papers.mta.Amta
import io.sash.papers.policy.{CountPolicy, ValuesByPolicy}

/** The examples of the scaladoc, and a test that the scaladoc has no others. */
class ExamplesSuite extends AnyFunSuite {
  test("ArgMax") {
    assert(ArgMax[Double, String].aggregate((2.0, "Ann"), (5.0, "Bo"), (5.0, "Cy")) == Some("Bo"))
  }

  test("ArgMin") {
    assert(
      ArgMin[Double, String].aggregate((2.0, "Ann"), (2.0, "Bo"), (5.0, "Cy")) == Some("Ann")
    )
  }

  test("ArithmeticMean") {
    assert(ArithmeticMean[Double].aggregate(3.0, 1.0, 5.0) == 3.0)
  }

  test("BloomFilter") {
    assert(BloomFilter[Long](bits = 1024, hashes = 3).aggregate(3L, 1L).query(3L))
  }

  test("Both") {
    assert(Both(Max[Double], Min[Double]).aggregate(3.0, 1.0, 4.0) == ((4.0, 1.0)))
  }

  test("Collect") {
    assert(Collect[Int].aggregate(3, 1, 4) == Vector(3, 1, 4))
  }

  test("CollectDistinct") {
    assert(CollectDistinct[String].aggregate("a", "b", "a") == Set("a", "b"))
  }

  test("Concatenate") {
    assert(Concatenate.aggregate("sa", "sh") == "sash")
  }

  test("Count") {
    assert(Count[String].aggregate("a", "b", "a") == 3L)
  }

  test("CountMinSketch") {
    assert(
      CountMinSketch[String](width = 64, depth = 4).aggregate("a", "b", "a").estimate("a") >= 2L
    )
  }

  test("Fields") {
    assert(Fields(Max[Int], Min[Int])((max, min) => max - min).aggregate(3, 1, 4) == 3)
  }

  test("First") {
    assert(First[String].aggregate("b", "c", "a") == Some("b"))
  }

  test("GeometricMean") {
    assert(GeometricMean.aggregate(0.0, 1.0, 4.0) == 0.0)
  }

  test("HyperLogLog") {
    assert(HyperLogLog[String](lgK = 12).aggregate("a", "b", "a").round == 2L)
  }

  test("Last") {
    assert(Last[String].aggregate("b", "c", "a") == Some("a"))
  }

  test("LongestIncreasingRun") {
    assert(LongestIncreasingRun.aggregate(Point(1, 3.0), Point(4, 5.0)) == Some(Run(1, 4, 2)))
  }

  test("M4") {
    assert(
      M4.aggregate(Point(1, 3.0), Point(2, 1.0), Point(3, 4.0)).map(_.max) == Some(Point(3, 4.0))
    )
  }

  test("Max") {
    assert(Max[Double].aggregate(3.0, 1.0, 4.0) == 4.0)
    assert(Max.of[String].aggregate("b", "c", "a") == Some("c"))
  }

  test("MaxCount") {
    assert(MaxCount[Long].aggregate(4L, 5L, 3L, 5L, 0L) == 2L)
  }

  test("Min") {
    assert(Min[Double].aggregate(3.0, 1.0, 4.0) == 1.0)
    assert(Min.of[String].aggregate("b", "c", "a") == Some("a"))
  }

  test("MinCount") {
    assert(MinCount[Long].aggregate(4L, 0L, 3L, 5L, 0L) == 2L)
  }

  test("on and map") {
    assert(Max[Int].on((name: String) => name.length).aggregate("sash", "window") == 6)
    assert(Max[Double].map(celsius => celsius * 1.8 + 32.0).aggregate(15.0, 20.0) == 68.0)
  }

  test("OfFunctions") {
    assert(
      OfFunctions(0)((word: String) => word.length, Math.max, n => n).aggregate("a", "be") == 2
    )
  }

  test("Product") {
    assert(Product[Int].aggregate(3, 1, 4) == 12)
  }

  test("Range") {
    assert(Range.aggregate(3.0, 1.0, 4.0) == 3.0)
    assert(RelativeVariation.aggregate(3.0, 1.0, 4.0) == 0.75)
  }

  test("StdDev") {
    assert(SampleVariance.aggregate(1.0, 3.0, 5.0) == 4.0)
    assert(PopulationVariance.aggregate(1.0, 3.0, 1.0, 3.0) == 1.0)
    assert(SampleStdDev.aggregate(1.0, 3.0, 5.0) == 2.0)
    assert(PopulationStdDev.aggregate(1.0, 3.0, 1.0, 3.0) == 1.0)
    assert(CoefficientOfVariation.aggregate(2.0, 4.0, 6.0) == 0.5)
  }

  test("Sum") {
    assert(Sum[Long].aggregate(3L, 1L, 4L) == 8L)
    assert(Sum[Float].aggregate(1e8f, 1f, 1f) == 100000002.0)
    assert(
      Sum[BigDecimal].aggregate(BigDecimal("0.1"), BigDecimal("0.2")) == BigDecimal("0.3")
    )
  }

  test("Snapshot") {
    val window = SlickDequeInv(Sum[Long])
    Seq(3L, 1L, 4L).foreach(window.insert)
    val again = TwoStacksLite(Sum[Long])
    Snapshot.restore(again, Snapshot.of(window))
    assert(again.query() == 8L)
  }

  test("BulkEviction, PolicyEviction, Removing") {
    val window = Amta(Sum[Long])
    (1L to 10L).foreach(window.insert)
    window.algorithm.evict(8)
    assert(window.query() == 19L)
    val sums = Amta(Sum[Long])
    (1L to 10L).foreach(sums.insert)
    sums.algorithm.evict((all, oldest) => sums.answer(all) - sums.answer(oldest) >= 19L)
    assert(sums.query() == 19L)
    val letters = ReactiveAggregator(Concatenate)
    Seq("a", "b", "c").foreach(letters.insert)
    letters.algorithm.remove(1L)
    assert(letters.query() == "ac")
  }

  test("ValuesByPolicy") {
    val pairs = mutable.Buffer.empty[Long]
    val policy = new CountPolicy(size = 2, slide = 2)
    val slides = new ValuesByPolicy(TwoStacksLite(Sum[Long]), policy, (sum: Long) => pairs += sum)
    Seq(3L, 1L, 4L, 1L).foreach(slides.insert(0L, _))
    assert(pairs == Seq(4L, 5L))
  }

  test("Window") {
    val window = BaseIntervals(Sum[Long])
    Seq(3L, 1L, 4L, 1L).foreach(window.insert)
    assert(window.answer(window.algorithm.range(1, 3)) == 5L)
  }

  test("the scaladoc has no other example") {
    def dense(text: String): String = text.filterNot(_.isWhitespace)
    val asserted = dense(Sources.lines("tests/scala/papers/algebra/ExamplesSuite.scala").mkString)
    val others = Seq(
      "scala/core/algebra/Aggregation.scala",
      "scala/papers/elements/Abilities.scala",
      "scala/papers/policy/ValuesByPolicy.scala"
    )
    val documented = for {
      file <- others ++ Sources.files("scala/papers/algebra")
      block <- Sources.blocks(Sources.lines(file), "* {{{", "* }}}")
      line <- block
    } yield line.trim.stripPrefix("* ")
    assert(documented.length == 62)
    documented.foreach { line =>
      val code = if (line.contains("==")) s"assert($line)" else line
      assert(asserted.contains(dense(code)), line)
    }
  }
}
