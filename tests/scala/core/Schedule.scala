package io.sash.core

import org.scalacheck.Gen

/** One call on a window. */
sealed trait Step

object Step {
  final case class Open(value: Int) extends Step
  case object Insert extends Step
  case object Evict extends Step
  final case class Slide(value: Int) extends Step
  case object Query extends Step
  case object Clear extends Step
  case object Relocate extends Step
}

/** Random sequences of calls. A runner skips calls that the state does not allow. */
object Schedule {
  import Step._

  /** Few distinct values, so that ties are common. */
  private val open: Gen[Step] = Gen.choose(-5, 5).map(Open(_))
  private val slide: Gen[Step] = Gen.choose(-5, 5).map(Slide(_))

  private def steps(count: Int, weights: (Int, Gen[Step])*): Gen[List[Step]] =
    Gen.choose(0, count).flatMap(Gen.listOfN(_, Gen.frequency(weights: _*)))

  /** Opens slots ahead of inserting, like a frame that looks ahead. */
  private val mixed: Gen[List[Step]] =
    steps(
      80,
      5 -> open,
      1 -> slide,
      5 -> Gen.const(Insert),
      3 -> Gen.const(Evict),
      4 -> Gen.const(Query)
    )

  /** Fills a window past the initial capacity, with a few slots open. */
  private val filling: Gen[List[Step]] =
    steps(150, 10 -> open, 9 -> Gen.const(Insert), 1 -> Gen.const(Evict), 1 -> Gen.const(Query))

  private val draining: Gen[List[Step]] =
    steps(150, 1 -> open, 2 -> Gen.const(Insert), 8 -> Gen.const(Evict), 2 -> Gen.const(Query))

  private val sliding: Gen[List[Step]] = {
    val turn = Gen.oneOf(open.map(List(_, Insert, Evict)), slide.map(List(_, Insert)))
    Gen.choose(0, 60).flatMap(Gen.listOfN(_, turn)).map(_.flatMap(_ :+ Query))
  }

  private val reset: Gen[List[Step]] = Gen.oneOf(List(Clear), List(Relocate), Nil)

  val random: Gen[List[Step]] =
    Gen.choose(1, 8).flatMap { phases =>
      Gen.listOfN(phases, Gen.oneOf(mixed, filling, draining, sliding, reset)).map(_.flatten)
    }
}
