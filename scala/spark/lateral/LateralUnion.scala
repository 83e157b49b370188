package io.sash.spark.lateral

import scala.collection.mutable
import scala.util.Try

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.types.LongType

import io.sash.spark.base.{Filtered, SparkVersions}
import io.sash.spark.kinds.{BoundsWindow, OwnBound, SlidingAggregate}
import io.sash.spark.monoids.{Algorithm, OfCurrentRow}
import io.sash.spark.plan.{HiddenKeys, WrapMovingAggregates}
import io.sash.spark.python.SlidePythonAggregators
import io.sash.spark.windows.{OfSubquery, WindowCall}

/**
 * A plan of the labels with the answers of their queries.
 *
 * It is a union of labels and events. Windows over the union aggregate the events alone, and a
 * filter keeps the labels' rows:
 * {{{
 *   Project     labels' columns, answers
 *     Filter    the row is a label
 *       Window  aggregate FILTER (WHERE the row is an event) OVER (
 *               PARTITION BY keys ORDER BY time RANGE BETWEEN … AND …)
 *         Union
 *           Project  labels
 *           Project  events of the first table, …
 * }}}
 * Queries over one table share its rows. Queries whose keys are the same expressions over the
 * label, and whose times have one type, share one exchange.
 *
 * @param answers for each query, the output column of each aggregate, by its canonical form
 */
private[lateral] final class LateralUnion private (
    val plan: LogicalPlan,
    answers: Seq[Map[Expression, Attribute]]
) {

  /** Replaces the aggregates of query `i` in an expression by their answers' columns. */
  def over(i: Int, e: Expression): Expression = e.transform { case call: AggregateExpression =>
    answers(i)(call.canonicalized)
  }
}

