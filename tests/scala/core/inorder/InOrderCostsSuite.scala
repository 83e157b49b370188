package io.sash.core.inorder

import org.scalacheck.Gen
import org.scalacheck.Prop.{forAll, propBoolean}

import io.sash.core.{Element, Laws, Operation, Schedule, Step}

/** The promises of all in-order windows about `clear`, and the baselines' costs. */
class InOrderCostsSuite extends Laws {
  private def filled(algorithm: WindowAlgorithm, n: Int): Slider[_] = {
    val operation = Operation.All.find(algorithm.accepts).get
    val s = new Slider(algorithm, operation)
    // descending, so that no element is useless, and slid, so that no part of the window is empty
    (0 until n + n / 2).foreach { i =>
      if (i >= n) s.window.evict()
      s.insert(Element(-i, i))
    }
    s.query()
    s
  }

  for (algorithm <- WindowAlgorithm.All)
    test(s"$algorithm: clear writes as few slots of a long window as of a short one") {
      val Seq(short, long) = Seq(10, 10000).map { n =>
        val s = filled(algorithm, n)
        val before = s.column.writes
        assert(s.cost(s.window.clear()) == 0)
        val capacity = s.column.capacity
        assert(s.window.size == 0 && s.column.capacity == capacity)
        s.column.writes - before
      }
      assert(long == short && long <= 3)
    }

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
      WindowAlgorithm.FlatFit -> 1,
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
