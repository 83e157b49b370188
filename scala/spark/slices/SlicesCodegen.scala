package io.sash.spark.slices

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.types.{DataType, LongType}

import io.sash.spark.slots.{SlotProgram, ValueBytes}

/**
 * The cells of a slot. Primitive ones and the bits of NULLs are words that lie side by side, so
 * that an event meets few lines of the CPU's cache, however many aggregates there are. Objects
 * have an array for each cell.
 */
private[slices] final class SlotLayout(cells: Seq[Attribute]) {
  private val primitives = cells.indices.filter(isPrimitive)
  private val nullables = cells.indices.filter(cells(_).nullable)
  private val bitsPerWord = 64

  def isPrimitive(cell: Int): Boolean = SlotProgram.isPrimitive(cells(cell).dataType)

  /** The words of a slot. */
  val words: Int = primitives.length + (nullables.length + bitsPerWord - 1) / bitsPerWord

  def wordOf(cell: Int): Int = primitives.indexOf(cell)

  /** The word that has a cell's bit of NULL, and the bit. */
  def nullOf(cell: Int): (Int, String) = {
    val at = nullables.indexOf(cell)
    (primitives.length + at / bitsPerWord, s"${1L << (at % bitsPerWord)}L")
  }

  /** Whether a slot holds values that vary in size. */
  def varies: Boolean = cells.exists(c => ValueBytes.vary(c.dataType))

  /** The bytes of a slot, without values that vary in size. */
  def bytes: Int = 8 * words + cells.indices
    .filterNot(isPrimitive)
    .map { i =>
      val of = cells(i).dataType
      SlotProgram.ObjectOverhead + (if (ValueBytes.vary(of)) 0 else of.defaultSize)
    }
    .sum
}

/**
 * The slots of an operator in the fields of whole-stage code.
 *
 * @param input the events' columns
 * @param slots the variable of the [[SliceSlots]]
 */
