package io.sash.spark.times

import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult.TypeCheckSuccess
import org.apache.spark.sql.catalyst.expressions.{BinaryExpression, Expression}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodeGenerator, CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.types._

import io.sash.spark.base.{ArgumentChecks, TimeUnit}
import io.sash.spark.base.TimeUnit.{Day, Micro}

/**
 * The time of a row, moved on until the row leaves its window: `time` and a number of its units,
 * which are microseconds, days, or 1. NULL if its type has no such time, since the row then
 * never leaves. It has the watermark of `time`, which stands below.
 *
 * Streams find in it that a query answers when rows leave: see `StreamingWrite`.
 *
 * @param after a BIGINT, which is 0 for a row that comes
 */
private[spark] final case class LeavingTime(time: Expression, after: Expression)
    extends BinaryExpression {
  override def prettyName: String = LeavingTime.Name

  override def left: Expression = time

  override def right: Expression = after

  override def checkInputDataTypes(): TypeCheckResult = (time.dataType, after.dataType) match {
    case (TimeUnit(Day | Micro), LongType)              => TypeCheckSuccess
    case (of, LongType) if ArgumentChecks.isInteger(of) => TypeCheckSuccess
    case (_, LongType) => ArgumentChecks.unexpectedTime("ts", time, "\"TIMESTAMP\"")
    case _             => ArgumentChecks.unexpectedType("after", after, "\"BIGINT\"")
  }

  override def dataType: DataType = time.dataType

  override def nullable: Boolean = true

  override def nullIntolerant: Boolean = true

  override protected def nullSafeEval(time: Any, after: Any): Any = {
    val (from, by) = (time.asInstanceOf[Number].longValue, after.asInstanceOf[Long])
    val end = from + by
    if (LeavingTime.overflows(from, by)) null
    else
      dataType match {
        case IntegerType | TimeUnit(Day) => if (end.isValidInt) end.toInt else null
        case ShortType                   => if (end.isValidShort) end.toShort else null
        case ByteType                    => if (end.isValidByte) end.toByte else null
        case _                           => end
      }
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val java = CodeGenerator.javaType(dataType)
    val owner = LeavingTime.getClass.getName.stripSuffix("$")
    nullSafeCodeGen(
      ctx,
      ev,
      (time, after) => s"""
        ${ev.value} = ($java) ($time + $after);
        ${ev.isNull} = $owner.overflows($time, $after) || ${ev.value} != $time + $after;
      """
    )
  }

  override protected def withNewChildrenInternal(
      newLeft: Expression,
      newRight: Expression
  ): LeavingTime = copy(newLeft, newRight)
}

private[sash] object LeavingTime {
  val Name: String = "leaving_time"

  def isIn(plan: LogicalPlan): Boolean =
    plan.exists(_.expressions.exists(_.exists(_.isInstanceOf[LeavingTime])))

  /** Generated code calls it. */
  def overflows(time: Long, after: Long): Boolean = {
    val end = time + after
    ((time ^ end) & (after ^ end)) < 0
  }
}
