package io.sash.spark.slots

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, Expression, SortOrder}

/**
 * The cells and operations of one class of slots, in Catalyst expressions. A slot is a row of
 * `columns`. Each operation computes cells of a slot from the input row or from other slots.
 * `SlotCodegen` compiles a program, [[InterpretedSlots]] evaluates it.
 *
 * Operations consist of parts. The expressions of one part assign the columns from `first` on.
 * Each part becomes a method of its own, small enough for the JIT.
 *
 * @param input the attributes of the row that `lift` and `matches` read; results that depend on
 *   the current row read it, too
 * @param columns the cells of a slot; as operands, the cells of the left (or only) slot
 * @param right the same cells as attributes of the right slot
 * @param parts one for each monoid in the slots
 * @param keyShifts assignments of the first column from another slot: bounds of a range frame
 * @param keyOrder the order in which slots are compared, over `columns`
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

  /** The running answers beside the slots, in the order of the numbers that the parts use. */
  val running: IndexedSeq[RunningAnswer] = parts.flatMap(_.running).toIndexedSeq

  /** The number of ranges of the slots. Each range has its own ordinals for its results. */
  def ranges: Int = 1 + parts.headOption.fold(0)(_.ranges.length)

  /** The results that `lower` writes for a range: ordinals and expressions. */
  def resultsOf(range: Int): Seq[(Int, Expression)] = parts
    .flatMap { p =>
      if (range == 0) p.results
      else p.ranges(range - 1).zip(p.results.map(_._2))
    }
    .filter(_._1 != SlotProgram.NotAsked)

  /** Whether results depend on the row that `SlotColumns.answersFor` has set. */
  val isOfRow: Boolean = {
    val ofRow = AttributeSet(input)
    parts.exists(_.results.exists { case (_, e) => e.references.exists(ofRow.contains) })
  }

  /** Columns whose values differ in size. */
  val varying: Seq[Int] = columns.indices.filter(i => ValueBytes.vary(columns(i).dataType))

  /**
   * Estimated bytes of a slot in memory, with header and reference of each object. The values of
   * `varying` columns are not included.
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

  /** Slots that hold values of a row and are never combined. */
  def ofRow(
      input: Seq[Attribute],
      columns: Seq[Attribute],
      values: Seq[Expression],
      results: Seq[(Int, Expression)] = Nil
  ): SlotProgram = {
    val part = Part(first = 0, identity = Nil, lift = values, results = results)
    SlotProgram(input, columns, columns.map(_.newInstance()), Seq(part))
  }

  private[spark] val ObjectOverhead = 32

  /**
   * The columns of one monoid, and its operations.
   *
   * @param first index of the first column that the part assigns
   * @param identity the neutral element, as expressions without references
   * @param lift the partial of one input row
   * @param combine over (left, right); empty if slots of this program are not combined
   * @param subtract over (left, right), if there is an inverse
   * @param selectsRight over (left, right), if combine always picks one operand
   * @param results the values that `lower` writes, as (ordinal of the result, expression over
   *   left)
   * @param ranges the ordinals of the same results for further ranges of one store of slots
   * @param running the running answer that replaces the slot's, if there is one
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

    /** The part with its running answer at this number. */
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