private[slices] final class SlicesCodegen(
    partials: Seq[SlicePartial],
    input: Seq[Attribute],
    ctx: CodegenContext,
    slots: String
) {
  import SlicesCodegen._

  private val cells: Seq[Attribute] = partials.flatMap(_.monoid.left)
  private val layout = new SlotLayout(cells)

  private def field(javaType: String, empty: String): String =
    ctx.addMutableState(s"$javaType[]", "cells", v => s"$v = new $empty;", forceInline = true)

  private val words: String = field("long", "long[0]")

  /** The arrays of objects, by cell. */
  private val objects: Map[Int, String] =
    cells.indices.filterNot(layout.isPrimitive).map(i => i -> field("Object", "Object[0]")).toMap

  private def word(slot: String, number: Int): String =
    s"$words[$slot * ${layout.words} + $number]"

  private val first: Map[SlicePartial, Int] =
    partials.zip(partials.scanLeft(0)(_ + _.monoid.left.length)).toMap

  /** The variables that `code` declares for the cells of a slot. */
  private def loaded(ordinals: Seq[Int], slot: String): (String, Seq[ExprCode]) = {
    val loads = ordinals.map { i =>
      val c = cells(i)
      val javaType = CodeGenerator.javaType(c.dataType)
      val (value, isNull) = (ctx.freshName("cell"), ctx.freshName("cellIsNull"))
      val nullCode = if (c.nullable) JavaCode.isNullVariable(isNull) else FalseLiteral
      val nullLine =
        if (!c.nullable) ""
        else {
          val (number, bit) = layout.nullOf(i)
          s"boolean $isNull = (${word(slot, number)} & $bit) != 0;"
        }
      val load = objects.get(i) match {
        case Some(values) => s"($javaType) $values[$slot]"
        case None         => fromWord(javaType, word(slot, layout.wordOf(i)))
      }
      (
        s"$javaType $value = $load; $nullLine",
        ExprCode(EmptyBlock, nullCode, JavaCode.variable(value, c.dataType))
      )
    }
    (loads.map(_._1).mkString("\n"), loads.map(_._2))
  }

  private def assigned(i: Int, slot: String, value: ExprCode): String = objects.get(i) match {
    case None => assignedFresh(i, slot, value)
    case Some(values) =>
      val c = cells(i)
      val isNew = if (c.nullable) s"!${value.isNull} && " else ""
      // the event's memory is the scan's; a value that stays is not copied
      s"""
         |if ($isNew${value.value} != $values[$slot]) {
         |  Object copied = InternalRow.copyValue(${value.value});
         |  ${stored(i, slot, "copied")}
         |}
         |${assignedNull(i, slot, value)}""".stripMargin
  }

  /**
   * Puts an object into a slot, and counts its bytes in the place of the former one's. The cells
   * of slot 0 are too few to count.
   */
  private def stored(i: Int, slot: String, value: String): String = {
    val bytes = s"${ValueBytes.getClass.getName.stripSuffix("$")}.of"
    val counted =
      if (!ValueBytes.vary(cells(i).dataType)) ""
      else s"if ($slot > 0) $slots.grew($bytes($value) - $bytes(${objects(i)}[$slot]));"
    s"$counted ${objects(i)}[$slot] = $value;"
  }

  private def assignedFresh(i: Int, slot: String, value: ExprCode): String = {
    val cell = objects.get(i) match {
      case Some(_) => stored(i, slot, value.value.toString)
      case None =>
        val javaType = CodeGenerator.javaType(cells(i).dataType)
        s"${word(slot, layout.wordOf(i))} = ${toWord(javaType, value.value.toString)};"
    }
    s"$cell ${assignedNull(i, slot, value)}"
  }

  private def assignedNull(i: Int, slot: String, value: ExprCode): String =
    if (!cells(i).nullable) ""
    else {
      val (number, bit) = layout.nullOf(i)
      val bits = word(slot, number)
      s"$bits = ${value.isNull} ? $bits | $bit : $bits & ~$bit;"
    }

  /** The name of a function that puts identities into a slot. */
  val begin: String = {
    val name = ctx.freshName("beginSlot")
    val held = ctx.addMutableState(CodeGenerator.JAVA_INT, "slotsHeld")
    val grow = objects.values.map(o => s"$o = java.util.Arrays.copyOf($o, $held);")
    ctx.currentVars = null
    ctx.INPUT_ROW = null
    val identities = partials.map { p =>
      val codes = p.monoid.identity.map(_.genCode(ctx))
      val assigns = codes.zipWithIndex.map { case (code, i) =>
        assignedFresh(first(p) + i, "slot", code)
      }
      s"{\n${codes.map(_.code).mkString("\n")}\n${assigns.mkString("\n")}\n}"
    }
    ctx.addNewFunction(
      name,
      s"""
         |private void $name(int slot) {
         |  if (slot >= $held) {
         |    $held = $slots.capacity();
         |    $words = java.util.Arrays.copyOf($words, $held * ${layout.words});
         |    ${grow.mkString("\n")}
         |  }
         |  ${identities.mkString("\n")}
         |}""".stripMargin
    )
  }

  /**
   * Code that combines an event with a slot: a call of one function for each partial, small
   * enough for the JIT.
   *
   * @param event the event's columns, which are evaluated
   */
  def combine(slot: String, event: Seq[ExprCode]): String = partials
    .map { p =>
      val name = ctx.freshName("combineSlot")
      val read = input.indices.filter(i => p.references.contains(input(i)))
      val parameters = read.map { i =>
        val (value, isNull) = (ctx.freshName("value"), ctx.freshName("isNull"))
        val of = event(i)
        val nullable = of.isNull != FalseLiteral
        val javaType = CodeGenerator.javaType(input(i).dataType)
        (
          i,
          s"$javaType $value" + (if (nullable) s", boolean $isNull" else ""),
          s"${of.value}" + (if (nullable) s", ${of.isNull}" else ""),
          ExprCode(
            EmptyBlock,
            if (nullable) JavaCode.isNullVariable(isNull) else FalseLiteral,
            JavaCode.variable(value, input(i).dataType)
          )
        )
      }
      val ordinals = p.monoid.left.indices.map(first(p) + _)
      val (loads, variables) = loaded(ordinals, "slot")
      val ofEvent = parameters.map { case (i, _, _, code) => i -> code }.toMap
      ctx.INPUT_ROW = null
      ctx.currentVars = variables ++ input.indices.map(i => ofEvent.getOrElse(i, null))
      val bound = p.update.map(BindReferences.bindReference(_, p.monoid.left ++ input))
      val codes = bound.map(_.genCode(ctx))
      val assigns = ordinals.zip(codes).map { case (i, code) => assigned(i, "slot", code) }
      ctx.currentVars = null
      val declared = ("int slot" +: parameters.map(_._2)).mkString(", ")
      val function = ctx.addNewFunction(
        name,
        s"""
           |private void $name($declared) {
           |  $loads
           |  ${codes.map(_.code).mkString("\n")}
           |  ${assigns.mkString("\n")}
           |}""".stripMargin
      )
      s"$function(${(slot +: parameters.map(_._3)).mkString(", ")});"
    }
    .mkString("\n")

  /** The cells of a slot in variables, and the code that declares them. */
  def saved(slot: String): (String, Seq[ExprCode]) = loaded(cells.indices, slot)
}

