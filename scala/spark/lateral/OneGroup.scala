package io.sash.spark.lateral

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, Count, First}
import org.apache.spark.sql.catalyst.plans.logical.Aggregate
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.types._

import io.sash.spark.base.TimeUnit

/**
 * GROUP BY by constants, or by keys that equal the label's. Then the events of a label are one
 * group, and a label without events has no row.
 */
private[lateral] object OneGroup {

  /** Tags expressions that replace GROUP BY and are not in the user's text. */
  val Made: TreeNodeTag[Unit] = TreeNodeTag("sash.group")

  def of(a: Aggregate): SubqueryTop = {
    val groups = a.groupingExpressions
    val hasRows = made(GreaterThan(made(countOf), Literal(0L)))
    val results = a.aggregateExpressions.map(LateralColumns.mapped(_)(ofGroup(_, groups)))
    SubqueryTop(a.child, results, Some(hasRows), groups = groups)
  }

  /** The number of a label's events. */
  def countOf: AggregateExpression = Count(Literal(1)).toAggregateExpression()

  /** Tags an expression with `Made`. */
  def made[T <: Expression](e: T): T = {
    e.setTagValue(Made, ())
    e
  }

  /** An expression over the group, in which the first row's key replaces the group's. */
  private def ofGroup(e: Expression, groups: Seq[Expression]): Expression = e match {
    case call: AggregateExpression => call
    case key if !key.foldable && groups.exists(_.semanticEquals(key)) =>
      made(made(First(key, ignoreNulls = false)).toAggregateExpression())
    case other => other.mapChildren(ofGroup(_, groups))
  }

  /**
   * The reason, if the events of a label may be several groups, or one group whose keys differ in
   * form.
   *
   * @param calls the aggregates, including the ones that replace keys
   */
  def fault(
      groups: Seq[Expression],
      keys: Seq[EqualKeys],
      calls: Seq[AggregateExpression]
  ): Option[String] = {
    val varying = groups.filterNot { group =>
      group.foldable || keys.exists(k => SameTime.orderAlike(k.ofEvents, group))
    }
    val unlike = calls.map(_.aggregateFunction).collectFirst {
      case f @ First(key, _) if f.getTagValue(Made).nonEmpty && !isExact(key.dataType) =>
        s"its columns read ${LateralSourceText(key)} of a group, and unlike values of type " +
          s"${key.dataType.sql} may be equal; read the key of the outer row"
    }
    if (varying.isEmpty) unlike
    else
      Some(
        varying.map(LateralSourceText(_)).mkString("GROUP BY ", ", ", " makes several rows; ") +
          "count one group by FILTER (WHERE …), or group in a query around"
      )
  }

  /** Whether equal values of the type are identical. */
  private def isExact(of: DataType): Boolean = of match {
    case s: StringType                                              => s == StringType
    case BooleanType | TimeUnit(_)                                  => true
    case ByteType | ShortType | IntegerType | LongType | BinaryType => true
    case _: DecimalType                                             => true
    case _                                                          => false
  }
}
