package io.sash.spark.streams.plan

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.Metadata

/**
 * A column that may be NULL, in place of one that may not. The state may have rows of a time at
 * which the query allowed NULL.
 */
private[streams] object StoredColumn {
  def apply(column: Attribute, metadata: Metadata): Alias =
    Alias(if (column.nullable) column else KnownNullable(column), column.name)(
      explicitMetadata = Some(metadata)
    )

  /** Matches a column that was NOT NULL. Gives its id and the column in whose place it is. */
  def unapply(column: Expression): Option[(ExprId, Attribute)] = column match {
    case a @ Alias(KnownNullable(of: Attribute), _) => Some((a.exprId, of))
    case _                                          => None
  }
}
