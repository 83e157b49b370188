package io.sash.papers.algebra

/**
 * The oldest element. An empty window answers None.
 *
 * Types: T, Option[T], Option[T]. Identity: None. Associative, selective; not commutative. A null
 * and a NaN are elements like any other.
 * {{{
 * First[String].aggregate("b", "c", "a") == Some("b")
 * }}}
 * Paper: Reactive Aggregator, section 1.
 */
final class First[T] private extends Selection[T, T] {
  override protected def replaces(younger: T, older: T): Boolean = false
  override protected def answer(in: T): T = in
}

object First {
  def apply[T]: First[T] = new First[T]
}
