package io.sash.core.inorder

import org.scalacheck.Gen
import org.scalacheck.Prop.{forAll, propBoolean}

import io.sash.core.{Element, Laws, Operation}

/** SlickDeque (Inv): section 3.2's example and section 4.1's cost. */
class SlickDequeInvSuite extends Laws {
  private def slider[A](operation: Operation[A]): Slider[A] =
    new Slider(WindowAlgorithm.SlickInv, operation)

  law("exactly 2 operations a slide: one combine, one subtract, none to query") {
    forAll(Gen.choose(1, 300), Gen.choose(1, 300)) { (n, slides) =>
      val s = slider(Operation.Sum)
      (0 until n).foreach(i => s.insert(Element(i, i)))
      val costs = (0 until slides).map { i =>
        (s.cost(s.insert(Element(i, i))), s.cost(s.window.evict()), s.cost(s.query()))
      }
      costs.forall(_ == ((1L, 1L, 0L))) :| s"$costs"
    }
  }

  law("space: grow asks for n + 1 slots, rounded up by doubling", runs = 20) {
    forAll(Gen.choose(1, 5000)) { n =>
      val s = slider(Operation.Sum)
      (0 until n).foreach(i => s.insert(Element(i, i)))
      val capacity = s.column.capacity
      (capacity >= n + 1 && capacity <= math.max(16, 2 * n) + 1) :| s"$capacity slots for $n"
    }
  }

  for (range <- SlickDequeExample.Ranges) test(s"example 2: sums over range $range") {
    val answers = SlickDequeExample.answers(slider(Operation.Sum), range)
    assert(answers == SlickDequeExample.Sums(range))
  }

  test("example 2 takes 32 operations over both ranges, against Naive's 48") {
    // the paper starts from arrays of zeros, so that every step adds and subtracts
    def operations(algorithm: WindowAlgorithm): Long = SlickDequeExample.Ranges.map { range =>
      val s = new Slider(algorithm, Operation.Sum)
      (1 to range).foreach(_ => s.insert(Element(0, 0)))
      s.cost(assert(SlickDequeExample.answers(s, range) == SlickDequeExample.Sums(range)))
    }.sum
    assert(operations(WindowAlgorithm.SlickInv) == 32)
    // the paper counts the first operand, too; Recalculate copies it
    assert(operations(WindowAlgorithm.Naive) == 8 * ((3 - 1) + (5 - 1)))
  }
}
