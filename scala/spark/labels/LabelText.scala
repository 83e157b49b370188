package io.sash.spark.labels

import org.apache.spark.sql.catalyst.expressions.{Cast, Expression, OuterReference}

/** Expressions of a subquery as the user wrote them. */
private[labels] object LabelText {
  def apply(e: Expression): String = {
    val plain = e.transformUp {
      case OuterReference(a)                                          => a
      case c: Cast if c.getTagValue(Cast.USER_SPECIFIED_CAST).isEmpty => c.child
    }
    // a function that Spark replaces keeps its arguments beside the tree
    Outer.replaceAllIn(plain.sql, _.group(1).replace("$", "\\$"))
  }

  private val Outer = """outer\(([^()]+)\)""".r
}
