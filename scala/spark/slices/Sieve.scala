package io.sash.spark.slices

/**
 * Tells when events are looked up. If nearly all events of a block pass, the next blocks pass
 * without a look. So a look-up that keeps nothing back costs one event in sixteen.
 * Each task has its own.
 */
private[slices] final class Sieve {
  import Sieve._

  private[this] var rows = 0
  private[this] var passed = 0
  private[this] var isOn = true

  /** Counts an event; whether it passes without a look. */
  def rests(): Boolean = {
    if (rows >= Block) turn()
    rows += 1
    !isOn
  }

  /** Counts an event that was looked up and passes. */
  def pass(): Unit = passed += 1

  private def turn(): Unit = {
    isOn = !isOn || passed < Block * MostPassed
    rows = if (isOn) 0 else Block * (1 - Resting)
    passed = 0
  }
}

private[slices] object Sieve {
  private val Block = 4096

  /** The blocks that pass without a look after one that hardly lost an event. */
  private val Resting = 15

  /** The share of events above which the exchange of the others costs less than look-ups. */
  private val MostPassed = 0.75
}
