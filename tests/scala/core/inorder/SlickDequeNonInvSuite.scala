package io.sash.core.inorder

import org.scalacheck.Gen
import org.scalacheck.Prop.{forAll, propBoolean}

import io.sash.core.{Element, Laws, Operation, TestColumn}

/** SlickDeque (Non-Inv): section 3.2's example and section 4.1's cost. */
class SlickDequeNonInvSuite extends Laws {
  private def slider[A](operation: Operation[A]): Slider[A] =
    new Slider(WindowAlgorithm.SlickNonInv, operation)

  private val streams: Gen[List[Int]] = Gen.oneOf(
    Gen.listOf(Gen.choose(-100, 100)),
    Gen.listOf(Gen.choose(0, 1)),
    Gen.choose(0, 300).map(List.range(0, _)),
    Gen.choose(0, 300).map(n => List.range(0, n).reverse)
  )

  law("under 2 comparisons an element, amortised; none to evict or query") {
    forAll(streams, Gen.choose(1, 100)) { (stream, n) =>
      val s = slider(Operation.Max)
      val costs = stream.zipWithIndex.map { case (value, i) =>
        if (s.window.size == n) assert(s.cost(s.window.evict()) == 0)
        val cost = s.cost(s.insert(Element(value, i)))
        assert(s.cost(s.query()) == 0)
        cost
      }
      // each comparison of an element, except its last, removes another element for good
      val bound = math.max(0, 2L * stream.length - 1)
      (costs.sum <= bound) :| s"${costs.sum} comparisons for ${stream.length} elements"
    }
  }

  law("an insert compares at most once with each element of the window") {
    forAll(streams, Gen.choose(1, 100)) { (stream, n) =>
      val s = slider(Operation.Min)
      stream.zipWithIndex.forall { case (value, i) =>
        if (s.window.size == n) s.window.evict()
        val size = s.window.size
        s.cost(s.insert(Element(value, i))) <= size
      }
    }
  }

  /** A window that counts the entries of its deque that queries look at. */
  private final class Walked extends SlickDequeNonInv(TestColumn.selective(Operation.Max)) {
    var looks = 0L

    override private[inorder] def positionAt(i: Int): Long = {
      looks += 1
      super.positionAt(i)
    }

    def value(slot: Int): Option[Element] =
      column.asInstanceOf[TestColumn[Option[Element]]](slot)

    def add(element: Element): Unit = {
      val slot = open()
      column.asInstanceOf[TestColumn[Option[Element]]].lift(slot, element)
      insert()
    }
  }

  law("several ranges, the longest first, take one walk: the deque and four looks a range") {
    forAll(streams, Gen.choose(1, 100), Gen.choose(1, 10)) { (stream, n, step) =>
      val w = new Walked
      stream.zipWithIndex.forall { case (value, i) =>
        if (w.size == n) w.evict()
        w.add(Element(value, i))
        val before = w.looks
        val ranges = (1 to w.size by step).reverse
        ranges.foreach(last => w.query(last))
        // the deque holds each element that no younger one exceeds
        val window = stream.slice(i + 1 - w.size, i + 1)
        val deque = window.tails.count(t => t.nonEmpty && t.forall(_ <= t.head))
        w.looks - before <= deque + 4L * ranges.size
      }
    }
  }

  law("a range takes at most 2 log m + 3 looks, past m of the deque") {
    forAll(Gen.choose(1, 3000), Gen.listOf(Gen.choose(1, 3000))) { (n, ranges) =>
      val w = new Walked
      (0 until n).foreach(i => w.add(Element(-i, i))) // the deque holds all elements
      val most = 3 + 2 * (63 - java.lang.Long.numberOfLeadingZeros(n.toLong))
      val costs = ranges.map { range =>
        val before = w.looks
        w.query(math.min(range, n))
        w.looks - before
      }
      costs.forall(_ <= most) :| s"$costs looks, of at most $most"
    }
  }

  law("any range in any order, between any calls") {
    forAll(Gen.listOf(Gen.zip(Gen.choose(0, 4), Gen.choose(0, 40)))) { calls =>
      val w = new Walked
      var window = Vector.empty[Element]
      val wrong = calls.zipWithIndex.find {
        case ((0, _), _) if window.nonEmpty =>
          w.evict()
          window = window.tail
          false
        case ((1 | 2, value), i) =>
          val element = Element(value % 7, i)
          w.add(element)
          window :+= element
          false
        case ((_, range), _) =>
          val last = range % (window.size + 1)
          w.value(w.query(last)) != Operation.Max.aggregate(window.takeRight(last))
      }
      wrong.isEmpty :| s"${wrong.fold("")(_.toString)} of $calls"
    }
  }

  test("what a walk has passed and an eviction has dropped is not looked at again") {
    val w = new Walked
    // 6 makes 3, 2 and 1 useless, which are the last entries
    val stream = Seq(9, 8, 3, 2, 1, 6).zipWithIndex.map { case (v, i) => Element(v, i) }
    stream.foreach(w.add)
    assert(w.value(w.query(1)).contains(stream.last))
    w.evict()
    w.evict()
    assert(w.value(w.query(2)).contains(stream.last))
  }

  law("space: at most n elements wait in the deque, and as many slots by doubling", runs = 20) {
    forAll(Gen.choose(1, 2000)) { n =>
      val s = slider(Operation.Max)
      // descending, so that no element is ever useless
      (0 until 4 * n).foreach { i =>
        if (s.window.size == n) s.window.evict()
        s.insert(Element(-i, i))
      }
      val capacity = s.column.capacity
      (capacity >= n + 1 && capacity <= math.max(16, 2 * n) + 1) :| s"$capacity slots for $n"
    }
  }

  test("a stream that ascends keeps one element, however long the window") {
    val s = slider(Operation.Max)
    (0 until 10000).foreach(i => s.insert(Element(i, i)))
    assert(s.window.size == 10000 && s.column.capacity == 17)
  }

  test("a clear costs the same at any size, and no slot is lost or given out twice") {
    val s = slider(Operation.Max)
    def fill(n: Int): Set[Int] = (0 until n).map { i =>
      val slot = s.open(Element(-i, i)) // descending, so that no element is ever useless
      if (i % 3 > 0) s.window.insert()
      slot
    }.toSet
    Seq(1000, 17, 1000).foreach { n =>
      assert(fill(n).size == n)
      s.window.clear()
    }
    assert(s.column.capacity == 1025)
    val cleared = clearing(s, 1 << 20)
    assert(cleared < 20 * clearing(s, 1 << 10) + 100000, s"$cleared ns")
  }

  /** The least of several times, in nanoseconds. */
  private def clearing(s: Slider[_], n: Int): Long = (0 until 5).map { _ =>
    (0 until n).foreach(i => s.insert(Element(-i, i)))
    val start = System.nanoTime()
    s.window.clear()
    System.nanoTime() - start
  }.min

  for (range <- SlickDequeExample.Ranges) test(s"example 3: maxima over range $range") {
    val answers = SlickDequeExample.answers(slider(Operation.Max), range)
    assert(answers.map(_.get.value) == SlickDequeExample.Maxima(range))
  }

  test("example 3 takes 11 operations on the deque that serves both ranges") {
    val s = slider(Operation.ArgMax) // the paper removes equal values, too
    assert(s.cost(SlickDequeExample.answers(s, 5)) == 11)
  }
}
