package io.sash.core

import org.scalacheck.Prop
import org.scalacheck.Test.Parameters
import org.scalacheck.rng.Seed
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.Checkers

/** Properties with a fixed seed. A failure prints the seed. */
trait Laws extends AnyFunSuite with Checkers {
  protected val seed = 20180326L

  protected def law(name: String, runs: Int = 200)(property: => Prop): Unit =
    test(name) {
      withClue(s"seed $seed: ") {
        check(
          property,
          Parameters.default.withInitialSeed(Seed(seed)).withMinSuccessfulTests(runs)
        )
      }
    }
}
