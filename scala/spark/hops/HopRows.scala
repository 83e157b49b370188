package io.sash.spark.hops

import scala.util.{Left, Right}

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._

import io.sash.spark.base.Filtered

/**
 * The rows below an Aggregate, before Spark copies them into their windows. There may be
 * projections, filters, aliases and views between the copies and the Aggregate. They are moved
 * onto the rows themselves.
 *
 * @param time the row's time in microseconds. A row whose time is NULL is in no window
 * @param window the window's column
 * @param child the rows, with the moved operators
 * @param ofCopies columns whose values may differ between the copies of a row, as expressions
 *   over the window and the rows: the window's aliases, its fields, and nondeterministic columns
 * @param conditions conditions on windows, over the window and the rows. A copy that fails one is
 *   dropped
 */
private[hops] final case class HopRows(
    time: Expression,
    hops: HopPanes,
    window: Attribute,
    child: LogicalPlan,
    ofCopies: AttributeMap[Expression],
    conditions: Seq[Expression]
) extends PredicateHelper {

  /** Replaces each column of `ofCopies` in an expression by its expression. */
  def overWindow(e: Expression): Expression = e.transform { case a: Attribute =>
    ofCopies.getOrElse(a, a)
  }

  /**
   * The reason why `overWindow` cannot rewrite an expression: Spark cannot replace the outer
   * columns of a subquery.
   */
  def refusalOf(e: Expression): Option[String] = e.collectFirst {
    case s: SubqueryExpression if s.references.exists(ofCopies.contains) =>
      "a subquery reads the window"
  }

  /** Whether an expression may have different values for the copies of a row. */
  def differs(e: Expression): Boolean = {
    val value = overWindow(e)
    value.references.contains(window) || !value.deterministic
  }

  private def projected(list: Seq[NamedExpression]): HopRows = {
    val (others, ofRows) = list.partition(differs)
    val computed = others.collect { case a: Alias => a.toAttribute -> overWindow(a.child) }
    val names = AttributeMap(ofRows.collect { case alias @ Alias(a: Attribute, _) =>
      a -> (alias.toAttribute: Expression)
    })
    val kept = AttributeSet(ofRows.collect { case a: Attribute => a })
    val met = conditions.map(_.transform {
      case a: Attribute if !kept.contains(a) => names.getOrElse(a, a)
    })
    val all = AttributeMap(ofCopies.toSeq ++ computed)
    val read = (time +: all.values.toSeq) ++ met
    val more = AttributeSet.fromAttributeSets(read.map(_.references)).filter { a =>
      child.outputSet.contains(a) && !kept.contains(a)
    }
    copy(child = Project(ofRows ++ more, child), ofCopies = all, conditions = met)
  }

  /** The conjuncts on windows, and the conjuncts on rows. */
  private def split(condition: Expression): (Seq[Expression], Seq[Expression]) =
    splitConjunctivePredicates(condition).partition(differs)

  private def isCorrelated(e: Expression): Boolean = e.exists {
    case s: SubqueryExpression => s.references.nonEmpty
    case _                     => false
  }

  private def refusalBeside(condition: Expression): Option[String] =
    Option.when(split(condition)._1.exists(isCorrelated))(
      "a subquery beside the window reads other columns"
    )

  private def filtered(condition: Expression): Either[String, HopRows] =
    if (!overWindow(condition).deterministic)
      Left(s"the condition ${condition.sql} is not deterministic")
    else
      refusalOf(condition).orElse(refusalBeside(condition)).toLeft {
        val (ofWindows, ofRows) = split(condition)
        copy(
          child = Filtered(ofRows, child),
          conditions = conditions ++ ofWindows.map(overWindow)
        )
      }
}

private[hops] object HopRows {

  /**
   * The rows without copies. None if there are no windows. Left, with the reason, if an operator
   * above the windows cannot be moved onto the rows.
   */
  def of(plan: LogicalPlan): Option[Either[String, HopRows]] =
    plan match {
      case WindowsOf.Each(WindowsOf(time, hops, _), window, child) =>
        val itself = AttributeMap(Seq(window -> (window: Expression)))
        Some(Right(HopRows(time, hops.sinceEpoch, window, child, itself, Nil)))
      case _ => between(plan)
    }

  /** The operators between an Aggregate and its windows. */
  def operators(plan: LogicalPlan): Seq[LogicalPlan] =
    if (isEach(plan)) Nil else plan +: plan.children.flatMap(operators)

  private def isEach(plan: LogicalPlan): Boolean = WindowsOf.Each.unapply(plan).nonEmpty

  private def between(plan: LogicalPlan): Option[Either[String, HopRows]] = plan match {
    case _: SubqueryAlias | _: View => of(plan.children.head)
    case Project(list, child) =>
      below(child).map(_.flatMap { rows =>
        list.flatMap(rows.refusalOf(_)).headOption.toLeft(rows.projected(list))
      })
    case Filter(condition, child) => below(child).map(_.flatMap(_.filtered(condition)))
    case _: Aggregate             => None
    case p if p.children.exists(of(_).isDefined) =>
      Some(Left(s"${named(p)} lies between the windows and the aggregation"))
    case _ => None
  }

  /**
   * The rows for an operator above `plan`. Rows whose time is NULL are dropped below the
   * operator, as they have no copies.
   */
  private def below(plan: LogicalPlan): Option[Either[String, HopRows]] =
    of(plan).map(_.map { rows =>
      if (!isEach(plan)) rows
      else rows.copy(child = Filter(IsNotNull(rows.time), rows.child))
    })

  /** The name of an operator in SQL or in the DataFrame API. */
  private def named(plan: LogicalPlan): String = plan match {
    case _: Expand                      => "GROUPING SETS"
    case _: Join                        => "a join"
    case _: Generate                    => "a generator such as explode"
    case _: Window                      => "OVER"
    case _: Sort                        => "ORDER BY"
    case _: Distinct | _: Deduplicate   => "DISTINCT"
    case _: GlobalLimit | _: LocalLimit => "LIMIT"
    case _: EventTimeWatermark          => "a watermark"
    case _: RepartitionOperation        => "a repartition"
    case other                          => other.nodeName.toUpperCase(java.util.Locale.ROOT)
  }
}
