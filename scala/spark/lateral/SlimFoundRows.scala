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
 * Removes fields that nobody reads from found rows. An as-of join, and a subquery with ORDER BY …
 * LIMIT, find a row as a struct of all its columns. Spark's rules do not prune such a struct.
 * Once it has only the fields that are read, they prune the columns down to the scan.
 *
 * A found row passes from its window up to a projection or an aggregate that drops it. Fields may
 * go if all operators in between read the row by field, or ask whether it is NULL.
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

  /** The operators below, from top to bottom, that pass a found row on unchanged. */
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
 * An output column of a window that is a found row, or a list of them.
 *
 * @param row the struct that the aggregate picks or collects
 */
private[spark] final case class FoundRow(column: Alias, row: CreateNamedStruct) {

  /** Whether the row has exactly these fields. */
  def hasFields(paths: Seq[FieldReads.Path]): Boolean =
    if (paths.isEmpty) row.valExprs.forall(_.foldable)
    else paths == row.valExprs.indices.map(Seq(_))

  /** The column with these fields. Without any, a constant field tells whether a row exists. */
  def withFields(paths: Seq[FieldReads.Path]): Alias = {
    val fields =
      if (paths.isEmpty) Seq(Literal("found"), TrueLiteral)
      else paths.flatMap(path => Seq(row.nameExprs(path.head), value(path)))
    Alias(over(CreateNamedStruct(fields)), column.name)()
  }

  /** The same column, if the struct already is a column of the window's child. */
  def of(whole: Attribute): NamedExpression =
    column.withNewChildren(Seq(over(whole))).asInstanceOf[NamedExpression]

  /** The attributes that the column reads besides the row. */
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

  /** None unless the column's aggregate picks structs, and does not read their fields. */
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
