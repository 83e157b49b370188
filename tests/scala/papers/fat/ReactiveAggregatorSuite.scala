package io.sash.papers.fat

import org.scalacheck.{Gen, Prop}
import org.scalacheck.Prop.{forAll, forAllNoShrink, propBoolean}
import org.scalatest.tags.Slow

import io.sash.core.{Element, Laws, Operation, Schedule, Step, TestColumn}
import io.sash.core.fat.{Driven, RecordingColumn, Unstored}

/** Section 5 of its paper: laws with removals from anywhere, figure 5, cost, resizing. */
@Slow
class ReactiveAggregatorSuite extends Laws {

  /** A window over a recording column, driven by values. */
  private final class Recorded(initialCapacity: Int) {
    val column = new RecordingColumn(Operation.Sum)
    val window = new ReactiveAggregator(column, initialCapacity)

    def insert(value: Int): Int = {
      val slot = window.open()
      column.lift(slot, Element(value, 0))
      window.insert()
      slot
    }

    def fill(n: Int): this.type = {
      (1 to n).foreach(insert)
      this
    }

    def query(): Long = column(window.query())

    def cost(body: => Unit): Int = column.combinedBy(body).length
  }

  /** A schedule with a draw for each step: whether to remove an element first, and which. */
  private val withRemovals: Gen[List[(Step, Int)]] = for {
    steps <- Schedule.random
    rate <- Gen.oneOf(0, 200, 500)
    draws <- Gen.listOfN(steps.length, Gen.choose(0, 999))
  } yield steps.zip(draws.map(draw => if (draw < rate) draw else -1))

  private def agrees[A](operation: Operation[A]): Prop =
    forAllNoShrink(Gen.oneOf(1, 2, 16)) { capacity =>
      forAll(withRemovals)(agrees(operation, capacity, _))
    }

  private def agrees[A](operation: Operation[A], capacity: Int, all: List[(Step, Int)]): Prop = {
    val driven = new Driven(operation, new ReactiveAggregator(_, capacity))
    val wrong = all.zipWithIndex.iterator
      .flatMap { case ((step, draw), i) =>
        if (draw >= 0 && driven.held.nonEmpty) {
          val (arrival, _) = driven.held(draw % driven.held.size)
          driven.window.remove(arrival)
          driven.removed(arrival)
        }
        driven.run(step)
        driven.window.checkInvariants(driven.isCombined)
        driven.disagreement(step).map(d => s"step $i, $step: $d")
      }
      .nextOption()
    wrong.isEmpty :| wrong.getOrElse("")
  }

  for (operation <- Operation.All)
    law(s"any schedule, removals from anywhere: $operation equals the model", runs = 100) {
      agrees(operation)
    }

  /** The same, but steps and removals that fail are given up, and the others go on. */
  private def forgetsFailedCalls[A](
      operation: Operation[A],
      capacity: Int,
      all: List[((Step, Int), Int)]
  ): Prop = {
    val driven = new Driven(operation, new ReactiveAggregator(_, capacity))
    def failingAt(call: Int)(body: => Unit): Unit = {
      driven.column.failing = call
      try body
      catch { case _: TestColumn.Injected => () }
      driven.column.failing = 0
    }
    val wrong = all.zipWithIndex.iterator.flatMap { case (((step, draw), failing), i) =>
      if (draw >= 0 && driven.held.nonEmpty) {
        val (arrival, _) = driven.held(draw % driven.held.size)
        failingAt(failing) {
          driven.window.remove(arrival)
          driven.removed(arrival)
        }
      }
      failingAt(failing) {
        driven.run(step)
        if (step == Step.Query) driven.window.query()
      }
      driven.window.checkInvariants(driven.isCombined)
      driven.disagreement(step).map(d => s"step $i, $step at $failing: $d")
    }
    val first = wrong.nextOption()
    first.isEmpty :| first.getOrElse("")
  }

  for (operation <- Seq(Operation.Collect, Operation.Sum))
    law(s"removals from anywhere of $operation, without those that have failed") {
      val failing =
        Gen.frequency(1 -> Gen.const(0), 1 -> Gen.choose(1, 2), 1 -> Gen.choose(1, 20))
      val steps = withRemovals.flatMap(s => Gen.listOfN(s.length, failing).map(s.zip(_)))
      forAllNoShrink(Gen.oneOf(1, 2, 16), steps)(forgetsFailedCalls(operation, _, _))
    }

