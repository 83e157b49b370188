package io.sash.spark.labels

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.DayTimeIntervalType

import io.sash.spark.windows.TimestampPlusMicros

/** Expressions of a subquery as the user wrote them. */
private[labels] object LabelText {
  def apply(e: Expression): String = {
    val plain = e.transformUp {
      case OuterReference(a)                                          => a
      case c: Cast if c.getTagValue(Cast.USER_SPECIFIED_CAST).isEmpty => c.child
      case FirstTime(number, _, _)                                    => number
      case TimestampPlusMicros(time, n) if n < 0 => new Subtract(time, micros(-n))
      case TimestampPlusMicros(time, n)          => new Add(time, micros(n))
    }
    // a function that Spark replaces keeps its arguments beside the tree
    Outer.replaceAllIn(plain.sql, _.group(1).replace("$", "\\$"))
  }

  private def micros(n: Long): Expression = Literal(n, DayTimeIntervalType())

  private val Outer = """outer\(([^()]+)\)""".r
}
