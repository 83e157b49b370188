package io.sash.spark.windows

import org.apache.spark.sql.catalyst.expressions.{Expression, WindowExpression}

/** The lines of windows for EXPLAIN: one per subquery, and one for each other window. */
private[spark] object ExplainLines {

  /**
   * @param expressions the window expressions, perhaps with duplicates
   * @param calls the calls without duplicates
   */
  def of(expressions: Seq[Expression], calls: Seq[WindowCall]): Seq[String] = {
    val sharing = SharedElements.of(calls)
    each(expressions, calls) { i =>
      calls(i).how + (sharing.rangesOf(i) match {
        case 1 => ""
        case n => s", $n ranges of one store"
      })
    }
  }

  /** @param how gives the text on how a call is computed, by the call's number */
  def each(expressions: Seq[Expression], calls: Seq[WindowCall])(
      how: Int => String
  ): Seq[String] = {
    val numbers = calls.map(_.expression.canonicalized).zipWithIndex.toMap
    val windows = expressions
      .flatMap(_.collect { case w: WindowExpression => w })
      .map(w => (w.getTagValue(OfSubquery.Tag), numbers(w.canonicalized)))
      .distinct
    windows.map(_._1.map(_.subquery)).distinct.flatMap {
      case None => windows.collect { case (None, i) => s"${calls(i).text}: ${how(i)}" }
      case Some(subquery) =>
        val parts = windows.collect { case (Some(OfSubquery(`subquery`, call)), i) =>
          call -> how(i)
        }
        Seq(s"$subquery: ${together(parts)}")
    }
  }

  /** The texts of all calls of a subquery; one text if they are all alike. */
  private def together(parts: Seq[(Option[String], String)]): String = {
    val written = parts.collect { case (Some(call), how) => s"$call by $how" }
    val ways = parts.collect {
      case (call, how) if call.nonEmpty || written.isEmpty => how
    }.distinct
    if (ways.length == 1) ways.head else written.mkString("; ")
  }
}
