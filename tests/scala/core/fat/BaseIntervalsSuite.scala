package io.sash.core.fat

import org.scalacheck.{Gen, Prop}
import org.scalacheck.Prop.{forAll, forAllNoShrink, propBoolean}

import io.sash.core.{Element, Laws, Operation, Schedule, Step}
import io.sash.core.inorder.SlickDequeExample

/** B-Int as in section 2.2 of the SlickDeque paper: any range from one structure. */
class BaseIntervalsSuite extends Laws {
  private def driven[A](operation: Operation[A]): Driven[A, BaseIntervals] =
    new Driven(operation, new BaseIntervals(_))

  private def agrees[A](operation: Operation[A]): Prop =
    forAll(Schedule.random) { schedule =>
      val d = driven(operation)
      val wrong = schedule.zipWithIndex.iterator
        .flatMap { case (step, i) =>
          d.run(step)
          d.window.checkInvariants(d.isCombined)
          def shorter = (0 to d.held.size)
            .find(last =>
              step == Step.Query && d.column(d.window.query(last)) != d.expected(last)
            )
            .map(last => s"query($last)")
          d.disagreement(step).orElse(shorter).map(w => s"step $i, $step: $w")
        }
        .nextOption()
      wrong.isEmpty :| wrong.getOrElse("")
    }

  for (operation <- Operation.All)
    law(s"any schedule, any range: $operation equals the model", runs = 50)(agrees(operation))

  test("the ranges of examples 2 and 3 of the SlickDeque paper, from one structure") {
    val sums = driven(Operation.Sum)
    val maxima = driven(Operation.Max)
    val answers = SlickDequeExample.Stream.map { element =>
      for (d <- Seq(sums, maxima)) {
        if (d.window.size == SlickDequeExample.Ranges.max) d.run(Step.Evict)
        d.run(Step.Open(element.value))
        d.run(Step.Insert)
      }
      SlickDequeExample.Ranges.map { range =>
        val last = math.min(range, sums.window.size)
        val sum = sums.column(sums.window.query(last))
        val maximum = maxima.column(maxima.window.query(last))
        range -> ((sum, maximum.fold(Int.MinValue)(_.value)))
      }.toMap
    }
    for (range <- SlickDequeExample.Ranges) {
      assert(answers.map(_(range)._1) == SlickDequeExample.Sums(range))
      assert(answers.map(_(range)._2) == SlickDequeExample.Maxima(range))
    }
  }

  /** The fewest dyadic intervals that make up [first, until), found from the left. */
  private def fewest(first: Long, until: Long): Int =
    if (first >= until) 0
    else {
      val aligned = if (first == 0) until else first & -first
      1 + fewest(first + math.min(aligned, java.lang.Long.highestOneBit(until - first)), until)
    }

  law("a query takes the fewest intervals that make its range up, at most 2 log n") {
    forAllNoShrink(Gen.choose(1, 400), Gen.choose(0, 1000)) { (n, slides) =>
      val column = new RecordingColumn(Operation.Sum)
      val window = new BaseIntervals(column)
      (1 to n + slides).foreach { i =>
        column.lift(window.open(), Element(i, i))
        window.insert()
        if (i > n) window.evict()
      }
      val back = n + slides
      val costs = (1 to n).map(last => last -> column.combinedBy(window.query(last)).length)
      val wrong = costs.find { case (last, cost) =>
        cost != fewest(back.toLong - last, back.toLong) - 1 ||
        (last > 1 && cost > 2 * (31 - Integer.numberOfLeadingZeros(last)))
      }
      wrong.isEmpty :| s"(last, cost) = ${wrong.getOrElse("")} of $n after $back"
    }
  }

  law("insert takes at most log n combines and amortised under 1, open and evict none") {
    forAll(Schedule.random) { schedule =>
      val column = new RecordingColumn(Operation.Sum)
      val window = new BaseIntervals(column)
      var inserted = 0
      val dear = schedule.find {
        case Step.Open(value) =>
          val opening = column.combinedBy(column.lift(window.open(), Element(value, 0))).length
          val n = window.size + 1
          val inserting = column.combinedBy(window.insert()).length
          inserted += 1
          opening > 0 || inserting > 31 - Integer.numberOfLeadingZeros(n)
        case Step.Evict if window.size > 0 => column.combinedBy(window.evict()).nonEmpty
        case _                             => false
      }
      dear.isEmpty :| s"$dear" &&
      (column.combines <= inserted) :| s"${column.combines} combines for $inserted elements"
    }
  }

  law("space: grow asks for 2n slots, rounded up by doubling", runs = 20) {
    forAllNoShrink(Gen.choose(1, 5000)) { n =>
      val d = driven(Operation.Sum)
      (1 to n).foreach { i => d.run(Step.Open(i)); d.run(Step.Insert) }
      val capacity = d.column.capacity
      (capacity >= 2 * n && capacity <= 2 * math.max(16, 2 * n)) :| s"$capacity slots for $n"
    }
  }

  test("a range that is longer than the window, or negative") {
    val d = driven(Operation.Collect)
    (1 to 20).foreach { i => d.run(Step.Open(i)); d.run(Step.Insert) }
    d.run(Step.Open(21))
    d.run(Step.Evict)
    for (last <- Seq(-1, 20, 21, Int.MaxValue, Int.MinValue)) {
      val error = intercept[IllegalArgumentException](d.window.query(last))
      assert(error.getMessage == s"query($last) on a window of 19 elements")
      assert(d.disagreement(Step.Query).isEmpty)
    }
    assert(d.column(d.window.query(0)).isEmpty)
  }

  test("evicting from an empty window, inserting what is not open") {
    val d = driven(Operation.Collect)
    intercept[NoSuchElementException](d.window.evict())
    intercept[IllegalStateException](d.window.insert())
    assert(d.disagreement(Step.Query).isEmpty)
  }

  test("more open slots than a window can number") {
    val window = new BaseIntervals(new Unstored)
    val error = Unstored.overflow(window, BaseIntervals.MaxCapacity)
    assert(error.getMessage.contains(BaseIntervals.MaxCapacity.toString))
    window.insert()
    assert(window.size == 1)
    window.evict()
    window.open() // takes the evicted element's place
  }
}