  test("figure 5: a window of the latest 4 numbers, and FlatFAT's slots under it") {
    val driven = new Driven(Operation.Concat, new ReactiveAggregator(_, 4))
    val a = Seq(4, 5, 6, 7) // the slots of a[1] to a[4]
    def arrives(value: Int): Int = {
      val slot = driven.window.open()
      driven.column.lift(slot, Element(value, 0))
      driven.window.insert()
      slot
    }
    def text(values: Int*): String = values.map(v => ('a' + v).toChar).mkString

    assert(arrives(4) == a(0) && driven.query() == text(4))
    assert(arrives(7) == a(1) && driven.query() == text(4, 7))
    assert(arrives(3) == a(2) && driven.query() == text(4, 7, 3))
    assert(arrives(2) == a(3) && driven.query() == text(4, 7, 3, 2))
    driven.window.evict()
    assert(driven.query() == text(7, 3, 2))
    assert(arrives(9) == a(0), "the buffer is inverted: B comes before E")
    assert(a.map(driven.column(_)).mkString == text(9, 7, 3, 2))
    assert(driven.query() == text(7, 3, 2, 9), "suffix(E) ⊗ prefix(B)")
    assert(driven.window.capacity == 4)
  }

  private val windows: Gen[(Int, Int)] =
    Gen.choose(1, 9).flatMap(k => Gen.choose(1, 1 << k).map(m => (1 << k, m)))

  private def bound(n: Int, m: Int): Int = {
    val log = Iterator.from(0).dropWhile(l => (m.toLong << l) < n).next()
    m * (1 + log)
  }

  private def logOf(n: Int): Int = Integer.numberOfTrailingZeros(n)

  law("theorem 4.1: m slides and a query take at most m(1 + ⌈log(n/m)⌉) + 2 log n combines") {
    forAllNoShrink(windows, Gen.choose(0, 1000)) { case ((n, m), start) =>
      val r = new Recorded(n).fill(n)
      (1 to start % n).foreach { i => r.window.evict(); r.insert(i) }
      r.query()
      val noting = r.cost((1 to m).foreach { i => r.window.evict(); r.insert(i) })
      val querying = r.cost(r.query())
      (noting == 0) :| "events are only noted" &&
      (querying <= bound(n, m) + 2 * logOf(n)) :| s"$querying for $m of $n"
    }
  }

  law("theorem 4.1: m removals from anywhere and a query take no more") {
    forAllNoShrink(windows, Gen.long) { case ((n, m), order) =>
      val r = new Recorded(n).fill(n)
      r.query()
      val gone = new scala.util.Random(order).shuffle((0 until n).toVector).take(m)
      val noting = r.cost(gone.foreach(i => r.window.remove(i.toLong)))
      val querying = r.cost(r.query())
      val again = r.cost(r.query())
      (noting == 0) :| "events are only noted" &&
      (querying <= bound(n, m) + 2 * logOf(n)) :| s"$querying for $m of $n" &&
      (again <= 2 * logOf(n)) :| s"$again when nothing has changed" &&
      (r.query() == (1 to n).sum - gone.map(_ + 1).sum) :| "the sum of the others"
    }
  }

  law(
    "section 5.2: a FIFO window pays for no hole: under 1 combine an element, no identity",
    runs = 20
  ) {
    forAllNoShrink(Gen.choose(1, 300)) { n =>
      val r = new Recorded(512).fill(n)
      r.query()
      val slides = 2000
      val updates = (1 to slides).map { i =>
        r.window.evict()
        r.insert(i)
        r.column.combinedBy(r.query()).count(_ != 0) // slot 0 holds answers
      }.sum
      (updates < slides + n) :| s"$updates updates in $slides slides" &&
      (r.column.identities == 0 && r.column.copies == 0) :| "nothing but combines"
    }
  }

  test("a full buffer of which more than three quarters are elements is doubled") {
    for (removed <- 0 to 3) {
      val r = new Recorded(16).fill(16)
      (1 to removed).foreach(i => r.window.remove(2L * i))
      r.insert(17)
      assert(r.window.capacity == 32 && r.column.copies == 16 - removed)
      assert(r.query() == (1 to 17).sum - (1 to removed).map(2 * _ + 1).sum)
    }
  }

  test("a full buffer of which at most three quarters are elements is compacted") {
    for (removed <- 4 to 7) {
      val r = new Recorded(16).fill(16)
      (1 to removed).foreach(i => r.window.remove(2L * i))
      assert(r.query() == (1 to 16).sum - (1 to removed).map(2 * _ + 1).sum)
      r.insert(17)
      assert(r.window.capacity == 16)
      assert(r.column.copies == 14 - removed, "what stands before the first hole stays")
      (2 to removed).foreach(_ => r.insert(0))
      assert(r.window.size == 16 && r.window.capacity == 16)
      r.insert(0)
      assert(r.window.size == 17 && r.window.capacity == 32)
      assert(r.query() == (1 to 17).sum - (1 to removed).map(2 * _ + 1).sum)
    }
  }

  test("a buffer less than a quarter full is halved, but not below what it began with") {
    val r = new Recorded(4).fill(32)
    assert(r.window.capacity == 32)
    val capacities = (31 to 0 by -1).map { size =>
      r.window.evict()
      assert(r.window.size == size && r.query() == (33 - size to 32).sum)
      assert(r.column.capacity == 2 * r.window.capacity, "no memory is kept")
      size -> r.window.capacity
    }
    assert(
      capacities.groupMapReduce(_._2)(_._1)(math.max(_, _)) ==
        Map(32 -> 31, 16 -> 7, 8 -> 3, 4 -> 1)
    )
  }

