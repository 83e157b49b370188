package io.sash.spark.windows

import scala.util.Try

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.CalendarIntervalType

/**
 * Prints frames as SQL. Catalyst has folded `9 PRECEDING` to the offset -9; it is printed as
 * PRECEDING again.
 */
private[spark] object FrameSourceText {
  def apply(frame: SpecifiedWindowFrame): String =
    s"${frame.frameType.sql} BETWEEN ${bound(frame.lower)} AND ${bound(frame.upper)}"

  private def bound(expression: Expression): String = expression match {
    case special: SpecialFrameBoundary                       => special.sql
    case offset if !offset.foldable || offset.eval() == null => offset.sql
    case offset => offsetText(Literal(offset.eval(), offset.dataType))
  }

  /**
   * The offset as PRECEDING or FOLLOWING. The least value of a type has no negation, so it is
   * written unchanged, with FOLLOWING.
   */
  private def offsetText(offset: Literal): String =
    Option
      .when(isNegative(offset))(Try(Literal(new UnaryMinus(offset).eval(), offset.dataType)))
      .flatMap(_.toOption)
      .filterNot(isNegative)
      .fold(s"${offset.sql} FOLLOWING")(preceding => s"${preceding.sql} PRECEDING")

  private def isNegative(offset: Literal): Boolean = offset.dataType match {
    case CalendarIntervalType => offset.sql.contains("-")
    case _                    => LessThan(offset, Literal.default(offset.dataType)).eval() == true
  }
}
