package io.sash.spark.slots

import org.apache.spark.sql.catalyst.expressions.codegen.{CodeGenerator, CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.types.DataType

/** Java code that unboxes an object; null stands for NULL. */
private[spark] object Unboxed {

  /** Makes `ev` the value of the Java expression `answer`. */
  def apply(ctx: CodegenContext, ev: ExprCode, dataType: DataType, answer: String): ExprCode = {
    val boxed = ctx.freshName("answer")
    val java = CodeGenerator.javaType(dataType)
    ev.copy(code = code"""
      Object $boxed = $answer;
      boolean ${ev.isNull} = $boxed == null;
      $java ${ev.value} = ${ev.isNull} ? ${CodeGenerator.defaultValue(dataType)} :
        ((${CodeGenerator.boxedType(dataType)}) $boxed);""")
  }
}
