package io.sash.spark.streams

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions._

/**
 * Says expressions in the same words each time that a query starts: columns by their place, and
 * variables of lambdas by their number.
 *
 * @param columns of the rows
 * @param inputs columns beside them that aggregates read
 * @param cells of the partials
 */
private[streams] final class StateText(
    columns: Seq[Attribute],
    inputs: Seq[Alias],
    cells: Seq[Attribute]
) {
  private[this] val names: Map[ExprId, String] =
    (columns.zipWithIndex.map { case (c, i) => c.exprId -> s"c$i" } ++
      inputs.zipWithIndex.map { case (c, i) => c.exprId -> s"input$i" } ++
      cells.zipWithIndex.map { case (c, i) => c.exprId -> s"cell$i" }).toMap
  private[this] val variables = mutable.HashMap.empty[ExprId, String]

  def said(e: Expression): String = e.transform {
    case a: AttributeReference if names.contains(a.exprId) =>
      AttributeReference(names(a.exprId), a.dataType)()
    case v: NamedLambdaVariable => // whose names Python counts on
      v.copy(name = variables.getOrElseUpdate(v.exprId, s"v${variables.size}"))
  }.sql

  /** What words leave out: a hash of how partials are made. */
  def hashed(definitions: Seq[Expression]): String =
    f"definitions ${BucketProcessor.hash(definitions.map(said).mkString("; "))}%x"
}
