package io.sash.papers.algebra

import org.scalacheck.Prop.{forAll, propBoolean}

import io.sash.core.{Laws, Schedule}
import io.sash.core.algebra.Aggregation
import io.sash.core.inorder.InOrderWindow
import io.sash.core.slots.Partials
import io.sash.papers.fat.{BaseIntervals, ReactiveAggregator}
import io.sash.papers.inorder.{
  Daba,
  DabaLite,
  FlatFit,
  Recalculate,
  SlickDequeInv,
  SlickDequeNonInv,
  TwoStacks,
  TwoStacksLite
}
import io.sash.papers.mta.{Amta, LogMta}

/** `TwoStacksLite(Max[Double])`: every algorithm over values equals Recalculate over values. */
class FacadeSuite extends Laws {

  /** The algorithms that take an aggregation of this type. */
  private def windows[In, Agg, Out](
      a: Aggregation[In, Agg, Out]
  ): Seq[(String, () => Window[In, Out, InOrderWindow])] = {
    val any = Seq(
      ("Two-Stacks", () => TwoStacks(a)),
      ("Two-Stacks Lite", () => TwoStacksLite(a)),
      ("DABA", () => Daba(a)),
      ("DABA Lite", () => DabaLite(a)),
      ("DABA in chunks", () => chunked(a, new Daba(_))),
      ("DABA Lite in chunks", () => chunked(a, new DabaLite(_))),
      ("Two-Stacks in chunks", () => chunked(a, new TwoStacks(_))),
      ("FlatFIT", () => FlatFit(a)),
      ("Reactive Aggregator", () => ReactiveAggregator(a)),
      ("B-Int", () => BaseIntervals(a)),
      ("Log MTA", () => LogMta(a)),
      ("AMTA", () => Amta(a))
    )
    val one = a match {
      case i: InvertibleAggregation[In, Agg, Out] =>
        Seq(("SlickDeque (Inv)", () => SlickDequeInv(i)))
      case s: SelectiveAggregation[In, Agg, Out] =>
        Seq(("SlickDeque (Non-Inv)", () => SlickDequeNonInv(s)))
      case _ => Nil
    }
    any ++ one
  }

  /** Over chunks so small that a schedule runs through many of them. */
  private def chunked[In, Out](
      a: Aggregation[In, _, Out],
      make: Partials => InOrderWindow
  ): Window[In, Out, InOrderWindow] = {
    val column = Column.inChunks(a, logSize = 3)
    column.over(make(column))
  }

  Case.All.foreach(c => equalsRecalculate(c))

  private def equalsRecalculate[In, Agg, Out](c: Case[In, Agg, Out]): Unit =
    windows(c.aggregation).foreach { case (algorithm, window) =>
      law(s"$algorithm of $c equals Recalculate", runs = 20) {
        forAll(Schedule.random) { schedule =>
          val actual = ByValue.run(window(), schedule, c.input)
          val expected = ByValue.run(Recalculate(c.aggregation), schedule, c.input)
          val differs = actual.lazyZip(expected).find { case (a, e) => !Alike(a, e) }
          differs.isEmpty :| differs.fold("")(d => s"${d._1}, not ${d._2}")
        }
      }
    }

  test("a chunk that was closed has left its place, and is another's when it is used again") {
    val column = Column.inChunks(Sum[Long], logSize = 3)
    column.openChunk(8)
    val closed = column.chunk(8)
    column.closeChunk(8)
    assert(column.chunk(8) == null)
    column.openChunk(16)
    column.openChunk(24)
    assert((column.chunk(16) eq closed) && (column.chunk(24) ne closed))
  }

  test("Recalculate equals the definition") {
    val window = Recalculate(Collect[Int])
    val answers = (1 to 40).map { i =>
      if (i > 7) window.evict()
      window.insert(i)
      window.query()
    }
    assert(answers == (1 to 40).map(i => Vector.range(math.max(1, i - 6), i + 1)))
  }

