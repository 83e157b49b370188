package io.sash.spark.slots

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.expressions.{Ascending, NullsFirst, SortOrder}

/**
 * Generates the class of a [[SlotProgram]]. Each column is an array, a nullable column also an
 * array of null flags. Each part of each operation is a method.
 */
private[spark] object SlotCodegen {
  def compile(program: SlotProgram): SlotColumns = {
    val generator = new SlotCodegen(program)
    val code = generator.source()
    val (compiled, _) = CodeGenerator.compile(code)
    compiled.generate(generator.references).asInstanceOf[SlotColumns]
  }
}

private final class SlotCodegen(program: SlotProgram) extends SlotSource(program) {
  private val counted = "count();\n"

  def references: Array[Any] = ctx.references.toArray

  def source(): CodeAndComment = {
    val body = Seq(
      copyMethod,
      operation("identity", "int dst", _.identity),
      liftMethod,
      operation("combine", "int dst, int left, int right", _.combine, counted),
      suffixesMethod,
      foldMethod,
      operation("subtract", "int dst, int left, int right", _.subtract, counted),
      selectsRightMethod,
      lowerMethod,
      shiftMethod,
      compareMethod,
      matchesMethod,
      holdsMethod,
      saveMethod,
      loadMethod,
      valueBytesMethod
    ).mkString("\n")
    val arrays = columns.indices.map { i =>
      s"private ${arrayType(i)} v$i = new ${emptyArray(i)};" +
        (if (columns(i).nullable) s" private boolean[] n$i = new boolean[0];" else "")
    }
    val text =
      s"""
         |public Object generate(Object[] references) {
         |  return new SpecificSlotColumns(references);
         |}
         |final class SpecificSlotColumns extends ${classOf[SlotColumns].getName} {
         |  private Object[] references;
         |  ${arrays.mkString("\n  ")}
         |  ${ctx.declareMutableStates()}
         |  public SpecificSlotColumns(Object[] references) {
         |    this.references = references;
         |    ${ctx.initMutableStates()}
         |    ${ctx.initPartition()}
         |  }
         |  public ${classOf[SlotColumns].getName} fresh() {
         |    return new SpecificSlotColumns(references);
         |  }
         |  public void resize(int slots) {
         |    ${columns.indices.map(resized).mkString("\n    ")}
         |  }
         |  $body
         |  ${ctx.declareAddedFunctions()}
         |}
       """.stripMargin
    CodeFormatter.stripOverlappingComments(
      new CodeAndComment(text, ctx.getPlaceHolderToComments())
    )
  }

  /** An operation over slots, as a method that calls one method for each part. */
  private def operation(
      name: String,
      parameters: String,
      of: SlotProgram.Part => Seq[Expression],
      first: String = ""
  ): String = {
    val parts = program.parts.filter(of(_).nonEmpty)
    if (parts.isEmpty) {
      ""
    } else {
      val binary = parameters.contains("right")
      val methods = parts.zipWithIndex.map { case (part, k) =>
        val expressions = of(part)
        val (code, values) = evaluate(
          expressions,
          if (binary) Some("left") else None,
          if (binary) Some("right") else None,
          None
        )
        val assigns = values.zipWithIndex.map { case (v, i) =>
          assign(part.first + i, "dst", v, copied = false)
        }
        method(s"void $name$k($parameters)", code + "\n" + assigns.mkString("\n"))
      }
      dispatch(name, parameters, methods, first)
    }
  }

  private def dispatch(
      name: String,
      parameters: String,
      methods: Seq[String],
      first: String = ""
  ): String = {
    val arguments = parameters.split(", ").map(_.split(" ").last).mkString(", ")
    val calls = methods.indices.map(k => s"$name$k($arguments);").mkString(first, "\n", "")
    (methods :+ method(s"void $name($parameters)", measured(parameters, calls))).mkString("\n")
  }

  private def valueBytesMethod: String = if (program.varying.isEmpty) ""
  else {
    val of = s"${ValueBytes.getClass.getName.stripSuffix("$")}.of"
    val sum = program.varying.map(i => s"$of(v$i[slot])").mkString(" + ")
    method("long valueBytesOf(int slot)", s"return $sum;")
  }

  /** [[io.sash.core.slots.Partials.suffixes]], with the running aggregate in local variables. */
  private def suffixesMethod: String = running("suffixes", "int first, int last") { part =>
    val start = s"${part.load("last")}\nfor (int i = last - 1; i >= first; i--) {"
    val (code, values) = evaluateOver(part.combine, cells("i"), part.cells, None)
    Seq(start, code, part.set(values), part.store("i"), "}")
  }

  /** [[io.sash.core.slots.Partials.fold]], with the running aggregate in local variables. */
  private def foldMethod: String = running("fold", "int dst, int[] slots, int count") { part =>
    val start =
      s"${part.load("slots[0]")}\nfor (int i = 1; i < count; i++) { int slot = slots[i];"
    val (code, values) = evaluateOver(part.combine, part.cells, cells("slot"), None)
    Seq(start, code, part.set(values), "}", part.store("dst"))
  }

  private def running(name: String, parameters: String)(
      loop: RunningAggregate => Seq[String]
  ): String = {
    val parts = program.parts.filter(_.combine.nonEmpty)
    if (parts.isEmpty || program.running.nonEmpty) { // running answers have no partials
      ""
    } else {
      val methods = parts.zipWithIndex.map { case (part, k) =>
        method(s"void $name$k($parameters)", loop(new RunningAggregate(part)).mkString("\n"))
      }
      val combines = if (name == "fold") "count - 1" else "last - first"
      dispatch(name, parameters, methods, s"count($combines);\n")
    }
  }

