package io.sash.spark

import org.scalatest.Tag

/**
 * Tests that take long and say of more cases what others say of some: `make test` leaves them out,
 * `make test-long` runs them, too.
 */
object Thorough extends Tag("io.sash.Thorough") {

  /** Whether they run. */
  val isOn: Boolean = sys.env.get("SASH_TEST").contains("all")

  /** How many random cases a test draws: a quarter of them, unless thorough tests run. */
  def times(all: Int): Int = if (isOn) all else (all + 3) / 4
}
