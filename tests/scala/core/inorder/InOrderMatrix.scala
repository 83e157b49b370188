package io.sash.core.inorder

import org.scalacheck.{Gen, Prop}
import org.scalacheck.Prop.{forAll, propBoolean}

import io.sash.core.{Element, Laws, Operation, Schedule, Step}

/** Each of the algorithms × every operation that it accepts × random schedules. */
abstract class InOrderMatrix(algorithms: Seq[WindowAlgorithm]) extends Laws {
  for {
    algorithm <- algorithms
    operation <- Operation.All
    if algorithm.accepts(operation)
  } law(s"$algorithm of $operation equals recalculation") {
    forAll(Schedule.random)(s =>
      InOrderLaws.equalsRecalculation(new Slider(algorithm, operation), s)
    )
  }

  for {
    algorithm <- algorithms
    operation <- Seq(Operation.Collect, Operation.Sum, Operation.Max, Operation.LastEven)
    if algorithm.accepts(operation)
  } {
    law(s"$algorithm of $operation is after an exception what it was before", runs = 20) {
      forAll(Schedule.random)(s =>
        InOrderLaws.survivesExceptions(new Slider(algorithm, operation), s)
      )
    }
    law(s"$algorithm of $operation goes on without a call that has failed", runs = 100) {
      forAll(failing)(s => InOrderLaws.forgetsFailedCalls(new Slider(algorithm, operation), s))
    }
  }

  /** Steps. One in three fails at one of its first calls. */
  private def failing: Gen[List[(Step, Int)]] = for {
    steps <- Schedule.random
    calls <- Gen.listOfN(
      steps.length,
      Gen.frequency(2 -> Gen.const(0), 1 -> Gen.oneOf(Gen.choose(1, 3), Gen.choose(1, 40)))
    )
  } yield steps.zip(calls)

  for {
    algorithm <- algorithms
    operation <- Seq(Operation.Sum, Operation.Collect, Operation.Max)
    if algorithm.accepts(operation)
  } law(s"$algorithm of $operation coalesces open elements into one", runs = 50) {
    forAll(Gen.listOf(Gen.choose(1, 4)))(coalesced(new Slider(algorithm, operation), _))
  }

  /** Elements in groups of the given lengths. Each group enters a window of 5 as one element. */
  private def coalesced[A](s: Slider[A], lengths: List[Int]): Prop = {
    val window = s.window
    val groups = lengths.zipWithIndex.map { case (length, i) =>
      Seq.tabulate(length)(j => Element((i + j) % 3, 10 * i + j))
    }
    val wrong = groups.indices.find { i =>
      groups(i).zipWithIndex.foreach { case (element, j) =>
        s.open(element)
        if (j > 0) window.coalesce()
      }
      s.open(Element(99, 99))
      window.discard()
      val partial = s.column(window.oldestOpen)
      window.insert()
      if (window.size > 5) window.evict()
      val last = groups.slice(i - 4, i + 1).flatten
      partial != s.operation.aggregate(groups(i)) || s.query() != s.operation.aggregate(last)
    }
    wrong.isEmpty :| s"group ${wrong.getOrElse(0)} of $lengths"
  }

  test("the trace of section 2.3 of the DABA Lite paper: maxcount over 4 5 3 4 0 4 4") {
    for (algorithm <- algorithms if algorithm.accepts(Operation.MaxCount)) {
      val s = new Slider(algorithm, Operation.MaxCount)
      Seq(4, 5, 3, 4, 0, 4, 4).foreach(v => s.insert(Element(v, 0)))
      assert(s.query() == ((5, 1)), algorithm)
      s.window.evict()
      assert(s.query() == ((5, 1)), algorithm)
      s.window.evict()
      assert(s.query() == ((4, 3)), algorithm)
      s.insert(Element(2, 0))
      assert(s.query() == ((4, 3)), algorithm)
      s.insert(Element(6, 0))
      assert(s.query() == ((6, 1)), algorithm)
    }
  }
}
