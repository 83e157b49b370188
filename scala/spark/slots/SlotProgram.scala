package io.sash.spark.slots

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, SortOrder}

/**
 * What one class of slots holds and can do, said in Catalyst expressions. A slot is a row of
 * `columns`; each operation computes cells of a slot from the input row or from other slots.
 * `SlotCodegen` compiles a program, [[InterpretedSlots]] evaluates it.
 *
 * Operations come in parts: the expressions of one part assign the columns from `first` on, and
 * each part becomes a method of its own, small enough for the JIT.
 *
 * @param input the attributes of the row that `lift` and `matches` read
 * @param columns the cells of a slot; as operands of an operation, those of the left (or only) slot
 * @param right the same cells as attributes of the right slot
 * @param parts one for each monoid that lives in the slots
 * @param keyShifts assignments of the first column from another slot: bounds of a range frame
 * @param keyOrder how slots compare: an order over `columns`
 * @param matches a condition over the input row and the left slot
 * @param holds a condition over the left slot alone
 */
private[sash] final case class SlotProgram(
    input: Seq[Attribute],
    columns: Seq[Attribute],
    right: Seq[Attribute],
    parts: Seq[SlotProgram.Part],
    keyShifts: Seq[Expression] = Nil,
    keyOrder: Seq[SortOrder] = Nil,
    matches: Option[Expression] = None,
    holds: Option[Expression] = None
) {

  /** What answers beside the slots, numbered as the parts refer to it. */
  val running: IndexedSeq[RunningAnswer] = parts.flatMap(_.running).toIndexedSeq

  /** How many ranges of the slots are lowered, each to ordinals of its own. */
  def ranges: Int = 1 + parts.headOption.fold(0)(_.ranges.length)

  /** What `lower` writes for a range. */
  def resultsOf(range: Int): Seq[(Int, Expression)] = parts
    .flatMap { p =>
      if (range == 0) p.results
      else p.ranges(range - 1).zip(p.results.map(_._2))
    }
    .filter(_._1 != SlotProgram.NotAsked)

  /** Columns whose values differ in what they take in memory. */
  val varying: Seq[Int] = columns.indices.filter(i => ValueBytes.vary(columns(i).dataType))

  /**
   * Estimated bytes that every slot takes in memory; objects count with their header and reference.
   * What the values of `varying` columns take comes on top.
   */
  def bytesPerSlot: Int = columns.indices.map { i =>
    val dataType = columns(i).dataType
    val overhead = if (SlotProgram.isPrimitive(dataType)) 0 else SlotProgram.ObjectOverhead
    val value = if (varying.contains(i)) 0 else dataType.defaultSize
    (if (columns(i).nullable) 1 else 0) + overhead + value
  }.sum
}

private[sash] object SlotProgram {

  /** The ordinal of a result that a range does not write. */
  val NotAsked: Int = -1

  /** Slots of values of a row, which are not combined. */
  def ofRow(
      input: Seq[Attribute],
      columns: Seq[Attribute],
      values: Seq[Expression],
      results: Seq[(Int, Expression)] = Nil
  ): SlotProgram = {
    val part = Part(first = 0, identity = Nil, lift = values, results = results)
    SlotProgram(input, columns, columns.map(_.newInstance()), Seq(part))
  }

  private val ObjectOverhead = 32

  /**
   * @param first index of the first column that the part assigns
   * @param identity the neutral element, over nothing
   * @param lift the partial of one input row
   * @param combine over (left, right); empty if slots of this program are not combined
   * @param subtract over (left, right), where it has an inverse
   * @param selectsRight over (left, right), where combine picks an operand
   * @param results what `lower` writes, as (ordinal of the result, expression over left)
   * @param ranges the ordinals of the same results for further ranges of one store of slots
   * @param running what answers in the place of a slot, if something does
   */
  final case class Part(
      first: Int,
      identity: Seq[Expression],
      lift: Seq[Expression],
      combine: Seq[Expression] = Nil,
      subtract: Seq[Expression] = Nil,
      selectsRight: Option[Expression] = None,
      results: Seq[(Int, Expression)] = Nil,
      ranges: Seq[Seq[Int]] = Nil,
      running: Option[RunningAnswer] = None
  ) {

    /** The part whose running answer is the one of this number. */
    private[spark] def at(index: Int): Part = {
      def at(e: Expression): Expression = e.transform { case r: RunningExpression => r.at(index) }
      copy(
        identity = identity.map(at),
        combine = combine.map(at),
        subtract = subtract.map(at),
        results = results.map { case (ordinal, e) => (ordinal, at(e)) }
      )
    }
  }

  private[spark] def isPrimitive(dataType: org.apache.spark.sql.types.DataType): Boolean =
    org.apache.spark.sql.catalyst.expressions.codegen.CodeGenerator.isPrimitiveType(dataType)
}
