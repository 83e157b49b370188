package io.sash.spark.multisets

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.Mode
import org.apache.spark.sql.sash.SqlInternals
import org.apache.spark.sql.types.DataType

import io.sash.spark.slots.{RunningAnswer, RunningState}

/**
 * The most frequent value, in [[ValueMultiset]].
 *
 * Cost: O(1) per row. If ties go to the least or greatest value, O(log n) with n tied values.
 * Without such a rule, a tie goes to the value that has had the frequency longest.
 *
 * @param ascending whether ties go to the least value, or to the greatest; none for any value
 */
private[spark] final case class ModeCounts(child: Expression, ascending: Option[Boolean])
    extends RunningAnswer {
  override def inputs: Seq[Expression] = Seq(SqlInternals.normalized(child))

  override def dataType: DataType = child.dataType

  override def isInvertible: Boolean = true

  override def title: String = "counts of values"

  override def create(): RunningState = {
    val ties = ascending.fold[TieOrder](TieOrder.ByEntry)(TieOrder.ByValue)
    new CountedState(new CountedType(dataType, ties), _.mode)
  }
}

private[spark] object ModeCounts {
  def of(mode: Mode): Option[ModeCounts] =
    if (Distinct.canKey(mode.child.dataType)) Some(ModeCounts(mode.child, mode.reverseOpt))
    else None
}
