package io.sash.papers.algebra

import java.util.Objects

/**
 * The strings, concatenated in arrival order.
 *
 * Types: String, String, String. Identity: "". Associative, invertible; not commutative. Cost:
 * the length of the result. A null is refused.
 * {{{
 * Concatenate.aggregate("sa", "sh") == "sash"
 * }}}
 * Paper: a [[Collect]] of characters.
 */
object Concatenate extends InvertibleAggregation[String, String, String] {
  override def identity: String = ""
  override def lift(in: String): String =
    Objects.requireNonNull(in, "a null cannot be concatenated")
  override def combine(older: String, younger: String): String = older + younger
  override def subtract(whole: String, oldest: String): String = whole.substring(oldest.length)
  override def lower(agg: String): String = agg
}
