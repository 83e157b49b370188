package io.sash.spark.lateral

import org.apache.spark.sql.catalyst.expressions.{LateralSubquery, SubqueryExpression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, SubqueryAlias, UnaryNode}

/**
 * Renders a subquery as the user wrote it in SQL. A subquery from DataFrames is rendered by the
 * names of its columns, and by the Python function that made it.
 */
private[lateral] object SubquerySourceText {
  private val MostColumns = 4
  private val MostLetters = 240

  def apply(subquery: SubqueryExpression): String = {
    val plan = subquery.plan
    val sql = inSql(plan).getOrElse(columns(plan.output.map(_.name)))
    val before = LateralSourceText
      .caller(plan)
      .orElse(subquery match {
        case _: LateralSubquery => Some("LATERAL")
        case _                  => None
      })
    before.fold("")(_ + " ") + (if (sql.startsWith("(")) sql else s"($sql)")
  }

  /** The part of the SQL text that covers all operators above the subquery's tables. */
  private def inSql(plan: LogicalPlan): Option[String] = plan.origin.sqlText.flatMap { text =>
    val parts =
      (plan +: aboveTables(plan.children)).map(_.origin).filter(_.sqlText.contains(text))
    for {
      from <- parts.flatMap(_.startIndex).minOption
      to <- parts.flatMap(_.stopIndex).maxOption
    } yield shortened(text.substring(from, to + 1).replaceAll("\\s+", " "))
  }

  private def aboveTables(below: Seq[LogicalPlan]): Seq[LogicalPlan] = below match {
    case Seq(_: SubqueryAlias) => Nil
    case Seq(one: UnaryNode)   => one +: aboveTables(one.children)
    case _                     => Nil
  }

  private def shortened(sql: String): String =
    if (sql.length <= MostLetters) sql else s"${sql.take(MostLetters)}…)"

  private def columns(all: Seq[String]): String = {
    val (first, more) = all.filterNot(LateralSourceText.isHidden).splitAt(MostColumns)
    val list = (first ++ more.headOption.map(_ => "…")).mkString(", ")
    LateralSourceText.plain(s"SELECT $list …")
  }
}
