package io.sash.spark.hops

import scala.util.{Left, Right}

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.optimizer.{EliminateDistinct, ReplaceExpressions}
import org.apache.spark.sql.catalyst.planning.PhysicalAggregation
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.types.Metadata

import io.sash.spark.multisets.Distinct

/**
 * The parts of an Aggregate over `window(time, size, slide)`. Below the Aggregate, the analyzed
 * plan has one copy of each row per window.
 *
 * @param time the row's time in microseconds. A row whose time is NULL is in no window
 * @param window the window's column
 * @param keys the grouping columns other than the window
 * @param calls the aggregates, in the form of [[PaneCalls]]; their answers are their
 *   `resultAttribute`s
 * @param conditions conditions on windows, over `window` and the keys. A window that fails one is
 *   not answered
 * @param results the Aggregate's results, over `window`, the keys and the answers
 * @param child the rows without copies
 */
private[spark] final case class HopAggregate(
    hops: HopPanes,
    time: Expression,
    window: Attribute,
    keys: Seq[NamedExpression],
    calls: Seq[AggregateExpression],
    conditions: Seq[Expression],
    results: Seq[NamedExpression],
    child: LogicalPlan
) {

  /** The expressions of the keys, without their names. */
  def keyValues: Seq[Expression] = keys.map(HopAggregate.valueOf)

  /** The rows of the child that are in windows. */
  def rows: LogicalPlan = Filter((IsNotNull(time) +: beforeEnds).reduce(And), child)

  /**
   * Without ANSI mode, times before or after all windows are dropped. In ANSI mode such a time
   * has to be an error.
   */
  private def beforeEnds: Seq[Expression] =
    if (hops.isAnsi) Nil
    else
      Seq(
        GreaterThanOrEqual(time, Literal(hops.startOfAll)),
        LessThan(time, Literal(hops.endOfAll))
      )
}