  private def liftMethod: String = {
    val methods = program.parts.zipWithIndex.map { case (part, k) =>
      val (code, values) = evaluate(part.lift, None, None, Some("row"))
      val assigns = values.zipWithIndex.map { case (v, i) =>
        assign(part.first + i, "dst", v, copied = true)
      }
      method(s"void lift$k(int dst, InternalRow row)", code + "\n" + assigns.mkString("\n"))
    }
    dispatch("lift", "int dst, InternalRow row", methods)
  }

  private def copyMethod: String = writer(
    "void copy",
    "int dst, int src",
    columns.indices
      .map { i =>
        s"v$i[dst] = v$i[src];" + (if (columns(i).nullable) s" n$i[dst] = n$i[src];" else "")
      }
      .mkString("\n")
  )

  private def writer(name: String, parameters: String, body: String): String =
    method(s"$name($parameters)", measured(parameters, body))

  private def condition(
      signature: String,
      expression: Expression,
      right: Option[String],
      row: Option[String],
      left: String,
      first: String = ""
  ): String = {
    val (code, Seq(value)) = evaluate(Seq(expression), Some(left), right, row)
    method(signature, s"$first$code\nreturn !(${value.isNull}) && (${value.value});")
  }

  private def selectsRightMethod: String =
    program.parts.flatMap(_.selectsRight).headOption.fold("") {
      val signature = "boolean selectsRight(int left, int right)"
      condition(signature, _, Some("right"), None, "left", counted)
    }

  private def matchesMethod: String = program.matches.fold("") {
    condition("boolean matches(int slot, InternalRow row)", _, None, Some("row"), "slot")
  }

  private def holdsMethod: String = program.holds.fold("") {
    condition("boolean holds(int slot)", _, None, None, "slot")
  }

  private def lowerMethod: String = {
    val ranges = (0 until program.ranges).map(program.resultsOf)
    if (ranges.forall(_.isEmpty)) {
      ""
    } else {
      val methods = ranges.flatten.zipWithIndex.map { case ((ordinal, e), k) =>
        val row = Option.when(program.isOfRow)("current")
        val (code, Seq(value)) = evaluate(Seq(e), Some("slot"), None, row)
        method(
          s"void lower$k(int slot, InternalRow out)",
          row.fold("")(r =>
            s"InternalRow $r = current();\n"
          ) + s"$code\n${written("out", ordinal, e.dataType, e.nullable, value)}"
        )
      }
      val firsts = ranges.scanLeft(0)(_ + _.length)
      val cases = ranges.indices.map { r =>
        val own = (firsts(r) until firsts(r + 1)).map(k => s"lower$k(slot, out);")
        s"case $r: ${own.mkString(" ")} break;"
      }
      val body = s"switch (range) {\n${cases.mkString("\n")}\n}"
      (methods :+ method("void lower(int range, int slot, InternalRow out)", body)).mkString("\n")
    }
  }

  private def shiftMethod: String =
    if (program.keyShifts.isEmpty) {
      ""
    } else {
      val cases = program.keyShifts.zipWithIndex.map { case (e, k) =>
        val (code, Seq(value)) = evaluate(Seq(e), Some("src"), None, None)
        s"case $k: {\n$code\n${assign(0, "dst", value, copied = false)}\nbreak;\n}"
      }
      writer(
        "void shift",
        "int which, int dst, int src",
        s"switch (which) {\n${cases.mkString("\n")}\n}"
      )
    }

  private def compareMethod: String =
    if (program.keyOrder.isEmpty) {
      ""
    } else {
      val steps = program.keyOrder.map(comparison)
      method("int compare(int left, int right)", steps.mkString("\n") + "\nreturn 0;")
    }

  private def comparison(order: SortOrder): String = {
    val i = columns.indexWhere(_.exprId == order.child.references.head.exprId)
    val c = ctx.freshName("c")
    val compared = ctx.genComp(columns(i).dataType, s"v$i[left]", s"v$i[right]")
    val signed = if (order.direction == Ascending) c else s"-$c"
    val values = s"{ int $c = $compared; if ($c != 0) return $signed; }"
    if (!columns(i).nullable) {
      values
    } else {
      val nullLeft = if (order.nullOrdering == NullsFirst) -1 else 1
      s"""if (n$i[left] || n$i[right]) {
         |  if (!(n$i[left] && n$i[right])) return n$i[left] ? $nullLeft : ${-nullLeft};
         |} else $values""".stripMargin
    }
  }

  private def saveMethod: String = {
    val writes = columns.indices.map { i =>
      val cell = cells("slot")(i)
      val dataType = columns(i).dataType
      if (SlotProgram.isPrimitive(dataType)) {
        written("out", i, dataType, columns(i).nullable, cell)
      } else { // a slot never written holds null
        val unset = JavaCode.isNullExpression(s"(${cell.isNull} || v$i[slot] == null)")
        written("out", i, dataType, nullable = true, cell.copy(isNull = unset))
      }
    }
    method("void save(int slot, InternalRow out)", writes.mkString("\n"))
  }

  private def loadMethod: String = {
    val reads = columns.indices.map { i =>
      val dataType = columns(i).dataType
      val value = CodeGenerator.getValue("in", dataType, i.toString)
      val copied =
        if (SlotProgram.isPrimitive(dataType)) value
        else s"(${CodeGenerator.boxedType(dataType)}) InternalRow.copyValue($value)"
      if (columns(i).nullable) s"n$i[dst] = in.isNullAt($i); if (!n$i[dst]) v$i[dst] = $copied;"
      else s"v$i[dst] = $copied;"
    }
    writer("void load", "int dst, InternalRow in", reads.mkString("\n"))
  }
}