private[spark] object LateralUnion {

  private[lateral] def apply(
      labels: LogicalPlan,
      queries: Seq[CorrelatedAggregate],
      zone: String,
      overStreams: Boolean
  ): LateralUnion = {
    val checks = new OverflowChecks(queries, zone)
    val overTimes =
      if (!overStreams) checks.queries
      else queries.map(StreamTimeRange.overTimes(_, labels, zone))
    val sorted = overTimes.map(q => q.copy(keys = q.guardedKeys.sortBy(_.ofLabel.sql)))
    val groups = sorted.indices.groupBy { i =>
      (sorted(i).keys.map(_.ofLabel.canonicalized), sorted(i).time.dataType)
    }
    val ordered = groups.values.toSeq.sortBy(_.head)
    val none: (LogicalPlan, Map[Int, Map[Expression, Attribute]]) =
      (if (overStreams) labels else checks.over(labels), Map.empty)
    val (plan, answers) = ordered.foldLeft(none) { case ((below, before), group) =>
      val one = new OneUnion(below, group.map(sorted), zone, overStreams)
      (one.plan, before ++ group.zip(one.answers))
    }
    new LateralUnion(plan, queries.indices.map(answers))
  }

  /** The reason, if no window can compute an aggregate. */
  private[lateral] def refusal(
      call: AggregateExpression,
      overStreams: Boolean
  ): Option[String] =
    call.aggregateFunction match {
      case f: OfCurrentRow => Some(s"${f.prettyName} is of a row of the window, not of a label")
      case f if !overStreams && SlidePythonAggregators.isAggregator(f) => None
      case _                                                           => refusalOfWindow(call)
    }

  private def refusalOfWindow(call: AggregateExpression): Option[String] = {
    val order = SortOrder(AttributeReference("time", LongType)(), Ascending)
    val spec = WindowSpecDefinition(Nil, Seq(order), Growing)
    val window = windowOf(call, spec, BoundsWindow(None, None))
    WindowCall.of(window, Algorithm.Auto).swap.toOption.map(_.reason)
  }

  private val Growing = SpecifiedWindowFrame(RangeFrame, UnboundedPreceding, CurrentRow)

  /**
   * A window for Sash's operator alone, since its function is a `SlidingAggregate`. Spark's own
   * window ignores FILTER before 4.2, and it would take frames that only grow.
   */
  private def windowOf(
      call: AggregateExpression,
      spec: WindowSpecDefinition,
      kinds: BoundsWindow*
  ): WindowExpression = {
    val sliding = SlidingAggregate.of(call.aggregateFunction, kinds)
    WrapMovingAggregates.moved(WindowExpression(call.copy(aggregateFunction = sliding), spec))
  }

  /**
   * One union of the labels and the events of all queries with the same keys.
   *
   * @param labels the labels, with the answers of the unions below
   */
  private final class OneUnion(
      labels: LogicalPlan,
      queries: Seq[CorrelatedAggregate],
      zone: String,
      overStreams: Boolean
  ) {
    private val sources = EventSource.of(queries)
    private val sourceOf = queries.indices.map(i => sources.indexWhere(_.queries.contains(i)))
    private val ranges = queries.map { q =>
      if (overStreams) StreamTimeRange.of(q, zone) else LateralRange.of(q, zone)
    }
    private val keys = queries.head.keys.map(_.ofLabel)

    /** The value by which a label's row is ordered among the events. */
    private val position = LateralRange.position(queries, ranges)

    private val bounds: Seq[Alias] = queries
      .flatMap(q => (q.lower ++ q.upper).map(b => q.ifApplies(b.value)))
      .distinctBy(_.canonicalized)
      .map(Alias(_, "bound")())

    /**
     * For each key and the time: the ordinal of the labels' column that already has the value, or
     * -1. An event has its own value in that column.
     */
    private val reused: Seq[Int] = (keys :+ position).foldLeft(Seq.empty[Int]) { (taken, e) =>
      val at = labels.output.indexWhere(a => e.semanticEquals(a) && a.dataType == e.dataType)
      taken :+ (if (taken.contains(at)) -1 else at)
    }

    private def nothing(of: NamedExpression): Alias =
      Alias(Literal(null, of.dataType), of.name)()

    /**
     * A placeholder for an event in a column of the labels. It is not NULL if the column is not
     * nullable. The optimizer may remove the union, and nullability must then stay as it was.
     */
    private def unread(of: Attribute): Alias =
      if (of.nullable) nothing(of)
      else
        Alias(
          Try(Literal.default(of.dataType)).getOrElse(Literal(null, of.dataType)),
          of.name
        )()

    /** Marks a value as not null. An attribute stays one, so that it keeps its watermark. */
    private def notNull(value: Expression): Expression = value match {
      case a: Attribute => a.withNullability(false)
      case e            => KnownNotNull(e)
    }

    /** Whether an event without the value matches no label, since labels are never NULL there. */
    private def isWanted(value: Expression, at: Int): Boolean =
      at >= 0 && value.nullable && !labels.output(at).nullable

    private val ofLabels = UnionRow(
      labels = labels.output.map(a => Alias(a, a.name)()),
      keys = keysOf(keys :+ position),
      bounds = bounds,
      events = sources.map(_.columns.map(nothing)),
      source = Alias(Literal(OfLabel), "source")()
    )

    /** Columns for the keys and the time that no column of the labels has. */
    private def keysOf(values: Seq[Expression]): Seq[Alias] =
      values.zip(reused).collect { case (value, -1) => Alias(value, "key")() }

    private def ofEvents(number: Int): LogicalPlan = {
      val source = sources(number)
      val (wanted, values) = (source.keys :+ source.time)
        .zip(reused)
        .map { case (value, at) =>
          if (isWanted(value, at)) (Some(IsNotNull(value)), notNull(value)) else (None, value)
        }
        .unzip
      val row = UnionRow(
        labels = labels.output.zipWithIndex.map { case (a, i) =>
          val at = reused.indexOf(i)
          if (at < 0) unread(a) else Alias(values(at), a.name)()
        },
        keys = keysOf(values),
        bounds = bounds.map(nothing),
        events = sources.map { s =>
          s.columns.map(c => if (s eq source) Alias(c, c.name)() else nothing(c))
        },
        source = Alias(Literal(number), "source")()
      )
      Project(unlike(row.columns), Filtered(wanted.flatten, source.rows))
    }

    /**
     * Makes columns differ that are one attribute. Spark's optimizer would remove their aliases,
     * and a Union refuses equal columns.
     */
    private def unlike(columns: Seq[Alias]): Seq[Alias] = {
      val seen = mutable.Set.empty[ExprId]
      columns.map {
        case a @ Alias(of: Attribute, _) if !seen.add(of.exprId) =>
          a.withNewChildren(Seq(KnownNullable(of))).asInstanceOf[Alias]
        case a => a
      }
    }

    private val union =
      Union(Project(ofLabels.columns, labels) +: sources.indices.map(ofEvents))

    // a union has the columns of its first child
    private val output = AttributeMap(union.output.map(a => a -> a))
    private val columns = ofLabels.map(a => output(a.toAttribute))

    private val keyColumns = {
      val computed = columns.keys.iterator
      reused.map(at => if (at < 0) computed.next() else columns.labels(at))
    }

    private val spec = WindowSpecDefinition(
      // windows over streams are planned during analysis, before the optimizer
      if (overStreams) keyColumns.init else keyColumns.init.map(HiddenKeys.hidden),
      Seq(SortOrder(keyColumns.last, Ascending)),
      UnspecifiedFrame
    )

    private def ownBound(query: CorrelatedAggregate, bound: OwnBound): OwnBound = {
      val value = query.ifApplies(bound.value)
      val column =
        if (value.semanticEquals(position)) keyColumns.last
        else columns.bounds(bounds.indexWhere(_.child.semanticEquals(value)))
      bound.copy(value = column)
    }

    /** An end of a `RisingRange`, computed from the row's own time. */
    private def risingBound(base: Attribute)(bound: OwnBound): OwnBound =
      bound.copy(value = bound.value.transform {
        case a: Attribute if a.semanticEquals(base) => keyColumns.last
      })

    /** For each source, the union's columns that hold its columns. */
    private val columnsOf: Seq[AttributeMap[Attribute]] =
      sources.zip(columns.events).map { case (s, of) => AttributeMap(s.columns.zip(of)) }

    /** @param call an aggregate of query `i`, over the columns of its source */
    private def window(i: Int, call: AggregateExpression): WindowExpression = {
      val number = sourceOf(i)
      def overUnion(e: Expression) = e.transform { case a: Attribute =>
        columnsOf(number).getOrElse(a, a)
      }
      val conditions =
        EqualTo(columns.source, Literal(number)) +:
          (sources(number).conditionsOf(i) ++ call.filter).map(overUnion)
      val over = call.copy(
        aggregateFunction = overUnion(call.aggregateFunction).asInstanceOf[AggregateFunction],
        filter = Some(conditions.reduce[Expression](And(_, _)))
      )
      val query = queries(i)
      def bounded(column: OwnBound => OwnBound) = {
        val kind = BoundsWindow(query.lower.map(column), query.upper.map(column))
        windowOf(over, spec.copy(frameSpecification = Growing), kind)
      }
      val moved = ranges(i) match {
        case offsets: OffsetRange if !LateralRange.isAt(position, query, offsets.base) =>
          bounded(ownBound(query, _))
        case offsets: OffsetRange if offsets.isOfNumbers =>
          windowOf(over, spec.copy(frameSpecification = Growing), offsets.window(keyColumns.last))
        case offsets: OffsetRange =>
          val framed = spec.copy(frameSpecification = offsets.frame(query.time.dataType, zone))
          if (overStreams) WrapMovingAggregates.moved(WindowExpression(over, framed))
          else windowOf(over, framed)
        case RisingRange(base) if LateralRange.isAt(position, query, base) =>
          bounded(risingBound(base))
        case _ => bounded(ownBound(query, _))
      }
      val shown = if (overStreams) moved else WrapMovingAggregates.filtered(moved)
      val own = Option.when(call.getTagValue(OneGroup.Made).isEmpty)(LateralSourceText(call))
      shown.setTagValue(OfSubquery.Tag, OfSubquery(query.text, own))
      shown
    }

    private val windows: Seq[Seq[(Expression, Alias)]] = queries.indices.map { i =>
      queries(i).calls.zip(sources(sourceOf(i)).queries(i).calls).map { case (original, call) =>
        original.canonicalized -> Alias(window(i, call), original.sql)()
      }
    }

    val answers: Seq[Map[Expression, Attribute]] =
      windows.map(_.map { case (call, alias) => call -> alias.toAttribute }.toMap)

    val plan: LogicalPlan = {
      val expressions = windows.flatten.map(_._2)
      val moved = SparkVersions.window(expressions, spec.partitionSpec, spec.orderSpec, union)
      val isLabel = EqualTo(columns.source, Literal(OfLabel))
      isLabel.setTagValue(OfSubquery.Asks, ())
      val ofLabels = Filter(isLabel, moved)
      val restored = labels.output.zip(columns.labels).map { case (a, column) =>
        val value = if (a.nullable || !column.nullable) column else KnownNotNull(column)
        Alias(value, a.name)(a.exprId, a.qualifier, Some(a.metadata))
      }
      Project(restored ++ expressions.map(_.toAttribute), ofLabels)
    }
  }

  /**
   * The columns of the union, in order.
   *
   * @param labels the columns of the labels
   * @param keys the keys and the time that no column of the labels has
   * @param bounds the bounds of the queries' ranges
   * @param events for each source, the columns of its events
   * @param source the number of the row's source
   */
  private final case class UnionRow[+E](
      labels: Seq[E],
      keys: Seq[E],
      bounds: Seq[E],
      events: Seq[Seq[E]],
      source: E
  ) {
    def columns: Seq[E] = labels ++ keys ++ bounds ++ events.flatten :+ source

    def map[F](f: E => F): UnionRow[F] =
      UnionRow(labels.map(f), keys.map(f), bounds.map(f), events.map(_.map(f)), f(source))
  }

  /** The source number of the labels. */
  private val OfLabel = -1
}
