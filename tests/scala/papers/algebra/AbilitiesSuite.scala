package io.sash.papers.algebra

import org.scalacheck.Prop.{forAll, propBoolean}

import io.sash.core.{Element, Laws, Schedule, Step}
import io.sash.core.algebra.Aggregation
import io.sash.core.elements.{Elements, InOrderWindow}
import io.sash.papers.fat.{BaseIntervals, ReactiveAggregator}
import io.sash.papers.fiba.Fiba
import io.sash.papers.inorder._
import io.sash.papers.mta.{Amta, LogMta}

/** The abilities that some windows of values have, and that their types name. */
class AbilitiesSuite extends Laws {

  /** The algorithms for any operation that keep their elements. */
  private def keeping[In, Out](
      a: Aggregation[In, _, Out]
  ): Seq[(String, () => Window[In, Out, Elements])] = Seq(
    ("Recalculate", () => Recalculate(a)),
    ("Two-Stacks", () => TwoStacks(a)),
    ("DABA", () => Daba(a)),
    ("DABA in chunks", () => Daba.inChunks(a)),
    ("B-Int", () => BaseIntervals(a)),
    ("Log MTA", () => LogMta(a)),
    ("AMTA", () => Amta(a))
  ) ++ (a match {
    case i: InvertibleAggregation[In, _, Out] =>
      Seq(("SlickDeque (Inv)", () => SlickDequeInv(i)))
    case _ => Nil
  })

  /** Runs the insertions and evictions of a schedule; returns the values that are left. */
  private def filled[In, Out](
      window: Window[In, Out, InOrderWindow],
      schedule: List[Step],
      input: Element => In
  ): Vector[In] = schedule.zipWithIndex.foldLeft(Vector.empty[In]) { case (left, (step, i)) =>
    step match {
      case Step.Open(value) =>
        window.insert(input(Element(value, i)))
        left :+ input(Element(value, i))
      case Step.Evict if left.nonEmpty =>
        window.evict()
        left.tail
      case Step.Query =>
        window.query()
        left
      case _ => left
    }
  }

  Case.All.foreach(c => iteratesAndGoesOn(c))

  private def iteratesAndGoesOn[In, Agg, Out](c: Case[In, Agg, Out]): Unit = {
    val windows = keeping(c.aggregation)
    law(s"windows of $c can be iterated over, and go on from a snapshot", runs = 5) {
      forAll(Schedule.random) { schedule =>
        val wrong = windows.find { case (_, make) =>
          val window = make()
          val values = filled(window, schedule, c.input)
          val again = TwoStacksLite(c.aggregation)
          again.insert(c.input(Element(1, 0))) // a snapshot replaces it
          Snapshot.restore(again, Snapshot.of(window))
          val each = values.indices.map(i => window.answer(window.algorithm.element(i)))
          val alone = values.map(c.aggregation.aggregate(_))
          def goesOn = values.indices.forall { i =>
            val same = Alike(again.query(), c.aggregation.aggregate(values.drop(i): _*))
            again.evict()
            same
          }
          !each.lazyZip(alone).forall((x, y) => Alike(x, y)) || again.size != values.size ||
          !goesOn
        }
        wrong.isEmpty :| s"${wrong.map(_._1)}"
      }
    }
  }

  test("no element before the first or after the last") {
    keeping(Sum[Long]).foreach { case (name, make) =>
      val window = make()
      window.insert(3L)
      window.insert(4L)
      window.evict()
      for (i <- Seq(-1, 1)) {
        val error = intercept[IndexOutOfBoundsException](window.algorithm.element(i))
        assert(error.getMessage == s"element($i) of a window of 1 elements", name)
      }
    }
  }

