package io.sash.core.inorder

import org.scalacheck.Gen
import org.scalacheck.Prop.{forAll, propBoolean}

import io.sash.core.{Element, Laws, Operation, Schedule, Step}

/** The theorem and the invariants of section 4 of the DABA Lite paper. */
class TwoStacksLiteSuite extends Laws {
  private def slider[A](operation: Operation[A]): Slider[A] =
    new Slider(WindowAlgorithm.TwoStacksLite, operation)

  law("insert and query take at most 1 combine, evict at most n") {
    forAll(Schedule.random) { schedule =>
      val s = slider(Operation.Sum)
      schedule.forall {
        case Step.Open(value) =>
          s.open(Element(value, 0))
          s.cost(s.window.insert()) <= 1
        case Step.Query => s.cost(s.query()) <= 1
        case Step.Evict if s.window.size > 0 =>
          val n = s.window.size
          s.cost(s.window.evict()) <= n
        case _ => true
      }
    }
  }

  law("evict is amortised 1 combine an element, whatever the schedule") {
    forAll(Schedule.random) { schedule =>
      val s = slider(Operation.Sum)
      var inserted = 0
      var evicting = 0L
      schedule.foreach {
        case Step.Open(value) =>
          s.insert(Element(value, inserted))
          inserted += 1
        case Step.Evict if s.window.size > 0 => evicting += s.cost(s.window.evict())
        case _                               => ()
      }
      (evicting <= inserted) :| s"$evicting combines to evict, of $inserted elements"
    }
  }

  law("a slide of a window of n takes at most 3 combines over n slides", runs = 20) {
    forAll(Gen.choose(1, 200)) { n =>
      val s = slider(Operation.Sum)
      (0 until n).foreach(i => s.insert(Element(i, i)))
      val slides = 5 * n
      val cost = s.cost((0 until slides).foreach { i =>
        s.insert(Element(i, i))
        s.window.evict()
        s.query()
      })
      // one to insert, one to query, one for the flip; the first flip meets a full window
      (cost <= 3L * slides + n) :| s"$cost combines in $slides slides at n = $n"
    }
  }

  law("space: grow asks for n + 2 slots, rounded up by doubling", runs = 20) {
    forAll(Gen.choose(1, 5000)) { n =>
      val s = slider(Operation.Sum)
      (0 until n).foreach(i => s.insert(Element(i, i)))
      val capacity = s.column.capacity
      (capacity >= n + 2 && capacity <= math.max(16, 2 * n) + 2) :| s"$capacity slots for $n"
    }
  }

  for (operation <- Seq(Operation.Collect, Operation.Affine))
    law(s"a flip of $operation at one go, where nothing throws, equals recalculation") {
      forAll(Schedule.random)(schedule =>
        InOrderLaws.equalsRecalculation(
          new Slider(WindowAlgorithm.TwoStacksLiteOverTotal, operation),
          schedule
        )
      )
    }

  test("the flip turns the back part into suffix aggregates, as in figure 4's notation") {
    val s = slider(Operation.Concat)
    val slots = "abcdefg".map(c => (c, s.open(Element(c - 'a', 0)))).toMap
    slots.foreach(_ => s.window.insert())
    assert("abcdefg".map(c => s.column(slots(c))) == "abcdefg".map(_.toString), "(I2)")
    assert(s.query() == "abcdefg", "(I3)")

    assert(s.cost(s.window.evict()) == 6)
    assert(
      "bcdefg".map(c => s.column(slots(c))) ==
        Seq("bcdefg", "cdefg", "defg", "efg", "fg", "g"),
      "(I1)"
    )
    assert(s.cost(s.query()) == 0 && s.query() == "bcdefg", "all front: no combine")

    s.insert(Element('h' - 'a', 0))
    s.insert(Element('i' - 'a', 0))
    assert(s.query() == "bcdefghi")
    assert(s.cost(s.window.evict()) == 0 && s.column(slots('c')) == "cdefg")
    (1 to 5).foreach(_ => assert(s.cost(s.window.evict()) == 0))
    assert(s.query() == "hi", "only the back part is left")
    assert(s.cost(s.window.evict()) == 1 && s.query() == "i")
  }

  test("maxcount over 4 4 4 | 6 6, the paper's example of a query") {
    val s = slider(Operation.MaxCount)
    Seq(0, 4, 4, 4).foreach(v => s.insert(Element(v, 0)))
    s.window.evict()
    Seq(6, 6).foreach(v => s.insert(Element(v, 0)))
    assert(s.query() == ((6, 2)))
  }
}
