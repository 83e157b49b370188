package io.sash.spark.slices

import scala.util.{Left, Right}

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.Literal.TrueLiteral
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.plans.logical.statsEstimation.EstimationUtils
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.catalyst.trees.TreePattern.{FILTER, UNION, WINDOW}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.sash.SqlInternals

import io.sash.spark.base.SashConf
import io.sash.spark.plan.{WindowFilter, WithoutErrors}
import io.sash.spark.windows.OfSubquery

/**
 * Combines events by slices before they are exchanged. The ends of a key's ranges divide time
 * into slices, and each label's window holds a slice wholly or not at all. So the events of a
 * slice become one row, with any time in the slice. The window over labels and events stays.
 *
 * Paper: ''Cutty: Aggregate Sharing for User-Defined Windows'', section 2 (slicing).
 */
private[spark] object SliceWindows extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!SashConf.lateralEnabled(conf) || SashConf.sliceThreshold(conf) < 0) plan
    else
      plan.transformUpWithPruning(_.containsAllPatterns(FILTER, WINDOW, UNION)) {
        case filter @ Filter(condition, window: Window) =>
          val choice = new SliceChoice(conf)
          LabelUnion.of(condition, window).fold[LogicalPlan](filter) {
            case Right(union) =>
              new SlicedUnion(union, conf.sessionLocalTimeZone, choice).filtered(filter)
            case Left(why) => if (choice.isSmall(window.child)) filter else refused(filter, why)
          }
      }

  /**
   * Says in EXPLAIN why events are exchanged one by one. The reason is a tag on the condition
   * that keeps labels, since later rules copy the filter without its tags.
   */
  def refused(filter: Filter, why: String): Filter = {
    filter.condition.foreach {
      case asks: EqualTo if asks.getTagValue(OfSubquery.Asks).nonEmpty =>
        asks.setTagValue(Refused, why)
      case _ =>
    }
    filter
  }

  /** The reason, if a node of the physical plan has such a condition. */
  def refusal(plan: SparkPlan): Option[String] =
    plan.expressions
      .flatMap(_.collect { case e: EqualTo => e.getTagValue(Refused) })
      .flatten
      .headOption

  private val Refused: TreeNodeTag[String] = TreeNodeTag("sash.slices")
}