  test("removals halve a buffer as evictions do, and open elements move with it") {
    val r = new Recorded(4).fill(32)
    val open = r.window.open()
    r.column.lift(open, Element(1000, 0))
    assert(r.window.capacity == 64)
    (31L until 14L by -1).foreach(r.window.remove)
    assert(r.window.capacity == 64 && r.window.size == 15)
    r.window.remove(14L)
    assert(r.window.capacity == 32 && r.window.size == 14)
    r.window.insert()
    assert(r.query() == (1 to 14).sum + 1000)
    assert(r.window.inserted == 33)
    r.window.remove(32L)
    assert(r.query() == (1 to 14).sum)
  }

  law("capacity changes and compactions are amortised: at most 3 copies an event", runs = 100) {
    forAllNoShrink(Gen.listOf(Gen.zip(Gen.choose(0, 400), Gen.choose(0, 9), Gen.long))) {
      phases =>
        val r = new Recorded(1)
        var held = Vector.empty[Long]
        var events = 0
        for ((length, inserts, order) <- phases) {
          val random = new scala.util.Random(order)
          (1 to length).foreach { i =>
            if (held.isEmpty || random.nextInt(10) < inserts) {
              held :+= r.window.inserted
              r.insert(i)
            } else {
              val gone = held(random.nextInt(held.length))
              r.window.remove(gone)
              held = held.filter(_ != gone)
            }
            events += 1
          }
        }
        (r.column.copies <= 3L * events) :| s"${r.column.copies} copies in $events events" &&
        (r.window.capacity <= math.max(2, 4 * held.length)) :| s"${r.window.capacity} places"
    }
  }

  test("a large window over many sizes, with holes") {
    val driven = new Driven(Operation.Affine, new ReactiveAggregator(_))
    val random = new scala.util.Random(seed)
    for (step <- 0 until 20000) {
      val growing = step / 4000 % 2 == 0
      if (random.nextInt(10) < (if (growing) 7 else 3)) {
        driven.run(Step.Open(step % 1000))
        driven.run(Step.Insert)
      } else if (driven.held.nonEmpty) {
        val (arrival, _) = driven.held(random.nextInt(1 + driven.held.size / 8))
        driven.window.remove(arrival)
        driven.removed(arrival)
      }
      if (step % 500 == 0) {
        driven.window.checkInvariants(driven.isCombined)
        assert(driven.disagreement(Step.Query).isEmpty, s"at step $step")
      }
    }
    assert(driven.window.capacity >= 64)
  }

  test("removing what is not in the window") {
    val driven = new Driven(Operation.Collect, new ReactiveAggregator(_))
    (1 to 20).foreach { i => driven.run(Step.Open(i)); driven.run(Step.Insert) }
    driven.run(Step.Open(21))
    driven.run(Step.Evict)
    driven.window.remove(5)
    driven.removed(5)
    driven.window.remove(1) // the removal of the oldest is an eviction
    driven.removed(1)
    for (unknown <- Seq(0L, 1L, 5L, 20L, -1L, Long.MaxValue, Long.MinValue)) {
      val error = intercept[NoSuchElementException](driven.window.remove(unknown))
      assert(error.getMessage.startsWith(s"remove($unknown)"))
      assert(driven.disagreement(Step.Query).isEmpty)
    }
    driven.run(Step.Clear)
    intercept[NoSuchElementException](driven.window.remove(7))
    driven.run(Step.Open(1))
    driven.run(Step.Insert)
    assert(driven.window.inserted == 21, "numbers are never used again")
    intercept[NoSuchElementException](driven.window.remove(0))
    driven.window.remove(20)
    assert(driven.window.size == 0)
  }

  test("evicting from an empty window, inserting what is not open") {
    val driven = new Driven(Operation.Collect, new ReactiveAggregator(_))
    val error = intercept[NoSuchElementException](driven.window.evict())
    assert(error.getMessage == "evict() on an empty window")
    intercept[IllegalStateException](driven.window.insert())
    assert(driven.disagreement(Step.Query).isEmpty)
  }

  test("a capacity that is not a power of two, or none") {
    for (n <- Seq(0, -4, 6)) {
      val column = new RecordingColumn(Operation.Sum)
      intercept[IllegalArgumentException](new ReactiveAggregator(column, n))
    }
  }

  test("more open slots than a window can number") {
    val window = new ReactiveAggregator(new Unstored, FlatFat.MaxCapacity)
    val error = Unstored.overflow(window, FlatFat.MaxCapacity)
    assert(error.getMessage.contains(FlatFat.MaxCapacity.toString))
    window.insert()
    assert(window.size == 1)
    window.evict()
    window.open() // takes the evicted element's place
  }
}