  test("partials of any class in a snapshot") {
    val values = Seq[Any](
      7,
      -1L,
      0.5,
      -0.0,
      "größer",
      BigDecimal("1.50").bigDecimal,
      BigDecimal(10).pow(40).bigDecimal,
      None,
      Some("a"),
      (1, Some(2L)),
      Vector(1, 2),
      Some(null)
    )
    val window = Recalculate(Last[Any])
    values.foreach(window.insert)
    val other = TwoStacks(Last[Any])
    Snapshot.restore(other, Snapshot.of(window))
    values.foreach { value =>
      assert(other.answer(other.algorithm.element(0)).contains(value))
      other.evict()
    }
    assert(other.size == 0)
  }

  test("a window by time goes on from a snapshot, and can be iterated over") {
    val window = Fiba(Concatenate, 2)
    val times = (0 until 200).map(i => (i * 37L) % 211)
    times.foreach(t => window.insert(t, s"$t,"))
    window.insert(5L, "again,")
    window.bulkEvict(20L)
    window.evict()
    val again = Fiba(Concatenate, 8)
    again.insert(1000L, "x")
    Snapshot.restore(again, Snapshot.of(window))
    val left = times.filter(_ > 20).sorted.tail
    var visited = Vector.empty[(Long, String)]
    again.foreach((time, text) => visited :+= time -> text)
    assert(visited == left.map(t => t -> s"$t,"))
    assert(again.size == window.size && again.query() == window.query())
    again.remove(left(50))
    assert(again.query() == left.patch(50, Nil, 1).map(t => s"$t,").mkString)
    Snapshot.restore(again, Snapshot.of(Fiba(Concatenate)))
    assert(again.size == 0 && again.query() == "")
  }

  law("a range of a window's elements, wherever it is") {
    forAll(Schedule.random) { schedule =>
      val any = Seq(Recalculate(Concatenate), BaseIntervals(Concatenate))
      val windows = any :+ PrefixAggregates(Concatenate)
      windows.forall { window =>
        val left = filled(window, schedule, (e: Element) => s"${e.arrival},")
        val ranges = for {
          from <- 0 to left.size by math.max(1, left.size / 5)
          until <- from to left.size by math.max(1, left.size / 7)
        } yield window.answer(window.algorithm.range(from, until)) ==
          left.slice(from, until).mkString
        ranges.forall(identity)
      }
    }
  }

  test("a range of elements that a window does not have") {
    val window = BaseIntervals(Sum[Long])
    Seq(1L, 2L).foreach(window.insert)
    for ((from, until) <- Seq((-1, 1), (1, 3), (2, 1)))
      intercept[IllegalArgumentException](window.algorithm.range(from, until))
    assert(window.query() == 3L)
  }

  test("a type says what a window can do") {
    val amta = Amta(Sum[Long])
    val lite = TwoStacksLite(Sum[Long])
    val reactive = ReactiveAggregator(Sum[Long])
    val deque = SlickDequeNonInv(Max[Long])
    val intervals = BaseIntervals(Sum[Long])
    assertCompiles("amta.algorithm.evict(3)")
    assertCompiles("amta.algorithm.evict((total, prefix) => total == prefix)")
    assertCompiles("reactive.algorithm.remove(3L)")
    assertCompiles("deque.algorithm.query(3)")
    assertCompiles("intervals.algorithm.range(1, 3)")
    assertCompiles("Snapshot.of(amta)")
    assertTypeError("lite.algorithm.evict(3)")
    assertTypeError("reactive.algorithm.evict(3)")
    assertTypeError("amta.algorithm.remove(3L)")
    assertTypeError("deque.algorithm.range(1, 3)")
    assertTypeError("amta.algorithm.range(1, 3)")
    assertTypeError("Snapshot.of(lite)")
    assertTypeError("lite.algorithm.element(0)")
    assertTypeError("reactive.algorithm.element(0)")
    assertCompiles("""
      import io.sash.core.elements.InOrderWindow
      import io.sash.papers.elements.BulkEviction
      def halve(window: Window[Long, Long, InOrderWindow with BulkEviction]): Unit =
        window.algorithm.evict(window.size / 2)
      halve(amta)
    """)
    assert(Seq(amta.size, lite.size, reactive.size, deque.size, intervals.size).sum == 0)
  }
}
