package io.sash.core

import org.scalacheck.Prop.{forAll, propBoolean}

/** `combines`, which the operator reports, is what the algorithm really called. */
class CountingSuite extends Laws {
  for {
    algorithm <- WindowAlgorithm.All
    operation <- Seq(Operation.Sum, Operation.Max)
    if algorithm.accepts(operation)
  } law(s"$algorithm of $operation counts its calls") {
    forAll(Schedule.random) { schedule =>
      val s = new Slider(algorithm, operation)
      InOrderLaws.equalsRecalculation(s, schedule.filter(_ != Step.Relocate)) &&
      (s.window.combines == s.column.operations) :|
        s"${s.window.combines} reported, ${s.column.operations} called"
    }
  }
}
