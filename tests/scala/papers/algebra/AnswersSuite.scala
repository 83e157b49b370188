package io.sash.papers.algebra

import org.scalacheck.Gen
import org.scalacheck.Prop.{forAll, propBoolean}

import io.sash.core.Laws

/** Answers against their definitions, at the edges of the types, and for no values at all. */
class AnswersSuite extends Laws {
  private val nan = Double.NaN
  private val inf = Double.PositiveInfinity

  private def same(actual: Double, expected: Double) =
    assert(java.lang.Double.compare(actual, expected) == 0, s"$actual, not $expected")

  test("no values") {
    assert(Count[String].aggregate() == 0L)
    assert(Sum[Int].aggregate() == 0 && Sum[Long].aggregate() == 0L)
    same(Sum[Double].aggregate(), 0.0)
    same(Product[Double].aggregate(), 1.0)
    same(Max[Double].aggregate(), -inf)
    same(Min[Double].aggregate(), inf)
    assert(Max[Long].aggregate() == Long.MinValue && Min[Int].aggregate() == Int.MaxValue)
    assert(Max.of[String].aggregate().isEmpty && Min.of[String].aggregate().isEmpty)
    assert(MaxCount[Double].aggregate() == 0L && MinCount[String].aggregate() == 0L)
    assert(First[Int].aggregate().isEmpty && Last[Int].aggregate().isEmpty)
    assert(ArgMax[Double, Int].aggregate().isEmpty && ArgMin[Double, Int].aggregate().isEmpty)
    assert(M4.aggregate().isEmpty && LongestIncreasingRun.aggregate().isEmpty)
    assert(Collect[Int].aggregate().isEmpty && CollectDistinct[Int].aggregate().isEmpty)
    Seq(
      ArithmeticMean[Double],
      GeometricMean,
      SampleVariance,
      PopulationVariance,
      SampleStdDev,
      PopulationStdDev,
      CoefficientOfVariation,
      Range,
      RelativeVariation
    ).foreach(a => same(a.aggregate(), nan))
    same(ArithmeticMean[Long].aggregate(), nan)
  }

  test("a single value has no sample deviation, and a population's of 0") {
    same(SampleVariance.aggregate(3.0), nan)
    same(SampleStdDev.aggregate(3.0), nan)
    same(CoefficientOfVariation.aggregate(3.0), nan)
    same(PopulationVariance.aggregate(3.0), 0.0)
    same(PopulationStdDev.aggregate(3.0), 0.0)
  }

  test("a NaN shows in every answer over doubles, wherever it stands") {
    for {
      aggregation <- Seq(
        Sum[Double],
        Product[Double],
        Max[Double],
        Min[Double],
        ArithmeticMean[Double],
        GeometricMean,
        SampleStdDev,
        PopulationVariance,
        CoefficientOfVariation,
        Range,
        RelativeVariation
      )
      values <- Seq(1.0, 2.0, nan).permutations
    } same(aggregation.aggregate(values: _*), nan)
    assert(MaxCount[Double].aggregate(nan, inf, nan) == 2L)
    assert(MinCount[Double].aggregate(-inf, nan, nan) == 2L)
    assert(ArgMax[Double, Int].aggregate((inf, 1), (nan, 2), (nan, 3)).contains(2))
    assert(ArgMin[Double, Int].aggregate((-inf, 1), (nan, 2), (nan, 3)).contains(2))
    val m4 = M4.aggregate(Point(1, -inf), Point(2, nan), Point(3, inf)).get
    assert(m4.min.time == 2 && m4.max.time == 2 && m4.first.time == 1 && m4.last.time == 3)
    assert(CollectDistinct[Double].aggregate(nan, nan).size == 2)
  }

  test("-0.0 is less than 0.0") {
    Seq(Seq(0.0, -0.0), Seq(-0.0, 0.0)).foreach { zeros =>
      same(Max[Double].aggregate(zeros: _*), 0.0)
      same(Min[Double].aggregate(zeros: _*), -0.0)
      assert(MaxCount[Double].aggregate(zeros: _*) == 1L)
      assert(MinCount[Double].aggregate(zeros: _*) == 1L)
    }
  }

  test("infinities") {
    same(Sum[Double].aggregate(inf, 1.0, -inf), nan)
    same(Range.aggregate(inf, 1.0), inf)
    Seq(Seq(inf, 1.0, 2.0), Seq(1.0, inf, 2.0), Seq(1.0, 2.0, -inf)).foreach { values =>
      same(SampleStdDev.aggregate(values: _*), nan)
      same(PopulationVariance.aggregate(values: _*), nan)
    }
  }

