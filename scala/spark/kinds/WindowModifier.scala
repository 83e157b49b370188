package io.sash.spark.kinds

import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.trees.UnaryLike

import io.sash.spark.base.ArgumentChecks
import io.sash.spark.times.PaneNumber

/** EXCLUDE CURRENT ROW, GROUP or TIES: see `Exclusion`. */
private[spark] final case class WindowExclude(rows: Expression)
    extends WindowModifier
    with UnaryLike[Expression] {
  override def name: String = WindowExclude.Name
  override def child: Expression = rows

  override def orderFault(order: Seq[SortOrder]): Option[String] =
    if (what == WindowExclude.CurrentRow) None else OrderFaults.noOrder(order)

  override def checkInputDataTypes(): TypeCheckResult =
    ArgumentChecks.checkOneOf("rows", rows, WindowExclude.All)

  def what: String = WindowExclude.nameIn(rows)

  override protected def withNewChildInternal(newChild: Expression): WindowExclude =
    copy(rows = newChild)
}

private[spark] object WindowExclude {
  val Name = "window_exclude"
  val CurrentRow = "current row"
  val Group = "group"
  val Ties = "ties"
  val All: Seq[String] = Seq(CurrentRow, Group, Ties)

  private def nameIn(e: Expression): String =
    e.eval().toString.toLowerCase(java.util.Locale.ROOT)
}

/**
 * Returns an answer only at the rows where the window slides: once per `every` rows, or once per
 * pane of the order's values. The other rows get NULL.
 */
private[spark] final case class WindowSlide(every: Expression)
    extends WindowModifier
    with UnaryLike[Expression] {
  override def name: String = "window_slide"
  override def child: Expression = every

  def countsRows: Boolean = ArgumentChecks.isInteger(every.dataType)

  override def orderFault(order: Seq[SortOrder]): Option[String] =
    OrderFaults.noOrder(order).orElse {
      val by = order.head.child
      Option.when(!countsRows && PaneNumber.ofSlide(by, every, "UTC").isEmpty)(
        s"${by.sql}, the order, of type ${by.dataType.sql}, has no panes of type " +
          s"${every.dataType.sql}; slide by a number of rows"
      )
    }

  override def checkInputDataTypes(): TypeCheckResult =
    if (countsRows) ArgumentChecks.checkCount("every", every, least = 1)
    else ArgumentChecks.checkInterval("every", every)

  override protected def withNewChildInternal(newChild: Expression): WindowSlide =
    copy(every = newChild)
}

/**
 * Returns NULL where fewer than `count` rows of the window have a value: see [[MinPeriods]].
 *
 * @param values the aggregate's arguments, as they were written; none before the aggregate is
 *   known
 */
private[spark] final case class WindowMinPeriods(count: Expression, values: Seq[Expression] = Nil)
    extends WindowModifier {
  override def name: String = "window_min_periods"
  override def children: Seq[Expression] = count +: values
  override def sql: String = s"$name(${count.sql})"

  def least: Int = count.eval().asInstanceOf[Number].intValue

  override def orderFault(order: Seq[SortOrder]): Option[String] = None

  override def checkInputDataTypes(): TypeCheckResult =
    ArgumentChecks.checkCount("n", count, least = 0)

  override protected def withNewChildrenInternal(
      children: IndexedSeq[Expression]
  ): WindowMinPeriods = copy(children.head, children.tail)
}
