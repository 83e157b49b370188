package io.sash.spark.lateral

import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.types.{DataType, LongType}

/**
 * The number of the part that holds a time, moved back by `shift`, if time is cut into parts of
 * `width`. All three are in days for a DATE, else in microseconds.
 */
private[lateral] final case class PartOfTime(child: Expression, shift: Long, width: Long)
    extends UnaryExpression {
  override def prettyName: String = "part_of_time"
  override def dataType: DataType = LongType
  override def nullIntolerant: Boolean = true
  override def sql: String = s"$prettyName(${child.sql}, $shift, $width)"

  override protected def nullSafeEval(time: Any): Any =
    PartOfTime.of(time.asInstanceOf[Number].longValue, shift, width)

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val part = PartOfTime.getClass.getName.stripSuffix("$")
    defineCodeGen(ctx, ev, time => s"$part.of($time, ${shift}L, ${width}L)")
  }

  override protected def withNewChildInternal(newChild: Expression): PartOfTime =
    copy(child = newChild)
}

private[lateral] object PartOfTime {

  /** Where the moved time is out of a BIGINT's range, the nearest BIGINT takes its place. */
  def of(time: Long, shift: Long, width: Long): Long = {
    val moved = time - shift
    val overflows = ((time ^ shift) & (time ^ moved)) < 0
    Math.floorDiv(
      if (!overflows) moved else if (time < 0) Long.MinValue else Long.MaxValue,
      width
    )
  }
}
