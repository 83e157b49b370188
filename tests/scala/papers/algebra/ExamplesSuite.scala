package io.sash.papers.algebra

import org.scalatest.funsuite.AnyFunSuite

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

  test("On") {
    assert(On(Max[Int])((name: String) => name.length).aggregate("sash", "window") == 6)
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
  }

  test("the scaladoc has no other example") {
    def dense(text: String): String = text.filterNot(_.isWhitespace)
    val asserted = dense(Sources.lines("tests/scala/papers/algebra/ExamplesSuite.scala").mkString)
    val documented = for {
      file <- Sources.files("scala/papers/algebra")
      block <- Sources.blocks(Sources.lines(file), "* {{{", "* }}}")
      line <- block
    } yield line.trim.stripPrefix("* ")
    assert(documented.length == 32)
    documented.foreach(example => assert(asserted.contains(dense(s"assert($example)"))))
  }
}
