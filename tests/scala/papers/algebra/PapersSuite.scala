package io.sash.papers.algebra

import org.scalatest.funsuite.AnyFunSuite

import io.sash.papers.inorder.{SlickDequeInv, SlickDequeNonInv, TwoStacksLite}

/** The tables and worked examples of operations that the papers print. */
class PapersSuite extends AnyFunSuite {
  private val yes = true
  private val no = false

  // Reactive Aggregator, table 2: invertible, commutative
  private val table2 = Seq(
    ("Count", Count[String], yes, yes),
    ("Sum", Sum[Long], yes, yes),
    ("Max", Max[Long], no, yes),
    ("Min", Min[Long], no, yes),
    ("ArithmeticMean", ArithmeticMean[Long], yes, yes),
    ("MaxCount", MaxCount[Long], no, yes),
    ("MinCount", MinCount[Long], no, yes),
    ("ArgMax", ArgMax[Long, String], no, no),
    ("ArgMin", ArgMin[Long, String], no, no),
    ("Collect", Collect[String], yes, no)
  )

  table2.foreach { case (name, aggregation, invertible, commutative) =>
    test(s"$name is what table 2 of the Reactive Aggregator says") {
      assert(aggregation.isInstanceOf[InvertibleAggregation[_, _, _]] == invertible)
      assert(Commutative(aggregation) == commutative)
    }
  }

  test("over doubles table 2's inverses are not exact, and no type claims them") {
    assert((1e17 + 1.0) - 1e17 != 1.0)
    assert((Double.NaN + 1.0) - Double.NaN != 1.0)
    Seq(
      Sum[Double],
      ArithmeticMean[Double],
      GeometricMean,
      SampleStdDev,
      PopulationStdDev
    ).foreach { aggregation =>
      assert(Commutative(aggregation))
      assert(!aggregation.isInstanceOf[InvertibleAggregation[_, _, _]])
    }
  }

  test("a product of selectives may pick neither operand") {
    val both = Both(Max[Int], Min[Int])
    val (one, two) = (both.lift(1), both.lift(2))
    assert(!Seq(one, two).contains(both.combine(one, two)))
  }

  test("the query of the Reactive Aggregator's figure 1: mxl, num and who") {
    final case class Call(length: Double, caller: String)
    val calls = TwoStacksLite(
      Both(
        Both(Max[Double].on((c: Call) => c.length), MaxCount[Double].on((c: Call) => c.length)),
        ArgMax[Double, String].on((c: Call) => (c.length, c.caller))
      )
    )
    Seq(Call(9.0, "Ann"), Call(4.0, "Bo"), Call(6.0, "Cy"), Call(6.0, "Di")).foreach(calls.insert)
    assert(calls.query() == (((9.0, 1L), Some("Ann"))))
    calls.evict()
    assert(calls.query() == (((6.0, 2L), Some("Cy"))))
  }

  test("the maxcount trace of the DABA Lite paper's section 2.3") {
    val window = TwoStacksLite(Both(Max[Long], MaxCount[Long]))
    Seq(4L, 5L, 3L, 4L, 0L, 4L, 4L).foreach(window.insert)
    assert(window.query() == ((5L, 1L)))
    window.evict()
    assert(window.query() == ((5L, 1L)))
    window.evict()
    assert(window.query() == ((4L, 3L)))
    window.insert(2L)
    assert(window.query() == ((4L, 3L)))
    window.insert(6L)
    assert(window.query() == ((6L, 1L)))
  }

  test("the running example of AMTA's section 3.2: the maximum of what adds up to 10") {
    val window = TwoStacksLite(Both(Max[Int], Sum[Int]))
    Seq(2, 2, 3, 3).foreach(window.insert)
    assert(window.query() == ((3, 10)))
    window.insert(4)
    while (window.query()._2 > 10) window.evict()
    assert(window.size == 3 && window.query() == ((4, 10)))
  }

  test("the mean of AMTA's section 3.3: pairs of sum and count") {
    assert(ArithmeticMean[Long].lift(7L) == ((7L, 1L)))
    assert(ArithmeticMean[Long].combine((7L, 1L), (5L, 3L)) == ((12L, 4L)))
    assert(ArithmeticMean[Long].lower((12L, 4L)) == 3.0)
  }

  test("SlickDeque's range 3 of examples 2 and 3, by values") {
    val sums = SlickDequeInv(Sum[Int])
    val maxima = SlickDequeNonInv(Max[Int])
    val answers = Seq(6, 5, 0, 1, 3, 4, 2, 7).map { value =>
      if (sums.size == 3) {
        sums.evict()
        maxima.evict()
      }
      sums.insert(value)
      maxima.insert(value)
      (sums.query(), maxima.query())
    }
    assert(answers.map(_._1) == Seq(6, 11, 11, 6, 4, 8, 9, 13))
    assert(answers.map(_._2) == Seq(6, 6, 6, 5, 3, 4, 4, 7))
  }
}
