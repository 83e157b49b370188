package io.sash.spark.slices

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.types.{DataType, LongType}

import io.sash.spark.slots.{SlotProgram, ValueBytes}

/**
 * The slots of an operator as arrays of whole-stage code: one for each cell, and one more for
 * NULLs if the cell may be NULL.
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
  private val cells: Seq[Attribute] = partials.flatMap(_.monoid.left)

  private val arrays: Seq[(String, String)] = cells.map { c =>
    val javaType = CodeGenerator.javaType(c.dataType)
    val empty = if (javaType == "byte[]") "byte[0][]" else s"$javaType[0]"
    val values =
      ctx.addMutableState(s"$javaType[]", "cells", v => s"$v = new $empty;", forceInline = true)
    val nulls =
      if (!c.nullable) ""
      else
        ctx.addMutableState(
          "boolean[]",
          "isNull",
          v => s"$v = new boolean[0];",
          forceInline = true
        )
    (values, nulls)
  }

  private val first: Map[SlicePartial, Int] =
    partials.zip(partials.scanLeft(0)(_ + _.monoid.left.length)).toMap

  /** The variables that `code` declares for the cells of a slot. */
  private def loaded(ordinals: Seq[Int], slot: String): (String, Seq[ExprCode]) = {
    val loads = ordinals.map { i =>
      val c = cells(i)
      val (values, nulls) = arrays(i)
      val (value, isNull) = (ctx.freshName("cell"), ctx.freshName("cellIsNull"))
      val nullLine = if (c.nullable) s"boolean $isNull = $nulls[$slot];" else ""
      val nullCode = if (c.nullable) JavaCode.isNullVariable(isNull) else FalseLiteral
      (
        s"${CodeGenerator.javaType(c.dataType)} $value = $values[$slot]; $nullLine",
        ExprCode(EmptyBlock, nullCode, JavaCode.variable(value, c.dataType))
      )
    }
    (loads.map(_._1).mkString("\n"), loads.map(_._2))
  }

  private def assigned(i: Int, slot: String, value: ExprCode): String = {
    val c = cells(i)
    val (values, nulls) = arrays(i)
    val nullLine = if (c.nullable) s"$nulls[$slot] = ${value.isNull};" else ""
    if (SlotProgram.isPrimitive(c.dataType)) s"$values[$slot] = ${value.value}; $nullLine"
    else {
      val boxed = CodeGenerator.boxedType(c.dataType)
      val isNew = if (c.nullable) s"!${value.isNull} && " else ""
      val bytes = s"${ValueBytes.getClass.getName.stripSuffix("$")}.of"
      val counted =
        if (!ValueBytes.vary(c.dataType)) ""
        else s"$slots.grew($bytes(copied) - $bytes($values[$slot]));"
      // the event's memory is the scan's; a value that stays is not copied
      s"""
         |if ($isNew${value.value} != $values[$slot]) {
         |  $boxed copied = ($boxed) InternalRow.copyValue(${value.value});
         |  $counted
         |  $values[$slot] = copied;
         |}
         |$nullLine""".stripMargin
    }
  }

  /** The name of a function that puts identities into a slot. */
  val begin: String = {
    val name = ctx.freshName("beginSlot")
    val grow = arrays
      .zip(cells)
      .map { case ((values, nulls), c) =>
        val array = s"${CodeGenerator.javaType(c.dataType)}[]"
        val ofNulls =
          if (nulls.isEmpty) "" else s"$nulls = java.util.Arrays.copyOf($nulls, capacity);"
        s"$values = ($array) java.util.Arrays.copyOf($values, capacity); $ofNulls"
      }
      .mkString("\n")
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
         |  if (slot >= ${arrays.head._1}.length) {
         |    int capacity = $slots.capacity();
         |    $grow
         |  }
         |  ${identities.mkString("\n")}
         |}""".stripMargin
    )
  }

  private def assignedFresh(i: Int, slot: String, value: ExprCode): String = {
    val (values, nulls) = arrays(i)
    val nullLine = if (cells(i).nullable) s"$nulls[$slot] = ${value.isNull};" else ""
    s"$values[$slot] = ${value.value}; $nullLine"
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
