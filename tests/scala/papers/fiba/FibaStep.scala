package io.sash.papers.fiba

import org.scalacheck.Gen

/**
 * One call on a FiBA. A place is a point in the window's time, in thousandths. It ranges from a
 * little before the oldest element to a little after the youngest, so a schedule suits every
 * window.
 */
sealed trait FibaStep

object FibaStep {

  /** Appends in order, `gap` after the youngest. */
  final case class Append(gap: Int, value: Int) extends FibaStep
  final case class Insert(place: Int, value: Int) extends FibaStep

  /** Inserts times from a place on, at these distances from one another. */
  final case class Bulk(place: Int, gaps: List[Int]) extends FibaStep
  case object Evict extends FibaStep
  final case class BulkEvict(place: Int) extends FibaStep
  final case class Remove(place: Int) extends FibaStep
  final case class Range(from: Int, to: Int) extends FibaStep
  case object Clear extends FibaStep
  case object Relocate extends FibaStep

  private val place: Gen[Int] = Gen.frequency(
    4 -> Gen.choose(0, 1000),
    1 -> Gen.choose(0, 50),
    2 -> Gen.choose(950, 1000),
    1 -> Gen.oneOf(0, 1000)
  )

  private val value: Gen[Int] = Gen.choose(-5, 5)

  private val append: Gen[FibaStep] =
    Gen.zip(Gen.frequency(1 -> 0, 9 -> Gen.choose(1, 4)), value).map((Append.apply _).tupled)

  private val insert: Gen[FibaStep] = Gen.zip(place, value).map((Insert.apply _).tupled)

  private def bulk(most: Int): Gen[FibaStep] = for {
    at <- place
    count <- Gen.choose(0, most)
    widest <- Gen.oneOf(1, 3, 20)
    gaps <- Gen.listOfN(count, Gen.choose(0, widest))
  } yield Bulk(at, gaps)

  private val bulkEvict: Gen[FibaStep] = place.map(BulkEvict)
  private val shortEvict: Gen[FibaStep] = Gen.choose(0, 200).map(BulkEvict)
  private val remove: Gen[FibaStep] = place.map(Remove)
  private val range: Gen[FibaStep] = Gen.zip(place, place).map((Range.apply _).tupled)
  private val evict: Gen[FibaStep] = Gen.const(Evict)

  private def steps(count: Int, weights: (Int, Gen[FibaStep])*): Gen[List[FibaStep]] =
    Gen.choose(0, count).flatMap(Gen.listOfN(_, Gen.frequency(weights: _*)))

  private val phase: Gen[List[FibaStep]] = Gen.oneOf(
    steps(60, 8 -> append, 4 -> evict, 1 -> range),
    steps(60, 8 -> insert, 2 -> evict, 3 -> remove, 2 -> range),
    steps(8, 4 -> bulk(60), 3 -> shortEvict, 1 -> range, 1 -> remove),
    steps(6, 1 -> bulk(200), 1 -> append, 1 -> insert),
    steps(60, 1 -> evict, 1 -> append),
    steps(40, 3 -> evict, 3 -> remove, 1 -> range),
    steps(12, 3 -> bulkEvict, 4 -> bulk(30), 1 -> append, 1 -> range),
    Gen.oneOf(List(Clear), List(Relocate), Nil)
  )

  val schedule: Gen[List[FibaStep]] =
    Gen.choose(1, 6).flatMap(Gen.listOfN(_, phase)).map(_.flatten)
}
