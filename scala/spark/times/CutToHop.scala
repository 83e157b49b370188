package io.sash.spark.times

import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.types.DataType

import io.sash.spark.base.TimeUnit

/**
 * Rounds a value down, or up, to a multiple of a hop. Multiples count from 0, which is 1970-01-01
 * 00:00:00 UTC for a timestamp. A result beyond BIGINT becomes its least or greatest value. NULL
 * for NULL.
 *
 * @param child a BIGINT, a DATE or a timestamp
 * @param hop the hop: in days for a DATE, in microseconds for a timestamp
 * @param isUp whether to round up
 */
private[spark] final case class CutToHop(child: Expression, hop: Long, isUp: Boolean)
    extends UnaryExpression {
  override def prettyName: String = "cut_to_hop"
  override def dataType: DataType = child.dataType
  override def nullIntolerant: Boolean = true
  override def sql: String = s"$prettyName(${child.sql}, $hop${if (isUp) ", up" else ""})"

  private def isInDays: Boolean = TimeUnit.Day.isUnitOf(dataType)

  override protected def nullSafeEval(place: Any): Any = {
    val cut = CutToHop.of(place.asInstanceOf[Number].longValue, hop, isUp)
    if (isInDays) cut.toInt else cut
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val owner = CutToHop.getClass.getName.stripSuffix("$")
    val cast = if (isInDays) "(int) " else ""
    defineCodeGen(ctx, ev, place => s"$cast$owner.of($place, ${hop}L, $isUp)")
  }

  override protected def withNewChildInternal(newChild: Expression): CutToHop =
    copy(child = newChild)
}

private[sash] object CutToHop {

  /** Generated code calls this method. */
  def of(place: Long, hop: Long, isUp: Boolean): Long = {
    val rest = Math.floorMod(place, hop)
    if (rest == 0L) place
    else if (isUp)
      if (place > Long.MaxValue - (hop - rest)) Long.MaxValue else place + (hop - rest)
    else if (place < Long.MinValue + rest) Long.MinValue
    else place - rest
  }
}
