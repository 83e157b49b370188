package io.sash.spark.streams.plan

import org.apache.spark.sql.catalyst.expressions._

import io.sash.spark.slots.SlotProgram
import io.sash.spark.streams.checkpoint.Said

/**
 * Says expressions over the columns of an operator with state, as [[Words]] do.
 *
 * @param lineage of the rows below the operator
 * @param origin what it says of them
 * @param inputs columns beside those that aggregates read
 */
private[spark] final class StateWords(
    lineage: Lineage,
    origin: Origin,
    inputs: Seq[Alias],
    programs: Seq[SlotProgram]
) {
  private[this] val cells = programs.flatMap(p => p.columns ++ p.right)
  private[this] val words = {
    val below = lineage.words(origin)
    lineage.words(
      origin
        .and(inputs.map(i => i.exprId -> below.said(i.child)).toMap)
        .and(cells.zipWithIndex.map { case (c, i) => c.exprId -> Said(s"cell$i") }.toMap)
    )
  }

  def said(e: Expression): Said = words.said(e)

  def all(of: Seq[Expression]): Said = Said.all(of.map(said))

  /** Which rows there are. */
  def rows: Said = origin.rows

  /** What words leave out: a hash of how partials are made. */
  def definitions: Said = {
    val parts = programs.flatMap { p =>
      p.parts.flatMap(d => d.identity ++ d.lift ++ d.combine) ++ p.holds
    }
    val types = cells.map(_.dataType.sql)
    Said(f"${Said.hash((parts.map(said(_).text) ++ types).mkString("; "))}%x")
  }
}