  test("an algorithm refuses an aggregation that cannot do what it needs") {
    assertCompiles("SlickDequeInv(Sum[Long])")
    assertCompiles("SlickDequeInv(ArithmeticMean[Long])")
    assertCompiles("SlickDequeInv(Both(Sum[Long], Count[Long]))")
    assertTypeError("SlickDequeInv(Sum[Double])")
    assertTypeError("SlickDequeInv(ArithmeticMean[Double])")
    assertTypeError("SlickDequeInv(GeometricMean)")
    assertTypeError("SlickDequeInv(SampleStdDev)")
    assertTypeError("SlickDequeInv(Max[Long])")
    assertTypeError("SlickDequeInv(Both(Sum[Long], Max[Long]))")
    assertCompiles("SlickDequeNonInv(Max[Double])")
    assertCompiles("SlickDequeNonInv(ArgMin[Double, String])")
    assertCompiles("SlickDequeNonInv(First[String])")
    assertTypeError("SlickDequeNonInv(Sum[Long])")
    assertTypeError("SlickDequeNonInv(Range)")
    assertTypeError("SlickDequeNonInv(Both(Max[Long], Max[Long]))")
    assertTypeError("SlickDequeNonInv(MaxCount[Long])")
  }

  test("what is made of operations commutes if these do") {
    assert(Commutative(Sum[Double]) && Commutative(ArithmeticMean[Long]))
    assert(Commutative(Both(Max[Double], Sum[Double])))
    assert(Commutative(Max[Double].on((s: String) => s.length.toDouble).map(_ + 1)))
    assert(Commutative(Sum[Float]) && Commutative(Sum[BigDecimal]))
    assert(!Commutative(ArgMax[Double, String]) && !Commutative(Collect[String]))
    assert(!Commutative(Both(Max[Double], First[Double])))
    assert(!Commutative(First[Double].on((s: String) => s.length.toDouble)))
    assert(!Commutative(OfFunctions("")((s: String) => s, (a, b) => a + b, s => s)))
  }

  test("the product of invertibles is invertible, whether or not it commutes") {
    assertCompiles("SlickDequeInv(Both(Collect[Long], Sum[Long]))")
    assertCompiles("SlickDequeInv(Fields(Collect[Long], Sum[Long])((all, sum) => all -> sum))")
    assertTypeError("SlickDequeInv(Fields(Max[Long], Sum[Long])((max, sum) => max -> sum))")
    assert(!Commutative(Both(Collect[Long], Sum[Long])))
  }

  test("a part of the input, or a map of the answer, keeps an operation's laws") {
    assertCompiles("SlickDequeInv(Collect[Int].on((s: String) => s.length))")
    assertCompiles("SlickDequeInv(Collect[Int].map(_.length))")
    assertCompiles("SlickDequeNonInv(First[Int].on((s: String) => s.length))")
    assertCompiles("SlickDequeNonInv(Max[Int].map(_ + 1).on((s: String) => s.length))")
    assertTypeError("SlickDequeInv(Sum[Double].on((s: String) => s.length.toDouble))")
    assertTypeError("SlickDequeInv(Sum[Double].map(_ + 1))")
    assertTypeError("SlickDequeInv(Sum[Float])")
    assertCompiles("SlickDequeInv(Sum[BigDecimal])")
    assertTypeError("SlickDequeInv(OfFunctions(0)((i: Int) => i, (a, b) => a + b, n => n))")
    assertCompiles(
      "SlickDequeInv(OfFunctions.invertible(0)((i: Int) => i, (a, b) => a + b, " +
        "(whole, oldest) => whole - oldest, n => n))"
    )
  }

  test("a number type that an operation is not for is refused") {
    assertTypeError("Sum[String]")
    assertTypeError("Max[String]")
    assertTypeError("ArithmeticMean[BigInt]")
    assertTypeError("BloomFilter[Thread](bits = 64, hashes = 1)")
    assertTypeError("ArgMax[Thread, String]")
  }

  test("evicting from an empty window fails and changes nothing") {
    val window = SlickDequeInv(Sum[Long])
    assertThrows[NoSuchElementException](window.evict())
    window.insert(3L)
    assert(window.size == 1 && window.query() == 3L)
  }

  test("a value that cannot be lifted leaves the window as it was") {
    Seq(TwoStacksLite(Concatenate), SlickDequeInv(Concatenate), Recalculate(Concatenate))
      .foreach { window =>
        window.insert("a")
        assertThrows[NullPointerException](window.insert(null))
        assert(window.size == 1 && window.query() == "a")
        assertThrows[NullPointerException](window.insert(null))
        window.insert("b")
        assert(window.size == 2 && window.query() == "ab")
        assertThrows[NullPointerException](window.insert(null))
        window.evict()
        assert(window.query() == "b")
        assertThrows[NullPointerException](window.insert(null))
        window.clear()
        window.insert("c")
        assert(window.size == 1 && window.query() == "c")
      }
  }
}
