package io.sash.spark.kinds

import org.apache.spark.sql.catalyst.expressions._

import io.sash.spark.base.SparkVersions

/** The error of a window of a kind whose function is no aggregate. */
private[spark] object NoAggregate {

  def why(function: Expression, kind: WindowKind, order: Seq[SortOrder]): String = {
    val other = instead(function, ranked(order)).fold("")(i => s"write $i, or ")
    s"it is about the window of an aggregate. ${written(function)} is none, and looks at all " +
      s"rows of its partition; ${other}leave ${kind.sql} out"
  }

  /** An aggregate with the same answer over a window's rows; a rank compares the values `by`. */
  private def instead(function: Expression, by: String): Option[String] = function match {
    case _: RowNumber   => Some("count(*)")
    case _: Rank        => Some(s"rank_in_frame($by)")
    case _: DenseRank   => Some(s"dense_rank_in_frame($by)")
    case _: PercentRank => Some(s"percent_rank_in_frame($by)")
    case _: CumeDist    => Some(s"cume_dist_in_frame($by)")
    case NthValue(x, n, _) =>
      Some(s"first_n(struct(${written(x)}), ${written(n)}), whose last element has the value")
    case _ => None
  }

  /** A rank of `by` among the values of a frame, in the place of a rank among all rows. */
  def rankInFrame(function: Expression, by: String): Option[String] = function match {
    case NTile(n)                  => Some(s"ceil(${written(n)} * cume_dist_in_frame($by))")
    case _: RankLike | _: CumeDist => instead(function, by)
    case _                         => None
  }

  /** The text of the expression that a rank in this order compares. */
  def ranked(order: Seq[SortOrder]): String = order.headOption.fold("x") { o =>
    if (o.direction == Descending) s"-${written(o.child)}" else written(o.child)
  }

  private def written(e: Expression): String = e match {
    case rank: RankLike => s"${rank.prettyName}()" // Spark's text of it has capitals
    case _              => SparkVersions.prettySql(e)
  }
}
