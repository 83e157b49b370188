package io.sash.spark.slices

/**
 * Decides whether events are looked up in the index. If most events of a block pass, the next 15
 * blocks pass without a look-up. So if look-ups drop nothing, one event in sixteen pays for one.
 */
private[slices] final class Sieve {
  import Sieve._

  private[this] var rows = 0
  private[this] var passed = 0
  private[this] var isOn = true

  /** Counts an event. True if it passes without a look-up. */
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

  /** The number of blocks without look-ups after a block from which few events were dropped. */
  private val Resting = 15

  /** If a greater share of a block passes, look-ups cost more than they spare the exchange. */
  private val MostPassed = 0.75
}
