package io.sash.spark.lateral

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{
  AggregateExpression,
  AggregateFunction,
  First
}
import org.apache.spark.sql.catalyst.util.AUTO_GENERATED_ALIAS

/** A subquery that Sash runs, as the user wrote it. */
private[lateral] final class SubquerySourceText(query: CorrelatedAggregate)
    extends PredicateHelper {
  def in(around: OuterSourceText): String =
    around.text(
      if (around.asksRows) around.columns else shown.map(column),
      s" WHERE ${where.mkString(" AND ")}$top"
    )

  /** A pair of a label and an event, as Python makes them, has the key of its label. */
  private def where: Seq[String] = query.where
    .filter {
      case EqualNullSafe(l, r) => LateralSourceText(l) != LateralSourceText(r)
      case _                   => true
    }
    .map(LateralSourceText.condition)

  private def shown: Seq[NamedExpression] =
    query.results.filterNot(c => LateralSourceText.isHidden(c.name))

  private val firsts: Seq[SubquerySourceText.Firsts] =
    query.calls.flatMap(c => SubquerySourceText.firstsOf(c.aggregateFunction))

  private def column(c: NamedExpression): String = {
    val value = unpacked(LateralColumns.value(c))
    val isUnnamed = c.metadata.contains(AUTO_GENERATED_ALIAS) || c.name == bare(value)
    if (isUnnamed) LateralSourceText(value)
    else s"${LateralSourceText(value)} AS ${c.name}"
  }

  /** The name that Spark gives to a column without one. */
  private def bare(value: Expression): String = LateralSourceText(
    value.transform { case a: Attribute =>
      a.withQualifier(Nil)
    }
  )

  /** With the columns of the first row in the place of the fields in its struct. */
  private def unpacked(e: Expression): Expression = e.transformUp {
    case AggregateExpression(first @ First(key, _), _, _, _, _) if isMade(first) => key
    case GetStructField(row, i, _) if firsts.nonEmpty && isRow(row) => firsts.head.columns(i)
  }

  private def isMade(e: Expression): Boolean = e.getTagValue(OneGroup.Made).nonEmpty

  private def isRow(e: Expression): Boolean = e match {
    case _: AggregateExpression => true
    case a: Attribute           => query.list.exists(_.row.exprId == a.exprId)
    case _                      => false
  }

  private def top: String = firsts.headOption
    .map(f => s" ORDER BY ${f.orders.map(LateralSourceText(_)).mkString(", ")} LIMIT ${f.limit}")
    .getOrElse(grouped + having)

  private def grouped: String =
    if (query.groups.isEmpty) ""
    else query.groups.map(LateralSourceText(_)).mkString(" GROUP BY ", ", ", "")

  private def having: String =
    query.having.toSeq
      .flatMap(splitConjunctivePredicates)
      .filterNot(isMade)
      .map(c => LateralSourceText.condition(unpacked(c)))
      .reduceOption((a, b) => s"$a AND $b")
      .fold("")(conditions => s" HAVING $conditions")
}

private[lateral] object SubquerySourceText {

  /** An aggregate of a subquery, if the user wrote it. */
  def call(call: AggregateExpression): Option[String] =
    Option.when(call.getTagValue(OneGroup.Made).isEmpty)(LateralSourceText(call))

  /** ORDER BY … LIMIT of some columns. */
  private final case class Firsts(columns: Seq[Expression], orders: Seq[SortOrder], limit: Int)

  private def firstsOf(function: AggregateFunction): Option[Firsts] = {
    val written: Expression = function.getTagValue(FirstByOrder.Written).getOrElse(function)
    written match {
      case FirstByOrder(row, orders)     => Some(Firsts(columns(row), orders, 1))
      case FirstRows(row, orders, limit) => Some(Firsts(columns(row), orders, limit))
      case _                             => None
    }
  }

  private def columns(row: Expression): Seq[Expression] = row match {
    case struct: CreateNamedStruct => struct.valExprs
    case other                     => Seq(other)
  }
}
