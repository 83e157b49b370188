package io.sash.core

import org.scalacheck.Prop.forAll

/** Every algorithm × every operation that it accepts × random schedules. */
class InOrderLawsSuite extends Laws {
  for {
    algorithm <- WindowAlgorithm.All
    operation <- Operation.All
    if algorithm.accepts(operation)
  } law(s"$algorithm of $operation equals recalculation") {
    forAll(Schedule.random)(s =>
      InOrderLaws.equalsRecalculation(new Slider(algorithm, operation), s)
    )
  }

  test("the matrix is as wide as the algorithms' needs allow") {
    val cells = WindowAlgorithm.All.map(a => Operation.All.count(a.accepts))
    assert(cells == Seq(11, 11, 3, 6))
  }
}
