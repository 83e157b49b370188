package io.sash.spark.lateral

import org.apache.spark.sql.catalyst.expressions.{Alias, Expression, NamedExpression}

/** Columns of a projection: a value with a name and an id. */
private[lateral] object LateralColumns {
  def value(column: NamedExpression): Expression = column match {
    case a: Alias => a.child
    case a        => a
  }

  /** Another value under the column's name and id. */
  def mapped(column: NamedExpression)(to: Expression => Expression): NamedExpression =
    column match {
      case a: Alias => a.withNewChildren(Seq(to(a.child))).asInstanceOf[Alias]
      case a =>
        val value = to(a)
        if (value eq a) a else Alias(value, a.name)(a.exprId)
    }
}
