package io.sash.papers.mta

import org.scalacheck.{Gen, Prop}
import org.scalacheck.Prop.forAll

import io.sash.core.{Laws, Operation}

/** Every algorithm × every operation × random schedules with bulk evictions and policies. */
class MtaLawsSuite extends Laws {
  private def equalsRecalculation[A](algorithm: MtaAlgorithm, operation: Operation[A]): Prop =
    forAll(Move.schedules) { schedule =>
      val slider = new MtaSlider(algorithm, Both(Count, operation))
      MtaLaws.equalsRecalculation(slider, schedule, _ => None)
    }

  for {
    algorithm <- MtaAlgorithm.All
    operation <- Operation.All :+ LongestRun
  } law(s"$algorithm of $operation equals recalculation", runs = 100) {
    equalsRecalculation(algorithm, operation)
  }

  for (algorithm <- MtaAlgorithm.Failing)
    law(s"$algorithm goes on without a call that has failed", runs = 150) {
      forAll(failing) { schedule =>
        val slider = new MtaSlider(algorithm, Both(Count, Operation.Collect))
        MtaLaws.forgetsFailedCalls(slider, schedule)
      }
    }

  /** Moves. One in three fails at one of its first calls. */
  private def failing: Gen[List[(Move, Int)]] = for {
    moves <- Move.schedules
    calls <- Gen.listOfN(
      moves.length,
      Gen.frequency(2 -> Gen.const(0), 1 -> Gen.choose(1, 6))
    )
  } yield moves.zip(calls)

  for (algorithm <- MtaAlgorithm.All) law(s"the invariants of $algorithm", runs = 50) {
    forAll(Move.schedules) { schedule =>
      val slider = new MtaSlider(algorithm, Both(Count, Operation.Collect))
      MtaLaws.equalsRecalculation(slider, schedule, MtaInvariants.broken(slider))
    }
  }
}
