package io.sash.papers.inorder

import org.scalacheck.Gen
import org.scalacheck.Prop.{forAll, propBoolean}

import io.sash.core.{Element, Laws, Operation, Schedule, Step}
import io.sash.core.elements.SlotRing
import io.sash.core.inorder.Slider

/** The theorem and the invariants of section 3 of the DABA Lite paper. */
class TwoStacksSuite extends Laws {
  private def slider[A](operation: Operation[A]): Slider[A] =
    new Slider(PaperAlgorithm.TwoStacks, operation)

  law("insert and query take at most 1 combine, evict at most n and amortised 1") {
    forAll(Schedule.random) { schedule =>
      val s = slider(Operation.Sum)
      var inserted = 0
      var evicting = 0L
      val each = schedule.forall {
        case Step.Open(value) =>
          inserted += 1
          s.cost(s.insert(Element(value, inserted))) <= 1
        case Step.Query => s.cost(s.query()) <= 1
        case Step.Evict if s.window.size > 0 =>
          val n = s.window.size
          val cost = s.cost(s.window.evict())
          evicting += cost
          cost <= n
        case _ => true
      }
      each :| "a call" && (evicting <= inserted) :| s"$evicting to evict, of $inserted"
    }
  }

  law("space: grow asks for 2n + 1 slots, rounded up by doubling", runs = 20) {
    forAll(Gen.choose(17, 5000)) { n =>
      val s = slider(Operation.Sum)
      (0 until n).foreach(i => s.insert(Element(i, i)))
      val capacity = s.column.capacity
      (capacity >= 2 * n + 1 && capacity <= 4 * n + 1) :| s"$capacity slots for $n"
    }
  }

  test("both stacks hold values and aggregates, as in figure 2's notation") {
    val s = slider(Operation.Concat)
    def open(c: Char): (Char, Int) = (c, s.open(Element(c - 'a', 0)))
    val slots = "abcdefg".map(open).toMap
    def values(elements: String): Seq[String] = elements.map(c => s.column(slots(c)))
    def aggregates(elements: String): Seq[String] =
      elements.map(c => s.column(slots(c) + SlotRing.InitialCapacity))

    slots.foreach(_ => s.window.insert())
    assert(values("abcdefg") == "abcdefg".map(_.toString), "(I1)")
    assert(aggregates("abcdefg") == "abcdefg".inits.toSeq.reverse.tail, "(I3)")

    assert(s.cost(s.window.evict()) == 6, "the flip")
    assert(values("bcdefg") == "bcdefg".map(_.toString), "(I1)")
    assert(aggregates("bcdefg") == "bcdefg".tails.toSeq.init, "(I2)")
    assert(s.cost(s.query()) == 0 && s.query() == "bcdefg")
  }
}
