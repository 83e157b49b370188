package io.sash.spark.slices

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.types.{DataType, LongType}

import io.sash.spark.slots.{SlotProgram, ValueBytes}

/**
 * Where the cells of a slot are. Primitive cells and the NULL bits are adjacent words of one
 * array, so an event touches few cache lines, however many aggregates there are. Each object cell
 * has an array of its own.
 */
private[slices] final class SlotLayout(cells: Seq[Attribute]) {
  private val primitives = cells.indices.filter(isPrimitive)
  private val nullables = cells.indices.filter(cells(_).nullable)
  private val bitsPerWord = 64

  def isPrimitive(cell: Int): Boolean = SlotProgram.isPrimitive(cells(cell).dataType)

  /** The number of words in a slot. */
  val words: Int = primitives.length + (nullables.length + bitsPerWord - 1) / bitsPerWord

  def wordOf(cell: Int): Int = primitives.indexOf(cell)

  /** The word with a cell's NULL bit, and the bit's mask as a Java literal. */
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
 * Generates the code of an operator's slots, whose arrays are fields of whole-stage code.
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

  /** Code that loads cells of a slot into variables, and these variables. */
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
      // an event's value lies in memory that the scan reuses, so it is copied unless it stays
      s"""
         |if ($isNew${value.value} != $values[$slot]) {
         |  Object copied = InternalRow.copyValue(${value.value});
         |  ${stored(i, slot, "copied")}
         |}
         |${assignedNull(i, slot, value)}""".stripMargin
  }

  /**
   * Puts an object into a slot, and accounts for the change in bytes. Slot 0 is one slot, so its
   * bytes are not counted.
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
   * Code that combines an event with a slot. It calls one function per partial, so that each is
   * small enough for the JIT.
   *
   * @param event the event's columns, already evaluated
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

  /** Code that loads all cells of a slot into variables, and these variables. */
  def saved(slot: String): (String, Seq[ExprCode]) = loaded(cells.indices, slot)
}

private object SlicesCodegen {

  /** Whether a Java function may have all columns that a partial reads as parameters. */
  def hasShortParameters(partial: SlicePartial, input: Seq[Attribute]): Boolean = {
    val read = input.filter(partial.references.contains)
    CodeGenerator.isValidParamLength(CodeGenerator.calculateParamLength(read) + 1)
  }

  /** Java code for the bits of a primitive value in a word. */
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

  /** The declared parameters of a function that takes a key. */
  def parameters: String

  /** Code that reads the key's columns from these parameters, and the columns. */
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

/** A key of other or several columns, in an UnsafeRow. */
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
