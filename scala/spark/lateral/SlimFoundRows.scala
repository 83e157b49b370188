package io.sash.spark.lateral

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.Literal.TrueLiteral
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.WINDOW

import io.sash.spark.base.SparkVersions
import io.sash.spark.kinds.SlidingAggregate

/**
 * Leaves out the columns of found rows that nobody reads. An as-of join, and a subquery with
 * ORDER BY … LIMIT, find rows as structs of all their columns, into which Spark's own rules do
 * not look. Once a struct has no other fields, these rules prune the columns down to the scan.
 *
 * A found row passes from its window up to a projection or an aggregate that drops it. It may be
 * slim if all operators in between read it by its fields, or ask whether it is NULL.
 */
private[spark] object SlimFoundRows extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.transformDownWithPruning(_.containsPattern(WINDOW)) {
      case top @ (_: Project | _: Aggregate) =>
        below(top).collect { case w: Window => w }.foldLeft[LogicalPlan](top) { (plan, window) =>
          val found = window.windowExpressions.flatMap(FoundRow.of)
          found.foldLeft(plan)((plan, row) => slim(plan, row).getOrElse(plan))
        }
    }

  /** The operators below, from top to bottom, through which a found row passes as it is. */
  private def below(top: LogicalPlan): Seq[LogicalPlan] = top.children.head match {
    case one @ (_: Project | _: Filter | _: Generate | _: Window) => one +: below(one)
    case _                                                        => Nil
  }

  /** The plan with fewer fields of a found row; none if all are read, or the whole row is. */
  private def slim(top: LogicalPlan, found: FoundRow): Option[LogicalPlan] = {
    val (between, rest) = below(top).span {
      case w: Window => !w.windowExpressions.contains(found.column)
      case _         => true
    }
    for {
      window <- rest.headOption.collect { case w: Window => w }
      reads <- FieldReads.of(found.column.toAttribute, between.reverse, top)
      fields = reads.fields
      if !found.hasFields(fields)
    } yield {
      val column = found.withFields(fields)
      val slimmer: LogicalPlan = SparkVersions.withExpressions(
        window,
        window.windowExpressions.map(e => if (e eq found.column) column else e)
      )
      val over = reads.over(column.toAttribute)
      (between.reverse :+ top).foldLeft(slimmer) { (plan, operator) =>
        over(operator.withNewChildren(Seq(plan)))
      }
    }
  }
}

/**
 * A column of a window that is a row, or a list of rows.
 *
 * @param row the row as a struct
 */
private[spark] final case class FoundRow(column: Alias, row: CreateNamedStruct) {

  /** Whether the row has these fields and no others. */
  def hasFields(paths: Seq[FieldReads.Path]): Boolean =
    if (paths.isEmpty) row.valExprs.forall(_.foldable)
    else paths == row.valExprs.indices.map(Seq(_))

  /** The column with other fields; without a field, it still tells whether there is a row. */
  def withFields(paths: Seq[FieldReads.Path]): Alias = {
    val fields =
      if (paths.isEmpty) Seq(Literal("found"), TrueLiteral)
      else paths.flatMap(path => Seq(row.nameExprs(path.head), value(path)))
    Alias(over(CreateNamedStruct(fields)), column.name)()
  }

  /** The same column, where the row is a column of the window's child. */
  def of(whole: Attribute): NamedExpression =
    column.withNewChildren(Seq(over(whole))).asInstanceOf[NamedExpression]

  /** The attributes that the column reads beside the row. */
  def others: AttributeSet = over(Literal(null, row.dataType)).references

  private def over(other: Expression): Expression = column.child.transform {
    case s: SlidingAggregate => s.withNewChildren(other +: s.children.tail)
  }

  private def value(path: FieldReads.Path): Expression =
    path.tail.foldLeft(row.valExprs(path.head)) {
      case (inner: CreateNamedStruct, i) => inner.valExprs(i)
      case (inner, i)                    => GetStructField(inner, i)
    }
}

private[spark] object FoundRow {

  /** None unless the aggregate picks rows without a look at their fields. */
  def of(column: NamedExpression): Option[FoundRow] = column match {
    case alias @ Alias(WindowExpression(call: AggregateExpression, _), _) =>
      Some(call.aggregateFunction)
        .collect { case s: SlidingAggregate => s.function }
        .flatMap(picked)
        .collect { case row: CreateNamedStruct => FoundRow(alias, row) }
    case _ => None
  }

  private def picked(aggregate: AggregateFunction): Option[Expression] = aggregate match {
    case _: First | _: Last | _: MaxBy | _: MinBy | _: FirstByOrder | _: FirstRows =>
      aggregate.children.headOption
    case _ => Option.empty
  }
}
