package io.sash.spark.refresh

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.trees.TreePattern.CURRENT_LIKE

/**
 * The rows that a query makes of the changed rows of its tables, old and new, if windows give
 * NULL. They say at which keys and times the changed rows were, and are now.
 *
 * @param rows a plan with the columns of the query; none if it reads no changed table
 * @param unknown the columns that read windows or groups; they are NULL in `rows`
 */
private[refresh] final case class ChangedRows(rows: Option[LogicalPlan], unknown: AttributeSet) {
  private def over(plan: LogicalPlan => LogicalPlan, more: Seq[Attribute] = Nil): ChangedRows =
    ChangedRows(rows.map(plan), unknown ++ AttributeSet(more))

  private def isUnknown(e: Expression): Boolean = e.references.exists(unknown.contains)
}

private[refresh] object ChangedRows extends PredicateHelper {

  /**
   * For each place where the query reads a changed table: the query, whose unions keep only the
   * child with this place, and its changed rows. Throws if a changed row may change answers that
   * cannot be found by the row's key and time.
   *
   * @param changes the changed rows of a table, in the table's columns
   */
  def of(
      query: LogicalPlan,
      changes: String => LogicalPlan
  ): Seq[(LogicalPlan, LogicalPlan)] = {
    query.foreach(check)
    for (one <- alone(query); rows <- below(one, changes).rows) yield one -> rows
  }

  /**
   * One plan for each child of a union that reads a changed table. The union keeps that child
   * alone, and stays: its rows meet rows of the other children in the windows above.
   */
  private def alone(plan: LogicalPlan): Seq[LogicalPlan] = plan match {
    case _ if !ChangedTable.isIn(plan) => Seq(plan)
    case u: Union =>
      for (child <- u.children.filter(ChangedTable.isIn); one <- alone(child)) yield {
        val columns = u.output.zip(one.output).map { case (a, value) =>
          Alias(value, a.name)(a.exprId, a.qualifier)
        }
        Union(Seq(Project(columns, one)))
      }
    case _ =>
      plan.children
        .foldLeft(Seq(Seq.empty[LogicalPlan])) { (before, child) =>
          before.flatMap(some => alone(child).map(some :+ _))
        }
        .map(plan.withNewChildren(_))
  }

  private def check(plan: LogicalPlan): Unit = {
    if (plan.isStreaming)
      throw ChangedTable.refuse("it is a stream, which answers its late rows itself")
    plan.expressions.foreach { e =>
      if (!e.deterministic)
        throw ChangedTable.refuse(
          s"${e.sql} may have another value in each run; write it to a table, and read it there"
        )
      if (e.containsPattern(CURRENT_LIKE))
        throw ChangedTable.refuse(
          s"${e.sql} has another value in each run; write a literal, and all answers anew when " +
            "it moves"
        )
    }
    if (plan.subqueries.exists(ChangedTable.isIn))
      throw ChangedTable.refuse(
        "a subquery reads a changed table, and is no window of Sash's; sash.explain says why"
      )
  }

  private def below(plan: LogicalPlan, changes: String => LogicalPlan): ChangedRows = {
    def child: ChangedRows = below(plan.children.head, changes)
    plan match {
      case t: ChangedTable =>
        val rows = changes(t.name)
        def as(columns: Seq[Attribute]) = Project(
          columns.map { a =>
            val value = rows.output.find(_.name == a.name).getOrElse {
              val why = s"it reads ${a.name} of ${t.name}, which changed rows lack"
              throw ChangedTable.refuse(why)
            }
            Alias(value, a.name)(a.exprId, a.qualifier)
          },
          rows
        )
        val changed = t.table match {
          // Spark pads columns of CHAR above a table
          case p @ Project(_, table: LeafNode) => p.copy(child = as(table.output))
          case table                           => as(table.output)
        }
        ChangedRows(Some(changed), AttributeSet.empty)
      case _ if !ChangedTable.isIn(plan) => ChangedRows(None, AttributeSet.empty)
      case w: Window =>
        val answers = w.windowExpressions.map(nothing)
        child.over(Project(w.child.output ++ answers, _), answers.map(_.toAttribute))
      case p: Project =>
        val rows = child
        val list = p.projectList.map {
          case a: Alias if rows.isUnknown(a) => nothing(a)
          case known                         => known
        }
        rows.over(Project(list, _), p.projectList.filter(rows.isUnknown).map(_.toAttribute))
      // the filter comes after windows: a row that it drops still lies in windows of other rows
      case f: Filter if RowsBelow.meet(f.child) => child
      case f: Filter =>
        val rows = child
        val known = splitConjunctivePredicates(f.condition).filterNot(rows.isUnknown)
        rows.over(known.foldLeft(_)((of, condition) => Filter(condition, of)))
      case a: Aggregate => ofGroups(a, child)
      case j: Join      => ofJoin(j, below(j.left, changes), below(j.right, changes))
      case _: SubqueryAlias | _: View | _: Distinct | _: Sort | _: ResolvedHint |
          _: RepartitionOperation | _: Union =>
        child
      case g: Generate if RowsBelow.meet(g.child) => beside(g, child)
      case g: Generate => child.over(rows => g.withNewChildren(Seq(rows)))
      case x: Expand =>
        val rows = child
        def known(e: Expression) = if (rows.isUnknown(e)) Literal(null, e.dataType) else e
        val unknown = x.output.zip(x.projections.transpose).collect {
          case (a, values) if values.exists(rows.isUnknown) => a
        }
        rows.over(of => x.copy(x.projections.map(_.map(known)), child = of), unknown)
      case _ => throw refused(plan)
    }
  }

  private def refused(plan: LogicalPlan): Throwable = ChangedTable.refuse(
    s"it has ${plan.nodeName}, where each row may depend on any other; write the rows below it " +
      "to a table, refresh that, and run the rest over it"
  )

  /** Changed rows, and NULL for each column that the operator adds. */
  private def beside(plan: LogicalPlan, rows: ChangedRows): ChangedRows = {
    val more = plan.output.filterNot(a => rows.rows.forall(_.outputSet.contains(a)))
    val columns = plan.output.map(a => if (more.contains(a)) nothing(a) else a)
    rows.over(Project(columns, _), more)
  }

  private def nothing(e: NamedExpression): Alias =
    Alias(Literal(null, e.dataType), e.name)(e.exprId)

  private def ofGroups(a: Aggregate, rows: ChangedRows): ChangedRows = {
    val groups = a.groupingExpressions
    def says(why: String) = throw ChangedTable.refuse(why)
    if (groups.isEmpty)
      says("it has aggregates over all rows; run it anew")
    if (groups.exists(isSession))
      says("it groups by session_window; write a window of the kind gap_window OVER the rows")
    val list = a.aggregateExpressions.map { e =>
      val isAnswer = e.exists(_.isInstanceOf[AggregateExpression]) || rows.isUnknown(e)
      if (isAnswer) nothing(e) -> Some(e.toAttribute) else e -> None
    }
    rows.over(Project(list.map(_._1), _), list.flatMap(_._2))
  }

  private def isSession(group: Expression): Boolean = group match {
    case a: NamedExpression => a.metadata.contains(SessionWindow.marker)
    case _                  => false
  }

  /** The changed rows of a join. Throws unless each row of it comes from one changed-side row. */
  private def ofJoin(j: Join, left: ChangedRows, right: ChangedRows): ChangedRows = {
    val isOneByOne = (left.rows, right.rows, j.joinType) match {
      case (_, None, _: InnerLike | LeftOuter | LeftSemi | LeftAnti) => true
      case (None, _, _: InnerLike | RightOuter)                      => true
      case _                                                         => false
    }
    if (!isOneByOne)
      throw ChangedTable.refuse(
        "a join of a changed table is no inner join, or keeps the rows of the other table, or " +
          "both tables have changed; write the join to a table, and refresh over that"
      )
    val changed = if (left.rows.nonEmpty) left else right
    val side = if (left.rows.nonEmpty) j.left else j.right
    if (changed.rows.isEmpty || RowsBelow.meet(side)) beside(j, changed)
    else
      changed.over { rows =>
        j.withNewChildren(
          Seq(if (side eq j.left) rows else j.left, if (side eq j.left) j.right else rows)
        )
      }
  }
}
