package io.sash.spark.streams.plan

import org.apache.spark.sql.catalyst.expressions._

/** The remedy for a row number or a rank that asks for the first n rows of each hop window. */
private[plan] object FirstRowsOfHops {

  /** None if the window asks for something else. */
  def remedy(source: WindowSourceText): Option[String] = {
    val window = source.window
    val asks = window.windowExpressions.exists(_.exists {
      case _: RowNumber | _: Rank | _: DenseRank => true
      case _                                     => false
    })
    window.orderSpec.headOption.filter(_ => asks).map { o =>
      val by = if (window.partitionSpec.isEmpty) "window" else keys(source)
      val call = if (o.direction == Descending) "max_n_by" else "min_n_by"
      s"for the first rows of each window, GROUP BY $by and write " +
        s"$call(struct(*), ${source(o.child)}, 3)"
    }
  }

  private def keys(source: WindowSourceText): String =
    source.window.partitionSpec.map(source(_)).mkString(", ")
}