private object SlicesCodegen {

  /** Whether a function can have all columns that a partial reads, beside the slot. */
  def hasShortParameters(partial: SlicePartial, input: Seq[Attribute]): Boolean = {
    val read = input.filter(partial.references.contains)
    CodeGenerator.isValidParamLength(CodeGenerator.calculateParamLength(read) + 1)
  }

  /** A word with the bits of a primitive value. */
  private def toWord(javaType: String, value: String): String = javaType match {
    case "double"  => s"Double.doubleToRawLongBits($value)"
    case "float"   => s"Float.floatToRawIntBits($value)"
    case "boolean" => s"($value ? 1L : 0L)"
    case _         => value
  }

  private def fromWord(javaType: String, word: String): String = javaType match {
    case "double"  => s"Double.longBitsToDouble($word)"
    case "float"   => s"Float.intBitsToFloat((int) $word)"
    case "boolean" => s"$word != 0L"
    case _         => s"($javaType) $word"
  }
}

/** The key of an event or of a slot in whole-stage code. */
private[slices] sealed abstract class KeySource {

  /** The parameters of a function that has a key. */
  def parameters: String

  /** The columns of a key that is in the parameters. */
  def columns(ctx: CodegenContext): (String, Seq[ExprCode])

  /** The key of a slot, as arguments. */
  def ofSlot(slots: String, slot: String): String
}

/** A key that is a BIGINT. */
private[slices] object KeyNumberSource extends KeySource {
  override def parameters: String = "long number, boolean numberIsNull"

  override def columns(ctx: CodegenContext): (String, Seq[ExprCode]) = (
    "",
    Seq(
      ExprCode(
        EmptyBlock,
        JavaCode.isNullVariable("numberIsNull"),
        JavaCode.variable("number", LongType)
      )
    )
  )

  override def ofSlot(slots: String, slot: String): String =
    s"$slots.numberOf($slot), $slots.isOfNull($slot)"
}

/** A key of other columns, in a row. */
private[slices] final class KeyRowSource(types: Seq[DataType]) extends KeySource {
  override def parameters: String = "UnsafeRow keyRow"

  override def columns(ctx: CodegenContext): (String, Seq[ExprCode]) = {
    ctx.currentVars = null
    ctx.INPUT_ROW = "keyRow"
    val codes = types.zipWithIndex.map { case (t, i) =>
      BoundReference(i, t, nullable = true).genCode(ctx)
    }
    ctx.INPUT_ROW = null
    (codes.map(_.code).mkString("\n"), codes.map(_.copy(code = EmptyBlock)))
  }

  override def ofSlot(slots: String, slot: String): String = s"$slots.keyOf($slot)"
}
