package io.sash.spark.monoids

import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodeGenerator, CodegenContext, ExprCode}
import org.apache.spark.sql.types._

/**
 * Reads the number inside an integer or interval as another such type. A shorter type drops the
 * upper bits. Unlike a cast, it allows any two of these types.
 */
private[spark] final case class ReadAs(child: Expression, dataType: DataType)
    extends UnaryExpression {
  override def prettyName: String = "read_as"

  override def nullIntolerant: Boolean = true

  override protected def nullSafeEval(number: Any): Any = {
    val value = number.asInstanceOf[Number].longValue
    if (CodeGenerator.javaType(dataType) == CodeGenerator.JAVA_INT) value.toInt else value
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
    defineCodeGen(ctx, ev, number => s"((${CodeGenerator.javaType(dataType)}) $number)")

  override protected def withNewChildInternal(newChild: Expression): ReadAs =
    copy(child = newChild)
}
