package io.sash.spark.slots

import org.apache.spark.sql.catalyst.expressions.{Attribute, BindReferences, Expression}
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.types.DataType

/** Generates Java code that reads, evaluates and writes the cells of slots. */
private[slots] abstract class SlotSource(program: SlotProgram) {
  protected val ctx = new CodegenContext
  protected val columns: IndexedSeq[Attribute] = program.columns.toIndexedSeq
  private val schema: Seq[Attribute] = program.input ++ columns ++ program.right

  protected def javaType(i: Int): String = CodeGenerator.javaType(columns(i).dataType)

  protected def arrayType(i: Int): String = s"${javaType(i)}[]"

  /**
   * An empty array in Java. If elements are arrays themselves, the length is in the first
   * brackets.
   */
  protected def emptyArray(i: Int): String =
    if (javaType(i) == "byte[]") "byte[0][]" else s"${javaType(i)}[0]"

  protected def resized(i: Int): String =
    s"v$i = (${arrayType(i)}) java.util.Arrays.copyOf(v$i, slots);" +
      (if (columns(i).nullable) s" n$i = java.util.Arrays.copyOf(n$i, slots);" else "")

  /**
   * The cells of the slot whose index is in the Java variable `index`, as inputs of generated
   * code.
   */
  protected def cells(index: String): Seq[ExprCode] = columns.indices.map { i =>
    val isNull =
      if (columns(i).nullable) JavaCode.isNullExpression(s"n$i[$index]") else FalseLiteral
    ExprCode(EmptyBlock, isNull, JavaCode.expression(s"v$i[$index]", columns(i).dataType))
  }

  private def noCells: Seq[ExprCode] = Seq.fill(columns.length)(null)

  /** Loads each cell that `expressions` refer to into a local variable, once. */
  private def loaded(
      side: Seq[ExprCode],
      from: Seq[Attribute],
      expressions: Seq[Expression]
  ): (String, Seq[ExprCode]) = {
    val used = expressions.flatMap(_.references.toSeq).map(_.exprId).toSet
    val pairs = from.zip(side).map { case (a, cell) =>
      if (cell == null || !used(a.exprId)) {
        ("", cell)
      } else {
        val value = ctx.freshName("cell")
        val javaType = CodeGenerator.javaType(a.dataType)
        val isNull = ctx.freshName("cellIsNull")
        val nullLine = if (a.nullable) s"boolean $isNull = ${cell.isNull};" else ""
        (
          s"$nullLine $javaType $value = ${cell.value};",
          ExprCode(
            EmptyBlock,
            if (a.nullable) JavaCode.isNullVariable(isNull) else FalseLiteral,
            JavaCode.variable(value, a.dataType)
          )
        )
      }
    }
    (pairs.map(_._1).filter(_.nonEmpty).mkString("\n"), pairs.map(_._2))
  }

  /**
   * Code that evaluates `expressions` over the input row, if there is one, and the slots left and
   * right.
   */
  protected def evaluate(
      expressions: Seq[Expression],
      left: Option[String],
      right: Option[String],
      row: Option[String]
  ): (String, Seq[ExprCode]) =
    evaluateOver(expressions, left.fold(noCells)(cells), right.fold(noCells)(cells), row)

  protected def evaluateOver(
      expressions: Seq[Expression],
      left: Seq[ExprCode],
      right: Seq[ExprCode],
      row: Option[String]
  ): (String, Seq[ExprCode]) = {
    val (leftLoads, leftVars) = loaded(left, columns, expressions)
    val (rightLoads, rightVars) = loaded(right, program.right, expressions)
    ctx.INPUT_ROW = row.orNull
    ctx.currentVars =
      if (left == noCells && right == noCells && row.isDefined) null
      else Seq.fill[ExprCode](program.input.length)(null) ++ leftVars ++ rightVars
    val codes = expressions.map(e => BindReferences.bindReference(e, schema).genCode(ctx))
    val code = (leftLoads +: rightLoads +: codes.map(_.code.toString)).mkString("\n")
    ctx.INPUT_ROW = null
    ctx.currentVars = null
    (code, codes)
  }

  protected def assign(i: Int, dst: String, code: ExprCode, copied: Boolean): String = {
    val dataType = columns(i).dataType
    val value =
      if (copied && !SlotProgram.isPrimitive(dataType)) {
        s"(${CodeGenerator.boxedType(dataType)}) InternalRow.copyValue(${code.value})"
      } else {
        code.value.toString
      }
    val nullLine = if (columns(i).nullable) s"n$i[$dst] = ${code.isNull};" else ""
    s"v$i[$dst] = $value; $nullLine"
  }

  protected def method(signature: String, body: String): String =
    s"public $signature {\n$body\n}"

  /**
   * If values vary in size, adds code that counts the change of their size in the written slots.
   */
  protected def measured(parameters: String, body: String): String = {
    val bytes =
      if (parameters.contains("int dst")) "valueBytesOf(dst)"
      else if (parameters.startsWith("int first")) "valueBytesOf(first, last)"
      else ""
    if (program.varying.isEmpty || bytes.isEmpty) {
      body
    } else {
      // in a finally block, since a body that throws may have written some cells
      s"long before = $bytes;\ntry {\n$body\n} finally { valuesChanged(before, $bytes); }"
    }
  }

  protected def written(
      out: String,
      ordinal: Int,
      dataType: DataType,
      nullable: Boolean,
      value: ExprCode
  ): String = {
    val set = CodeGenerator.setColumn(out, dataType, ordinal, value.value)
    if (nullable) s"if (${value.isNull}) { $out.setNullAt($ordinal); } else { $set; }"
    else s"$set;"
  }

  /** The cells of a part in local variables of the generated method. */
  protected final class RunningAggregate(part: SlotProgram.Part) {
    val combine: Seq[Expression] = part.combine
    private val ordinals = part.first until part.first + combine.length
    private val values = ordinals.map(_ -> ctx.freshName("running")).toMap

    /** The variables as the cells of a slot, for generated expressions. */
    val cells: Seq[ExprCode] = columns.indices.map { i =>
      values
        .get(i)
        .map { name =>
          val isNull =
            if (columns(i).nullable) JavaCode.isNullVariable(s"${name}IsNull") else FalseLiteral
          ExprCode(EmptyBlock, isNull, JavaCode.variable(name, columns(i).dataType))
        }
        .orNull
    }

    def load(slot: String): String = each { (i, name) =>
      val isNull = if (columns(i).nullable) s"boolean ${name}IsNull = n$i[$slot];" else ""
      s"${javaType(i)} $name = v$i[$slot]; $isNull"
    }

    /**
     * Assigns the variables one by one, in any order, since the expressions read copies of them.
     */
    def set(to: Seq[ExprCode]): String = each { (i, name) =>
      val code = to(i - part.first)
      val isNull = if (columns(i).nullable) s"${name}IsNull = ${code.isNull};" else ""
      s"$name = ${code.value}; $isNull"
    }

    def store(slot: String): String = each { (i, name) =>
      val isNull = if (columns(i).nullable) s"n$i[$slot] = ${name}IsNull;" else ""
      s"v$i[$slot] = $name; $isNull"
    }

    private def each(code: (Int, String) => String): String =
      ordinals.map(i => code(i, values(i))).mkString("\n")
  }
}
