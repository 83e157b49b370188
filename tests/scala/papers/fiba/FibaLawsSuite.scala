package io.sash.papers.fiba

import org.scalacheck.Gen
import org.scalacheck.Prop.forAll
import org.scalatest.tags.Slow

import io.sash.core.{Laws, Operation}

/** Every operation × minimum arity × random schedules, with exceptions and without. */
@Slow
class FibaLawsSuite extends Laws {
  private val arities = Seq(2, 4, 8)

  /**
   * The free monoid needs many tree shapes, and so does one that commutes. The other operations
   * only test the operation.
   */
  private def runs(operation: Operation[_]): Int =
    if (operation == Operation.Collect || operation.commutes) 150 else 15

  for {
    minArity <- arities
    operation <- Operation.All
  } law(s"FiBA of minimum arity $minArity and $operation equals a sorted map", runs(operation)) {
    forAll(FibaStep.schedule)(s => new FibaLaws(new Window(operation, minArity)).hold(s))
  }

  for {
    minArity <- arities
    operation <- Seq(Operation.Collect, Operation.Sum)
  } {
    law(s"FiBA of minimum arity $minArity and $operation after exceptions", runs = 30) {
      forAll(FibaStep.schedule)(s =>
        new FibaLaws(new Window(operation, minArity)).holdAfterFailures(s)
      )
    }
    law(s"FiBA of minimum arity $minArity and $operation without failed steps", runs = 60) {
      forAll(failing)(s => new FibaLaws(new Window(operation, minArity)).holdWithoutFailed(s))
    }
  }

  /** Steps. Half of them fail at one of their first combines. */
  private def failing: Gen[List[(FibaStep, Int)]] = for {
    steps <- FibaStep.schedule
    calls <- Gen.listOfN(
      steps.length,
      Gen.frequency(1 -> Gen.const(0), 1 -> Gen.oneOf(Gen.choose(1, 5), Gen.choose(1, 60)))
    )
  } yield steps.zip(calls)
}
