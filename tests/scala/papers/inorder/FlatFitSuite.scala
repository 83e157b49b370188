package io.sash.papers.inorder

import org.scalacheck.Gen
import org.scalacheck.Prop.{forAll, propBoolean}

import io.sash.core.{Element, Laws, Operation, Schedule, Step}
import io.sash.core.inorder.Slider

/** FlatFIT's costs, as counted in section 4.1 of the SlickDeque paper. */
class FlatFitSuite extends Laws {
  private def slider[A](operation: Operation[A]): Slider[A] =
    new Slider(PaperAlgorithm.FlatFit, operation)

  test("a cycle of n + 1 slides takes 3(n - 1) combines, of which one window reset n - 1") {
    for (n <- Seq(3, 4, 10, 100)) {
      val s = slider(Operation.Sum)
      def slide(i: Int): Long = {
        if (s.window.size == n) s.window.evict()
        s.cost {
          s.insert(Element(i, i))
          s.query()
        }
      }
      (0 until 2 * n).foreach(slide)
      val costs = (2 * n until 10 * n + 8).map(slide)
      costs.sliding(n + 1).foreach { cycle =>
        assert(cycle.sum == 3 * (n - 1), s"n = $n: $costs")
      }
      assert(costs.max == n - 1)
      if (n > 4) {
        val cycle = costs.dropWhile(_ < n - 1).take(n + 1)
        assert(cycle.count(_ == 1) == 2 && cycle.count(_ == 2) == n - 2, s"n = $n: $cycle")
      }
    }
  }

  law("insert and evict take no combine, query at most n - 1") {
    forAll(Schedule.random) { schedule =>
      val s = slider(Operation.Sum)
      schedule.forall {
        case Step.Open(value)                => s.cost(s.insert(Element(value, 0))) == 0
        case Step.Evict if s.window.size > 0 => s.cost(s.window.evict()) == 0
        case Step.Query => s.cost(s.query()) <= math.max(0, s.window.size - 1)
        case _          => true
      }
    }
  }

  law("queries of shorter ranges share the window, and cost 1 combine each when all are asked") {
    forAll(Gen.choose(1, 40)) { n =>
      val s = slider(Operation.Collect)
      val window = s.window.asInstanceOf[FlatFit]
      val elements = (0 until 3 * n).map(i => Element(i, i))
      val wrong = elements.indices.find { i =>
        if (s.window.size == n) s.window.evict()
        s.insert(elements(i))
        val all = (1 to s.window.size).map { last =>
          val cost = s.cost(window.query(last))
          val answer = s.column(window.query(last))
          cost <= 1 && answer == elements.slice(i + 1 - last, i + 1)
        }
        all.contains(false)
      }
      wrong.isEmpty :| s"after ${wrong.getOrElse(0)} of windows of $n"
    }
  }
}
