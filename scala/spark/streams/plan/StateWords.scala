package io.sash.spark.streams.plan

import org.apache.spark.sql.catalyst.expressions._

import io.sash.spark.slots.SlotProgram
import io.sash.spark.streams.checkpoint.Said

/**
 * Describes expressions over the columns of a stateful operator, by [[Words]].
 *
 * @param lineage describes the rows below the operator
 * @param origin the description of these rows
 * @param inputs columns made for the arguments of aggregates
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

  /** The description of the rows. */
  def rows: Said = origin.rows

  /** A hash of the expressions that make partials, which the other parts do not describe. */
  def definitions: Said = {
    val parts = programs.flatMap { p =>
      p.parts.flatMap(d => d.identity ++ d.lift ++ d.combine) ++ p.holds
    }
    val types = cells.map(_.dataType.sql)
    Said(f"${Said.hash((parts.map(said(_).text) ++ types).mkString("; "))}%x")
  }
}
