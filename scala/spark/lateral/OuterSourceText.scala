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
private[lateral] final case class OuterSourceText(
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
  def text(columns: Seq[String], rest: String): String = {
    val own = columns.filterNot(LateralSourceText.isHidden)
    val (first, more) = own.splitAt(OuterSourceText.MostColumns)
    val list = (first ++ more.headOption.map(_ => "…")).mkString(", ")
    LateralSourceText.plain(s"$before(SELECT $list …$rest)$after")
  }

  override def toString: String = text(columns, "")
}

private[lateral] object OuterSourceText {
  private val MostColumns = 4

  /** The name that the analyzer gives to an expression in OVER. */
  private val InOver = "_w[0-9]+".r

  def of(join: LateralJoin): OuterSourceText = {
    val word = if (join.joinType == LeftOuter) "LEFT JOIN LATERAL" else "LATERAL"
    describe(join.right, word, "")
  }

  /** @param in the expression in which the subquery stands */
  def of(subquery: SubqueryExpression, in: Expression): OuterSourceText = {
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
    describe(subquery, word, after)
  }

  private def describe(
      subquery: SubqueryExpression,
      word: String,
      after: String
  ): OuterSourceText = {
    val before = LateralSourceText.caller(subquery.plan).getOrElse(word)
    val asksRows = subquery match {
      case _: Exists | _: ListQuery => true
      case _                        => false
    }
    val space = if (before.isEmpty) "" else " "
    OuterSourceText(before + space, subquery.plan.output.map(_.name), after, asksRows)
  }
}