private[spark] object HopAggregate {

  /**
   * Takes an Aggregate apart. None if it is not over hop windows. Left, with the reason, if Spark
   * has to answer it.
   *
   * @param reason a further reason why Spark has to answer a HopAggregate; none if Sash may
   */
  def of(aggregate: Aggregate)(
      reason: HopAggregate => Option[String]
  ): Option[Either[String, HopAggregate]] =
    HopRows
      .of(aggregate.child)
      .map(_.flatMap { rows =>
        grouped(aggregate).flatMap { case (keys, calls, results) =>
          (keys ++ calls).flatMap(rows.refusalOf(_)).headOption.toLeft(()).flatMap { _ =>
            overCopies(rows, keys, calls, results)
          }
        }
      })
      .map(_.flatMap(hop => reason(hop).toLeft(hop)))

  private def overCopies(
      rows: HopRows,
      keys: Seq[NamedExpression],
      calls: Seq[AggregateExpression],
      results: Seq[NamedExpression]
  ): Either[String, HopAggregate] = {
    val (ofCopies, others) =
      keys.map(k => k -> rows.overWindow(valueOf(k))).partition { case (_, value) =>
        rows.differs(value)
      }
    val window = eventTime(rows.window, ofCopies)
    val hop = HopAggregate(
      rows.hops,
      rows.time,
      window,
      others.map(_._1),
      calls.map(c => PaneCalls.of(rows.overWindow(c).asInstanceOf[AggregateExpression])),
      rows.conditions,
      over(AttributeMap(ofCopies.map { case (k, value) => k.toAttribute -> value }), results),
      rows.child
    )
    refusalOfWindow(hop, ofCopies).orElse(refusal(hop)).toLeft(hop)
  }

  private def valueOf(key: NamedExpression): Expression = key match {
    case Alias(e, _) => e
    case e           => e
  }

  /**
   * The window with the metadata of the key that Spark takes for the event time. If the query
   * groups by a field of the window alone, there is no event time, and the metadata is empty.
   */
  private def eventTime(
      window: Attribute,
      keys: Seq[(NamedExpression, Expression)]
  ): Attribute = {
    val metadata = keys.map { case (k, value) => (k.metadata, uncast(value) == window) }
    val first =
      metadata.find(_._1.contains(EventTimeWatermark.delayKey)).orElse(metadata.find(_._2))
    window.withMetadata(first.filter(_._2).fold(Metadata.empty)(_._1))
  }

  /** Removes casts to the same type, which views add. */
  private def uncast(e: Expression): Expression = e match {
    case c: Cast if DataTypeUtils.sameType(c.child.dataType, c.dataType) => uncast(c.child)
    case _                                                               => e
  }

  /** Replaces each key of `values` in the results by its value. */
  private def over(
      values: AttributeMap[Expression],
      results: Seq[NamedExpression]
  ): Seq[NamedExpression] = results.map {
    case a: Attribute =>
      values.get(a).filterNot(_.semanticEquals(a)).fold[NamedExpression](a) { value =>
        Alias(value, a.name)(a.exprId, a.qualifier, Some(a.metadata))
      }
    case other =>
      other
        .transform { case a: Attribute => values.getOrElse(a, a) }
        .asInstanceOf[NamedExpression]
  }

  /**
   * The reason, if rows are not grouped by windows. Some key has to be the window or a field of
   * it. A key that reads the window may read nothing else. Conditions may read only the window
   * and the keys.
   */
  private def refusalOfWindow(
      hop: HopAggregate,
      ofCopies: Seq[(NamedExpression, Expression)]
  ): Option[String] = {
    def isWindow(e: Expression) = uncast(e).semanticEquals(hop.window)
    lazy val mixed = ofCopies.find { case (_, value) =>
      !value.deterministic || value.references.exists(!isWindow(_))
    }
    lazy val grouped = AttributeSet(hop.window +: hop.keys.map(_.toAttribute))
    lazy val unmet = hop.conditions.find(!_.references.subsetOf(grouped))
    val isOfWindow = ofCopies.map(_._2).map(uncast).exists {
      case GetStructField(window, _, _) => isWindow(window)
      case value                        => isWindow(value)
    }
    if (mixed.nonEmpty) Some(mixed.map { case (k, value) =>
      if (value.deterministic) s"${valueOf(k).sql} reads the window and other columns"
      else NotDeterministic
    }.get)
    else if (!isOfWindow) Some("rows are not grouped by the window itself")
    else
      unmet.map(c =>
        s"the condition ${c.sql} reads the window and columns that rows are not grouped by"
      )
  }

  private val NotDeterministic =
    "an expression that is not deterministic has another value in each copy of a row"

  private type Parts = (Seq[NamedExpression], Seq[AggregateExpression], Seq[NamedExpression])

  private def grouped(aggregate: Aggregate): Either[String, Parts] = {
    // the rules must not rewrite the child's plan
    val alone = aggregate.withNewChildren(Seq(LocalRelation(aggregate.child.output)))
    EliminateDistinct(ReplaceExpressions(alone)) match {
      case PhysicalAggregation(keys, calls, results, _) => Right((keys, calls, results))
      case _ => Left("it is no aggregation that Spark takes apart")
    }
  }

  private def refusal(hop: HopAggregate): Option[String] = {
    import hop.{calls, keys}
    def readsWindow(e: Expression) = e.references.exists(_.exprId == hop.window.exprId)
    lazy val readers = calls.filter(readsWindow)
    lazy val unsorted = keys.find(k => !RowOrdering.isOrderable(k.dataType))
    lazy val indistinct = keys.find(k => !Distinct.areOfEqualBytes(k.dataType))
    if (readers.nonEmpty)
      Some(s"${readers.head.sql} reads the window")
    else if (unsorted.nonEmpty)
      Some(
        s"${unsorted.get.sql} is a ${unsorted.get.dataType.typeName}, by which nothing is sorted"
      )
    else if ((keys ++ calls).exists(!_.deterministic))
      Some(NotDeterministic)
    else if (indistinct.nonEmpty)
      Some(s"equal values of ${indistinct.get.sql} may differ in their bytes")
    else calls.flatMap(PaneCalls.refusal).headOption
  }
}
