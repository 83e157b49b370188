package io.sash.spark

import scala.util.Random

import org.scalatest.Tag

/**
 * Tests that say of more cases what others say of some. Only `make test-all` runs them. Suites that
 * take more than ten seconds are `Slow`, with ScalaTest's own tag: `make test` leaves them out, and
 * `make test-long` runs them.
 */
object Thorough extends Tag("io.sash.Thorough") {

  /** Whether they run. */
  val isOn: Boolean = sys.env.get("SASH_TEST").contains("all")

  /** How many random cases a test draws: a quarter of them, unless thorough tests run. */
  def times(all: Int): Int = if (isOn) all else (all + 3) / 4

  /** A quarter of the cases, always the same ones, unless thorough tests run. */
  def some[A](all: Seq[A]): Seq[A] = new Random(1).shuffle(all).take(times(all.length))
}
