package io.sash.spark.lateral

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.LeftOuter
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.util.AUTO_GENERATED_ALIAS

/**
 * The words around a subquery, as the user wrote them: `LATERAL (…)`, `(…) AS n`.
 *
 * @param columns the names of the subquery's columns
 * @param asksRows whether it asks for rows, whatever columns they have
 */
private[lateral] final case class SubqueryWords(
    before: String,
    columns: Seq[String],
    after: String,
    asksRows: Boolean
) {

  /**
   * The subquery in these words.
   *
   * @param columns its columns
   * @param rest the text after them
   */
  def around(columns: Seq[String], rest: String): String = {
    val own = columns.filterNot(LateralText.isHidden)
    val (first, more) = own.splitAt(SubqueryWords.MostColumns)
    val list = (first ++ more.headOption.map(_ => "…")).mkString(", ")
    LateralText.plain(s"$before(SELECT $list …$rest)$after")
  }

  override def toString: String = around(columns, "")
}

private[lateral] object SubqueryWords {
  private val MostColumns = 4

  /** The name that the analyzer gives to an expression in OVER. */
  private val InOver = "_w[0-9]+".r

  def of(join: LateralJoin): SubqueryWords = {
    val word = if (join.joinType == LeftOuter) "LEFT JOIN LATERAL" else "LATERAL"
    made(join.right, word, "")
  }

  /** @param in the expression in which the subquery stands */
  def of(subquery: SubqueryExpression, in: Expression): SubqueryWords = {
    val after = in match {
      case a: Alias if a.metadata.contains(AUTO_GENERATED_ALIAS) => ""
      case Alias(_, InOver())                                    => ""
      case Alias(`subquery`, name)                               => s" AS $name"
      case Alias(_, name)                                        => s" in $name"
      case _                                                     => ""
    }
    val word = subquery match {
      case e: Exists => e.getTagValue(RangeExists.Values).fold("EXISTS")(v => s"$v IN")
      case _: ListQuery =>
        in.collectFirst { case InSubquery(values, `subquery`) => RangeExists.text(values) }
          .fold("IN")(values => s"$values IN")
      case _ => ""
    }
    made(subquery, word, after)
  }

  private def made(subquery: SubqueryExpression, word: String, after: String): SubqueryWords = {
    val before = LateralText.caller(subquery.plan).getOrElse(word)
    val asksRows = subquery match {
      case _: Exists | _: ListQuery => true
      case _                        => false
    }
    val space = if (before.isEmpty) "" else " "
    SubqueryWords(before + space, subquery.plan.output.map(_.name), after, asksRows)
  }
}
