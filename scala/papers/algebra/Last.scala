package io.sash.papers.algebra

/**
 * The youngest element. An empty window answers None.
 *
 * Types: T, Option[T], Option[T]. Identity: None. Associative, selective; not commutative. A null
 * and a NaN are elements like any other.
 * {{{
 * Last[String].aggregate("b", "c", "a") == Some("a")
 * }}}
 * Paper: Reactive Aggregator, section 1.
 */
final class Last[T] private extends Selection[T, T] {
  override protected def replaces(younger: T, older: T): Boolean = true
  override protected def answer(in: T): T = in
}

object Last {
  def apply[T]: Last[T] = new Last[T]
}
