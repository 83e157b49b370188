package io.sash.papers.fiba

import org.scalacheck.Gen
import org.scalacheck.Prop.forAll
import org.scalatest.tags.Slow

import io.sash.core.{Laws, Operation, TestColumn}

/** Every operation × minimum arity × random schedules, and every store. */
@Slow
class FibaLawsSuite extends Laws {
  private val arities = Seq(2, 4, 8)

  /** The free monoid needs many tree shapes; the other operations only test the operation. */
  private def runs(operation: Operation[_]): Int = if (operation == Operation.Collect) 150 else 15

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

  for (minArity <- arities)
    law(s"so it does with nodes of arity $minArity that live elsewhere", runs = 25) {
      forAll(FibaStep.schedule) { schedule =>
        val operation = Operation.Collect
        val store = new LoadingStore(TestColumn(operation), minArity)
        val window = new Window(operation, store)
        new FibaLaws(window, () => store.flush()).hold(schedule.filter(_ != FibaStep.Relocate))
      }
    }

  test("a window takes up the tree that it finds in a store") {
    val store = new LoadingStore(TestColumn(Operation.Concat), 2)
    val before = new Window(Operation.Concat, store)
    before.bulkInsertAt(0L until 100L)
    before.fiba.bulkEvict(9)
    before.fiba.evict()
    store.flush()
    val after = new Window(Operation.Concat, store)
    assert(after.query() == before.query() && after.fiba.size == 89)
    assert(new Invariants(after).broken.isEmpty)
  }
}
