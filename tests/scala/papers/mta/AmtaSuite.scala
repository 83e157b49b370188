package io.sash.papers.mta

import org.scalacheck.Gen
import org.scalacheck.Prop.{forAll, propBoolean}
import scala.util.Random

import io.sash.core.{Element, Laws, Operation}

/** Amortized MTA: figures 4 and 5 and the theorems of section 4.2. */
class AmtaSuite extends Laws {
  private def filled(elements: Int): AmtaView = {
    val view = new AmtaView
    (0 until elements).foreach(view.insert)
    view
  }

  private def log2(n: Int): Double = math.log(n.toDouble) / math.log(2)

  test("figure 4: forest, result pair and stack over 1, 2, 1, 2, 1, 2") {
    val v = new AmtaView
    Seq(1, 2, 1, 2, 1, 2).foreach(v.insert)
    assert(v.slider.query() == 9)
    assert(v.levels == Seq(Seq(1, 2, 1, 2, 1, 2), Seq(3, 3)))

    v.window.recompute() // the paper does this when its tree grows
    assert(v.results == ((6, 3)) && v.stack == Seq(5, 3))
    v.insert(1)
    assert(v.results == ((6, 4)) && v.slider.query() == 10)
    v.window.evict()
    assert(v.results == ((5, 4)) && v.stack == Seq(3) && v.slider.query() == 9)
  }

  test("figure 5: single evictions from 1, 3, 2, 1, 2, 1, 1, 0, 3, 1") {
    val v = new AmtaView
    Seq(1, 3, 2, 1, 2, 1, 1, 0, 3, 1).foreach(v.insert)
    assert(v.slider.query() == 15)
    assert(v.levels == Seq(Seq(1, 3, 2, 1, 2, 1, 1, 0, 3, 1), Seq(4, 3, 3, 1), Seq(7)))
    v.window.recompute()
    assert(v.results == ((7, 8)) && v.stack == Seq(6, 3))

    assert(v.slider.cost(v.window.evict()) == 0)
    assert(v.results == ((6, 8)) && v.stack == Seq(3) && v.slider.query() == 14)

    v.window.evict() // the pair (2, 1) is the new head, and 1 goes on the stack
    assert(v.results == ((3, 8)) && v.stack == Seq(1) && v.slider.query() == 11)
    v.window.evict()
    assert(v.results == ((1, 8)) && v.stack.isEmpty && v.slider.query() == 9)

    // the leftmost tree is used up
    v.window.evict()
    assert(v.slider.query() == 8)
    v.window.evict()
    assert(v.slider.query() == 6)
  }

  /** Windows that grow, shrink, slide and pause at random, one element at a time. */
  private def walk(seed: Long, most: Int)(insert: () => Unit, evict: () => Unit): Unit = {
    val random = new Random(seed)
    var size = 0
    (1 to 200).foreach { _ =>
      val target = random.nextInt(most) + 1
      val slides = if (random.nextBoolean()) random.nextInt(2 * most) else 0
      while (size != target) {
        if (size < target) insert() else evict()
        size += (if (size < target) 1 else -1)
      }
      (1 to slides).foreach { _ =>
        insert()
        evict()
      }
    }
  }

  law("insert: amortised at most 2 combines, log2 n + 1 at worst", runs = 20) {
    forAll(Gen.choose(1, 300), Gen.long) { (most, seed) =>
      val v = new AmtaView
      var (total, elements, worst) = (0L, 0, true)
      walk(seed, most)(
        () => {
          val cost = v.slider.cost(v.insert(elements))
          elements += 1
          total += cost
          worst &&= cost <= log2(v.window.size) + 1
        },
        () => v.window.evict()
      )
      (total <= 2L * elements && worst) :| s"$total combines to insert $elements"
    }
  }

  law("evict: amortised at most 4/3 combines, 3 log2(n + 1) at worst", runs = 20) {
    forAll(Gen.choose(1, 300), Gen.long) { (most, seed) =>
      val v = new AmtaView
      var (total, evictions, worst) = (0L, 0, true)
      walk(seed, most)(
        () => v.insert(evictions),
        () => {
          val bound = 3 * log2(v.window.size + 1)
          val cost = v.slider.cost(v.window.evict())
          evictions += 1
          total += cost
          worst &&= cost <= bound
        }
      )
      // the leftmost tree, which is not used up, was paid for in advance
      val bound = evictions * 4.0 / 3 + 3 * log2(most + 2)
      (total <= bound && worst) :| s"$total combines to evict $evictions"
    }
  }

  law("query: at most 1 combine, and none for the same window again") {
    forAll(Gen.choose(0, 100), Gen.choose(0, 100)) { (n, evicted) =>
      val s = filled(n).slider
      (0 until math.min(n, evicted)).foreach(_ => s.window.evict())
      s.cost(s.query()) <= 1 && s.cost(s.query()) == 0
    }
  }

