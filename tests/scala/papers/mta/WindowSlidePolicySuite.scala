package io.sash.papers.mta

import org.scalacheck.Gen
import org.scalacheck.Prop.{forAll, propBoolean}

import io.sash.core.{Element, Laws, Operation}

/** Window slide policies: the paper's examples, and the policies of its experiments. */
class WindowSlidePolicySuite extends Laws {
  private val streams: Gen[List[Int]] = Gen.oneOf(
    Gen.listOf(Gen.choose(0, 9)),
    Gen.listOf(Gen.choose(-100, 100)),
    Gen.choose(0, 300).map(List.range(0, _)),
    Gen.choose(0, 300).map(n => List.range(0, n).reverse)
  )

  private def elements(stream: Seq[Int]): Seq[Element] = stream.zipWithIndex.map {
    case (value, arrival) => Element(value, arrival)
  }

  for (algorithm <- MtaAlgorithm.All) {
    test(s"$algorithm, section 3.2: the maximum of a window whose sum is at most 10") {
      val operation = Both(Operation.Sum, Both(Operation.Last, Operation.Max))
      val s = new MtaSlider(algorithm, operation)
      def max: Int = s.query()._2._2.get.value
      // evicts a prefix if its youngest element and all elements after it add up to more than 10
      def slide(): Unit = s.evict { case ((total, _), (old, (last, _))) =>
        total - old + last.get.value > 10
      }
      elements(Seq(2, 2, 3, 3)).foreach { e =>
        s.insert(e)
        slide()
      }
      assert(s.window.size == 4 && max == 3)
      s.insert(Element(4, 4))
      slide()
      assert(s.window.size == 3 && s.query()._1 == 10 && max == 4)
    }

    test(s"$algorithm, figure 2: timestamp 8 evicts all that is 4 or more behind") {
      val s = new MtaSlider(algorithm, Both(Count, Operation.Max))
      def slide(): Unit = s.evict((total, old) => total._2.get.value - old._2.get.value >= 4)
      elements(Seq(1, 2, 3, 3, 4, 4, 4)).foreach { e =>
        s.insert(e)
        slide()
      }
      assert(s.query()._1 == 7)
      s.insert(Element(8, 7))
      slide()
      assert(s.query() == ((1, Some(Element(8, 7)))))
    }

    test(s"$algorithm: a policy may evict nothing, or the whole window, or an empty one") {
      val s = new MtaSlider(algorithm, Operation.Collect)
      s.evict((_, _) => true)
      val all = elements(1 to 100)
      all.foreach(s.insert)
      s.evict((_, _) => false)
      assert(s.query() == all)
      s.evict((_, _) => true)
      assert(s.window.size == 0 && s.query().isEmpty)
      s.insert(Element(7, 100))
      assert(s.query() == Seq(Element(7, 100)))
    }

    test(s"$algorithm: a policy that throws leaves the window as it was") {
      val s = new MtaSlider(algorithm, Operation.Collect)
      val all = elements(1 to 100)
      all.foreach(s.insert)
      s.window.evict(5)
      intercept[ArithmeticException](s.evict { (_, old) =>
        if (old.size > 10) throw new ArithmeticException else true
      })
      assert(s.query() == all.drop(5))
      s.window.evict()
      assert(s.query() == all.drop(6))
    }

    law(s"$algorithm, listings 2 and 3: a count whose elements say how long it is", runs = 30) {
      forAll(streams, Gen.choose(1, 20)) { (stream, shortest) =>
        val s = new MtaSlider(algorithm, Both(Count, Operation.Last))
        elements(stream).foldLeft(Vector.empty[Element]) { (window, e) =>
          val maxSize = shortest + math.abs(e.value)
          s.insert(e)
          s.evict((total, old) => total._1 - old._1 >= maxSize)
          val expected = (window :+ e).takeRight(maxSize)
          assert(s.query() == s.operation.aggregate(expected))
          expected
        }
        true
      }
    }

    law(s"$algorithm, experiment 3: max drops what precedes the maximum", runs = 30) {
      forAll(streams, Gen.choose(1, 50)) { (stream, most) =>
        val s = new MtaSlider(algorithm, Both(Count, Operation.Max))
        elements(stream).foldLeft(Vector.empty[Element]) { (window, e) =>
          val max = (window :+ e).map(_.value).max
          s.insert(e)
          s.evict { (total, old) =>
            total._1 - old._1 >= most || old._2.get.value < total._2.get.value
          }
          val expected = (window :+ e).dropWhile(_.value < max).takeRight(most)
          assert(s.query() == s.operation.aggregate(expected))
          expected
        }
        true
      }
    }

    law(s"$algorithm, experiment 3: LIS drops what precedes the longest run", runs = 30) {
      forAll(streams, Gen.choose(1, 50)) { (stream, most) =>
        val s = new MtaSlider(algorithm, LongestRun)
        elements(stream).foldLeft(Vector.empty[Element]) { (window, e) =>
          val run = longestRun(window :+ e)
          s.insert(e)
          s.evict { (total, old) =>
            total.get.count - old.get.count >= most || old.get.last.arrival < total.get.best.first
          }
          val expected = (window :+ e).dropWhile(_.arrival < run.head.arrival).takeRight(most)
          val best = longestRun(expected)
          val found = s.query().get
          assert(s.window.size == expected.size && found.count == expected.size)
          assert(found.best == Run(best.size, best.head.arrival))
          assert(found.best.last == best.last.arrival)
          expected
        }
        true
      }
    }
  }

  test("longest run of 3 1 2 5 5 6 7 0: the oldest of ties") {
    val runs = LongestRun.aggregate(elements(Seq(3, 1, 2, 5, 5, 6, 7, 0))).get
    assert(runs.best == Run(3, 1) && runs.best.last == 3)
    assert(runs.head == 1 && runs.tail == 1 && runs.count == 8)
  }

  /** By definition: the longest range of elements in which each exceeds the one before. */
  private def longestRun(window: Vector[Element]): Vector[Element] = {
    val stretches = window.indices.map { from =>
      val steps = window.drop(from).sliding(2).takeWhile {
        case Vector(a, b) => a.value < b.value
        case _            => false
      }
      window.slice(from, from + 1 + steps.size)
    }
    stretches.maxBy(s => (s.size, -s.head.arrival))
  }

  law("to keep all costs one look, to drop one a few, however long the window", runs = 20) {
    forAll(Gen.choose(1, 5000)) { n =>
      val s = new MtaSlider(MtaAlgorithm.Amortized, Count)
      elements(1 to n).foreach(s.insert)
      s.query()
      val keeping = s.cost(s.evict((total, old) => total - old >= n))
      val slides = 4 * n
      val sliding = s.cost((1 to slides).foreach { i =>
        s.insert(Element(i, i))
        s.evict((total, old) => total - old >= n)
      })
      // beside a slide's 13/3, which include the query: 3 looks beyond the first, amortised
      (keeping == 0 && s.window.size == n && sliding <= slides * 22.0 / 3 + 50) :|
        s"$keeping combines to keep $n, $sliding in $slides slides"
    }
  }
}
