package io.sash.spark.history

import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult.DataTypeMismatch
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.BinaryLike
import org.apache.spark.sql.catalyst.trees.TreePattern.CURRENT_LIKE
import org.apache.spark.sql.types.TimestampType

import io.sash.spark.base.SashFunction

/**
 * Whether a row's time is at most `until`, a constant. In a UNION with a stream it marks the rows
 * of a table that come before the stream ([[HistoryUnion]]).
 */
private[spark] final case class HistoryUntil(left: Expression, right: Expression)
    extends RuntimeReplaceable
    with ExpectsInputTypes
    with BinaryLike[Expression] {

  override def prettyName: String = HistoryUntil.Name

  override def inputTypes: Seq[TimestampType.type] = Seq(TimestampType, TimestampType)

  override lazy val replacement: Expression = LessThanOrEqual(left, right)

  override def checkInputDataTypes(): TypeCheckResult = {
    val ofTypes = super.checkInputDataTypes()
    if (ofTypes.isFailure) ofTypes
    else if (right.foldable && !isOfNow) notNull
    else
      DataTypeMismatch(
        "NON_FOLDABLE_INPUT",
        Map("inputName" -> "`until`", "inputType" -> "\"TIMESTAMP\"", "inputExpr" -> right.sql)
      )
  }

  private def notNull: TypeCheckResult =
    if (until.nonEmpty) TypeCheckResult.TypeCheckSuccess
    else DataTypeMismatch("UNEXPECTED_NULL", Map("exprName" -> "until"))

  /** Whether the constant differs from batch to batch, as current_timestamp() does. */
  private def isOfNow: Boolean = right.containsPattern(CURRENT_LIKE)

  /** The constant in microseconds since 1970; None if it is NULL, which is refused. */
  def until: Option[Long] = Option(right.eval()).map(_.asInstanceOf[Long])

  override protected def withNewChildrenInternal(
      newLeft: Expression,
      newRight: Expression
  ): HistoryUntil = copy(newLeft, newRight)
}

private[spark] object HistoryUntil {
  val Name: String = "history_until"

  def isIn(e: Expression): Boolean = e.exists(_.isInstanceOf[HistoryUntil])

  def isIn(plan: LogicalPlan): Boolean = plan.exists(_.expressions.exists(isIn(_: Expression)))
}

/** An object of its own, so that streams do not load the function's help. */
private[spark] object HistoryUntilFunction {
  val function: SashFunction = SashFunction.of(
    HistoryUntil.Name,
    """
    Returns true if a row's time is at most `until`.

    * ts - the event time, a TIMESTAMP
    * until - a constant TIMESTAMP: the last time of the history

    > SELECT id FROM VALUES (1, TIMESTAMP '2026-03-01'), (2, TIMESTAMP '2026-03-03')
      AS tab(id, ts) WHERE _FUNC_(ts, TIMESTAMP '2026-03-02');
    1

    Among the conditions of a table in a UNION ALL after a stream, it starts the stream from the
    table: the first batch reads the table, and no later batch does. Rows of the stream up to that
    time are left out, and the windows of later rows hold the table's rows. See docs/backfill.md.
    NULL if the time is NULL.
    """,
    classOf[HistoryUntil],
    group = "datetime_funcs"
  ) { case Seq(ts, until) => HistoryUntil(ts, until) }
}