  law("a slide takes at most 13/3 combines, whatever n", runs = 50) {
    forAll(Gen.choose(1, 2000)) { n =>
      val v = filled(n)
      val slides = 4 * n
      val cost = v.slider.cost((0 until slides).foreach { i =>
        v.insert(i)
        v.window.evict()
        v.slider.query()
      })
      (cost <= slides * 13.0 / 3 + 3 * log2(n + 2)) :| s"$cost combines in $slides slides of $n"
    }
  }

  law("a bulk eviction takes at most 3 log2(n + 1) combines, however many leave", runs = 50) {
    forAll(Gen.choose(1, 20000), Gen.choose(0, 20000), Gen.choose(0, 1000)) { (n, m, before) =>
      val v = filled(n + before)
      (0 until before).foreach(_ => v.window.evict())
      val cost = v.slider.cost(v.window.evict(math.min(m, n)))
      (cost <= 3 * log2(n + 1)) :| s"$cost combines to evict ${math.min(m, n)} of $n"
    }
  }

  law("bulk evictions of one element cost what evictions do", runs = 20) {
    forAll(Gen.choose(1, 1000)) { n =>
      val Seq(one, bulk) = Seq.fill(2)(filled(n))
      (0 until n).forall { _ =>
        one.slider.cost(one.window.evict()) == bulk.slider.cost(bulk.window.evict(1))
      }
    }
  }

  law("finding the m elements that a policy evicts takes 4 log2(m + 1) + 1", runs = 50) {
    forAll(Gen.choose(1, 20000), Gen.choose(0, 20000), Gen.choose(0, 1000)) { (n, m, before) =>
      val s = new MtaSlider(MtaAlgorithm.Amortized, Count)
      (0 until n + before).foreach(i => s.insert(Element(i, i)))
      (0 until before).foreach(_ => s.window.evict())
      val evicted = math.min(m, n)
      val cost = s.cost(s.evict((_, prefix) => prefix <= evicted))
      val bound = 4 * log2(evicted + 1) + 1 + (if (evicted == 0) 0 else 3 * log2(n + 1))
      (s.window.size == n - evicted && cost <= bound) :| s"$cost combines for $evicted of $n"
    }
  }

  law("to find them it asks the policy as often, and once more", runs = 50) {
    forAll(Gen.choose(1, 20000), Gen.choose(0, 20000), Gen.choose(0, 1000)) { (n, m, before) =>
      val s = new MtaSlider(MtaAlgorithm.Amortized, Count)
      (0 until n + before).foreach(i => s.insert(Element(i, i)))
      (0 until before).foreach(_ => s.window.evict())
      val evicted = math.min(m, n)
      var asked = 0
      s.evict { (_, prefix) =>
        asked += 1
        prefix <= evicted
      }
      // the search starts at the oldest, so its cost depends on the evicted part, not on the
      // window
      (asked <= 4 * log2(evicted + 1) + 2) :| s"asked $asked times for $evicted of $n"
    }
  }

  test("grows from any state of the stack, and drains") {
    (0 until 140).foreach { slides =>
      val s = new MtaSlider(MtaAlgorithm.Amortized, Both(Count, Operation.Collect))
      val elements = Vector.tabulate(slides + 60)(i => Element(i, i))
      def check(from: Int, until: Int): Unit = {
        assert(MtaInvariants.broken(s)(elements.slice(from, until)).isEmpty)
      }
      elements.take(14).foreach(s.insert)
      (0 until slides).foreach { i =>
        s.insert(elements(14 + i))
        s.window.evict()
      }
      check(slides, slides + 14)
      elements.drop(14 + slides).foreach(s.insert)
      (slides until elements.size).foreach { from =>
        check(from, elements.size)
        s.window.evict()
      }
    }
  }

  law("space: grow asks for 2n slots and 2 log2 n + 7, rounded up by doubling", runs = 20) {
    forAll(Gen.choose(1, 5000)) { n =>
      val capacity = filled(n).slider.column.capacity
      val leaves = math.max(16, Integer.highestOneBit(2 * n - 1))
      (capacity == 2 * leaves + 2 * Integer.numberOfTrailingZeros(leaves) + 7) :|
        s"$capacity slots for $n"
    }
  }
}

/** An AMTA of sums, with a view of its parts. */
final class AmtaView {
  val slider = new MtaSlider(MtaAlgorithm.Amortized, Operation.Sum)

  val window: Amta = slider.window match {
    case amta: Amta => amta
    case other      => throw new IllegalArgumentException(s"no AMTA: $other")
  }

  def insert(value: Int): Unit = slider.insert(Element(value, 0))

  /** The values of the levels that are not empty, leaves first. */
  def levels: Seq[Seq[Long]] =
    (0 to 30)
      .map { level =>
        (window.firstNode(level) until window.nodesEnd(level))
          .map(n => slider.column(window.node(level, n)))
      }
      .filter(_.nonEmpty)

  def results: (Long, Long) =
    (slider.column(window.stackSlot(window.firstNode(0))), slider.column(window.rightResult))

  /** The stack's values, from its top. */
  def stack: Seq[Long] = window.stack.toSeq.map(p => slider.column(window.stackSlot(p)))
}
