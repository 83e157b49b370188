package io.sash.spark.lateral

import org.apache.spark.sql.catalyst.expressions.{Alias, Expression, NamedExpression}

/** Access to the values of a projection's columns. */
private[lateral] object LateralColumns {
  def value(column: NamedExpression): Expression = column match {
    case a: Alias => a.child
    case a        => a
  }

  /** The column with another value, under the same name and id. */
  def mapped(column: NamedExpression)(to: Expression => Expression): NamedExpression =
    column match {
      case a: Alias => a.withNewChildren(Seq(to(a.child))).asInstanceOf[Alias]
      case a =>
        val value = to(a)
        if (value eq a) a else Alias(value, a.name)(a.exprId)
    }
}