/** Plans a window over a union, and combines the events of each source that allows it. */
private[slices] final class SlicedUnion(
    union: LabelUnion,
    zone: String,
    choice: SliceChoice
) {
  import SlicedUnion.{LeastEvents, Source}
  import union.{allLabels, events, keys, labels, source, time}

  private val limit = SashConf.sliceLimit(SliceWindows.conf)

  private val (sources: Seq[Source], refusals: Seq[String]) = {
    val large = events.zipWithIndex.filterNot { case ((n, _), _) => choice.isSmall(table(n)) }
    val (refused, taken) = large.partitionMap { case ((number, rows), at) =>
      sourceOf(number, rows, at)
    }
    // a table is combined only if all its parts can be
    val combined = taken.groupBy(_.number).filter { case (number, of) =>
      of.forall(_.partials.nonEmpty) && of.length == events.count(_._1 == number)
    }
    (taken.map(s => if (combined.contains(s.number)) s else s.copy(partials = Nil)), refused)
  }

  /** All parts of a table in one plan, for estimates. */
  private def table(number: Int): LogicalPlan =
    events.collect { case (`number`, rows) => rows } match {
      case Seq(one) => one
      case parts    => Union(parts)
    }

  private def sourceOf(number: Int, rows: LogicalPlan, at: Int): Either[String, Source] = {
    val calls = union.of(number)
    val times = calls.map(LabelTimes.of(union, _, zone))
    if (calls.isEmpty || times.contains(None))
      Left("their ranges are not of two values of a label")
    else {
      val ranges = times.flatten.distinct
      val partials = partialsOf(rows, calls)
      val ends = ranges.flatMap(t => Seq(t.first, t.last)).distinct.count(LabelTimes.cuts)
      val index = indexed(ranges)
      val width = Option.when(partials.nonEmpty)(widthOf(calls, partials.map(_._2)))
      choice.combines(index, table(number), ends, width).map { combines =>
        Source(number, at, rows, index, if (combines) partials else Nil, width.getOrElse(1.0))
      }
    }
  }

  /** The size of a combined row over the size of an event's row, in the exchange. */
  private def widthOf(calls: Seq[LabelCall], partials: Seq[SlicePartial]): Double = {
    val all = union.union.output
    val read = AttributeSet.fromAttributeSets(calls.map(_.expression.references))
    val others = all.filterNot(read.contains) ++ partials.distinct.flatMap(_.cells)
    sizeOf(others).toDouble / sizeOf(all).toDouble
  }

  private def sizeOf(columns: Seq[Attribute]): BigInt = EstimationUtils.getSizePerRow(columns)

  /** The partial of each call; empty if some call has no partial. Equal calls share one. */
  private def partialsOf(
      rows: LogicalPlan,
      calls: Seq[LabelCall]
  ): Seq[(LabelCall, SlicePartial)] = {
    def callOf(c: LabelCall): AggregateExpression = AggregateExpression(
      c.sliding.function,
      Complete,
      isDistinct = false,
      c.conditions.reduceOption(And)
    )
    val alike = calls.groupBy(callOf(_).canonicalized)
    val at = union.over(rows, time: Expression)
    val partials = alike.values.map { same =>
      val call = union.over(rows, callOf(same.head))
      (same, AnyOrder.partial(call, at))
    }
    if (partials.exists(_._2.isEmpty)) Nil
    else {
      val byCall = partials.flatMap { case (same, p) => same.map(_.column.exprId -> p.get) }.toMap
      calls.map(c => (c, byCall(c.column.exprId)))
    }
  }

  /** The key's columns; one BIGINT if it is a number. Without keys, all rows have the key 0. */
  private def keyOf(values: Seq[Expression]): Seq[Expression] = values match {
    case Seq()                                         => Seq(Literal(0L))
    case Seq(one) if LabelUnion.isNumber(one.dataType) => Seq(LabelTimes.number(one))
    case several                                       => several.map(SqlInternals.normalized)
  }

  /** The input of the index: the labels' keys, ranges and whether these are sound. */
  private def indexed(times: Seq[LabelTimes]): LogicalPlan = {
    val ofLabels = keyOf(keys.map(k => union.over(allLabels, k: Expression)))
    val sound = times.flatMap(_.isSound).distinct.reduceOption(And).getOrElse(TrueLiteral)
    val columns = ofLabels ++ times.flatMap(t => Seq(t.first, t.last)) :+ sound
    val read = AttributeSet.fromAttributeSets(columns.map(_.references))
    WithoutErrors(Project(columns.map(Alias(_, "range")()), SecondReading.of(allLabels, read)))
  }

  private def sliced(of: Source): EventSlices = {
    val ofEvents = keyOf(keys.map(k => union.over(of.rows, k: Expression)))
    val key = ofEvents.map(Alias(_, "key")())
    val at = Alias(LabelTimes.number(union.over(of.rows, time: Expression)), "time")()
    val partials = of.partials.map(_._2).distinct
    val combines = partials.nonEmpty
    val read = AttributeSet.fromAttributeSets(partials.map(_.references))
    val columns = if (combines) of.rows.output.filter(read.contains) else of.rows.output
    val places = (at +: key).map { a =>
      AttributeReference(a.name, a.dataType, a.nullable)()
    }
    EventSlices(
      key.map(_.toAttribute),
      at.toAttribute,
      partials,
      if (combines) places else Nil,
      of.index.output,
      limit,
      LeastEvents * math.max(of.width, 1.0),
      choice.eventsInTask(table(of.number)),
      Project(columns ++ key :+ at, of.rows),
      of.index
    )
  }

  /** The sliced sources, by their ordinal among the union's events. */
  private val slicedSources: Map[Int, (Source, EventSlices)] =
    sources.map(of => of.at -> ((of, sliced(of)))).toMap

  /** The first part of each combined table. */
  private val combining: Seq[(Source, EventSlices)] = slicedSources.toSeq
    .sortBy(_._1)
    .map(_._2)
    .filter(_._2.combines)
    .distinctBy(_._1.number)

  /** The union's columns that nobody reads any more, since events are combined. */
  private val gone: AttributeSet = {
    val ofCombined = combining.flatMap { case (of, _) => union.of(of.number) }
    val others = union.calls.filterNot(ofCombined.contains)
    val kept = AttributeSet.fromAttributeSets(
      others.map(_.expression.references) ++
        ofCombined.map(c => AttributeSet(c.sliding.windows.flatMap(_.references)))
    ) ++ AttributeSet(keys :+ time :+ source)
    AttributeSet.fromAttributeSets(ofCombined.map(_.expression.references)) -- kept
  }

  private val stay: Seq[Int] = union.places(gone)

  private val cells: Seq[(Int, Attribute)] = combining.flatMap { case (of, node) =>
    node.partials.flatMap(_.cells).map(of.number -> _)
  }

  private def nothing(of: Attribute): Alias = Alias(Literal(null, of.dataType), of.name)()

  /** The rows of a child of the union, in the columns of the new union. */
  private def rowsOf(child: LogicalPlan, at: Option[Int]): LogicalPlan =
    at.flatMap(slicedSources.get) match {
      case Some((of, node)) if node.combines =>
        val (at, key) = (node.places.head, node.places.tail)
        val columns = stay.map { i =>
          val column = union.union.output(i)
          val value =
            if (column.semanticEquals(time)) LabelTimes.time(at, time.dataType)
            else if (column.semanticEquals(source)) Literal(of.number)
            else
              keys
                .zip(key)
                .collectFirst { case (k, value) if k.semanticEquals(column) => (k, value) }
                .fold[Expression](unread(child.output(i))) { case (k, value) =>
                  val restored =
                    if (value.dataType == k.dataType) value
                    else LabelTimes.time(value, k.dataType)
                  if (child.output(i).nullable) restored else KnownNotNull(restored)
                }
          Alias(value, column.name)()
        }
        val own = node.partials.flatMap(_.cells).iterator
        Project(
          columns ++ cells.map { case (n, c) =>
            if (n == of.number) Alias(own.next(), c.name)() else nothing(c)
          },
          node
        )
      case other =>
        val rows = other.fold(child) { case (_, node) => node }
        Project(stay.map(child.output) ++ cells.map(c => nothing(c._2)), rows)
    }

  /** A placeholder, for a column that is read from labels alone. */
  private def unread(of: Attribute): Expression =
    if (of.nullable) Literal(null, of.dataType)
    else scala.util.Try(Literal.default(of.dataType)).getOrElse(Literal(null, of.dataType))

  private def windowed(filter: Filter): LogicalPlan = {
    val children = labels.map(rowsOf(_, None)) ++ events.zipWithIndex.map {
      case ((_, child), i) => rowsOf(child, Some(i))
    }
    val merged = union.union.copy(children = children)
    val columns = AttributeMap(cells.map(_._2).zip(merged.output.drop(stay.length)))
    val partials =
      combining.flatMap(_._1.partials).map { case (c, p) => c.column.exprId -> p }.toMap
    val expressions = union.calls.map { c =>
      partials.get(c.column.exprId).fold[NamedExpression](c.column)(aggregate(c, _, columns))
    }
    union.filtered(filter, expressions, merged, gone)
  }

  /** The call's output column, computed from partials. */
  private def aggregate(
      c: LabelCall,
      partial: SlicePartial,
      columns: AttributeMap[Attribute]
  ): NamedExpression = {
    val function = SlicedAggregate(c.sliding.function, partial.monoid, partial.cells.map(columns))
    val call = c.call.copy(
      aggregateFunction = c.sliding.copy(function = function),
      filter = Some(WindowFilter(EqualTo(source, Literal(c.source))))
    )
    val expression = c.expression.copy(windowFunction = call)
    expression.copyTagsFrom(c.expression)
    c.column.withNewChildren(Seq(expression)).asInstanceOf[NamedExpression]
  }

  private def refused(filter: Filter): Filter =
    refusals.headOption.fold(filter)(SliceWindows.refused(filter, _))

  /** The labels with their answers. */
  def filtered(filter: Filter): LogicalPlan =
    if (slicedSources.isEmpty) refused(filter) else windowed(refused(filter))
}

private object SlicedUnion {

  /** The least number of events per slice, if a combined row is as wide as an event's row. */
  private val LeastEvents = 1.25

  /**
   * The events of one table, or a part of them, that are cut into slices.
   *
   * @param number the table's source number
   * @param at the ordinal among the union's events
   * @param index the labels' keys and ranges
   * @param partials empty if the events are not combined
   * @param width the size of a combined row over the size of an event's row
   */
  private final case class Source(
      number: Int,
      at: Int,
      rows: LogicalPlan,
      index: LogicalPlan,
      partials: Seq[(LabelCall, SlicePartial)],
      width: Double
  )
}
