package io.sash.core.inorder

import org.scalacheck.Gen
import org.scalacheck.Prop.{forAll, propBoolean}

import io.sash.core.{Element, Laws, Operation, Schedule, Step}

/** The baselines' costs. */
class InOrderCostsSuite extends Laws {
  law("Recalculate takes n - 1 combines a query, and none otherwise") {
    forAll(Schedule.random) { schedule =>
      val s = new Slider(WindowAlgorithm.Naive, Operation.Sum)
      schedule.forall {
        case Step.Open(value)                => s.cost(s.insert(Element(value, 0))) == 0
        case Step.Evict if s.window.size > 0 => s.cost(s.window.evict()) == 0
        case Step.Query => s.cost(s.query()) == math.max(0, s.window.size - 1)
        case _          => true
      }
    }
  }

  private val reserved =
    Seq(
      WindowAlgorithm.Naive -> 1,
      WindowAlgorithm.SlickInvRanges -> 3
    )

  law("space: n slots, and those of the answers, rounded up by doubling", runs = 20) {
    forAll(Gen.choose(17, 5000), Gen.oneOf(reserved)) { (n, one) =>
      val (algorithm, answers) = one
      val s = new Slider(algorithm, Operation.Sum)
      (0 until n).foreach(i => s.insert(Element(i, i)))
      val capacity = s.column.capacity
      (capacity >= n + answers && capacity <= 2 * n + answers) :| s"$algorithm: $capacity for $n"
    }
  }
}
