package io.sash.spark.plan

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.CalendarIntervalType

/** Frames as a user would write them; Catalyst folds `9 PRECEDING` to the offset -9. */
private[spark] object FrameText {
  def apply(frame: SpecifiedWindowFrame): String =
    s"${frame.frameType.sql} BETWEEN ${bound(frame.lower)} AND ${bound(frame.upper)}"

  private def bound(expression: Expression): String = expression match {
    case special: SpecialFrameBoundary                       => special.sql
    case offset if !offset.foldable || offset.eval() == null => offset.sql
    case offset => offsetText(Literal(offset.eval(), offset.dataType))
  }

  private def offsetText(offset: Literal): String = {
    val zero = Literal.default(offset.dataType)
    val precedes = offset.dataType match {
      case CalendarIntervalType => offset.sql.contains("-")
      case _                    => LessThan(offset, zero).eval() == true
    }
    if (precedes) s"${Literal(new UnaryMinus(offset).eval(), offset.dataType).sql} PRECEDING"
    else s"${offset.sql} FOLLOWING"
  }
}