  test("integers wrap around, and the inverse is exact even then") {
    assert(Sum[Int].aggregate(Int.MaxValue, 1) == Int.MinValue)
    assert(Sum[Long].subtract(Sum[Long].aggregate(Long.MaxValue, 2L), Long.MaxValue) == 2L)
    assert(Product[Long].aggregate(1L << 32, 1L << 32) == 0L)
    same(ArithmeticMean[Long].aggregate(Long.MaxValue, 1L), Long.MinValue / 2.0)
  }

  test("the geometric mean leaves no double's range, as the product of table 1 would") {
    val large = Seq.fill(1000)(1e10)
    assert(Product[Double].aggregate(large: _*) == inf)
    assert(Alike(GeometricMean.aggregate(large: _*) / 1e10, 1.0))
    same(GeometricMean.aggregate(4.0, 0.0), 0.0)
    same(GeometricMean.aggregate(4.0, -1.0), nan)
  }

  test("the deviation has its digits where the sum of squares of table 1 has none") {
    val values = Seq(4.0, 7.0, 13.0, 16.0).map(_ + 1e9)
    val (n, sum, squares) = (values.length, values.sum, values.map(v => v * v).sum)
    assert(Math.abs((squares - sum * sum / n) / (n - 1) - 30.0) > 1.0, "table 1's formula")
    assert(SampleVariance.aggregate(values: _*) == 30.0)
  }

  law("the deviation of a constant is exactly 0, however the window is divided") {
    forAll(Gen.choose(-1e12, 1e12), Gen.choose(1, 50), Gen.choose(1, 50)) { (value, n, m) =>
      def part(length: Int) = Seq.fill(length)(Moments(1L, value, 0.0)).reduce(_ merge _)
      val whole = part(n).merge(part(m))
      (whole == Moments((n + m).toLong, value, 0.0)) :| s"$whole"
    }
  }

  law("variances agree with the two-pass definition") {
    forAll(Gen.nonEmptyListOf(Gen.choose(-1e6, 1e6))) { values =>
      val mean = values.sum / values.length
      val squares = values.map(v => (v - mean) * (v - mean)).sum
      val population = PopulationVariance.aggregate(values: _*)
      val sample = SampleVariance.aggregate(values: _*)
      Alike(population, squares / values.length) &&
      (values.length < 2 || Alike(sample, squares / (values.length - 1))) &&
      Alike(SampleStdDev.aggregate(values: _*), Math.sqrt(sample)) &&
      Alike(PopulationStdDev.aggregate(values: _*), Math.sqrt(population))
    }
  }

  law("the longest increasing run agrees with its definition") {
    forAll(Gen.listOf(Gen.choose(0, 6))) { values =>
      val points = values.zipWithIndex.map { case (v, t) => Point(t.toLong, v.toDouble) }
      val runs = for {
        start <- points.indices
        end <- start until points.length
        if (start until end).forall(i => points(i).value < points(i + 1).value)
      } yield Run(start.toLong, end.toLong, end - start + 1L)
      // maxBy takes the first of several
      LongestIncreasingRun.aggregate(points: _*) == runs.maxByOption(_.length)
    }
  }

  test("a run knows its interval") {
    assert(Run(start = 10, end = 25, length = 3).interval == 15)
  }

  test("ArgMax and ArgMin take the first in arrival order of several") {
    val calls = Seq((2, "Ann"), (5, "Bo"), (2, "Cy"), (5, "Di"))
    assert(ArgMax[Int, String].aggregate(calls: _*).contains("Bo"))
    assert(ArgMin[Int, String].aggregate(calls: _*).contains("Ann"))
  }

  test("nulls: elements to some, refused by others") {
    assert(First[String].aggregate(null, "a").contains(null))
    assert(Last[String].aggregate("a", null).contains(null))
    assert(Collect[String].aggregate("a", null) == Vector("a", null))
    assert(CollectDistinct[String].aggregate(null, null) == Set(null))
    assert(Count[String].aggregate(null, "a") == 2L)
    assert(ArgMax[Int, String].aggregate((1, null)).contains(null))
    assertThrows[NullPointerException](Concatenate.aggregate("a", null))
  }
}
