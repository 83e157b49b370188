package io.sash.spark.labels

import scala.util.{Left, Right}

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, First, Last}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.types._

import io.sash.spark.kinds.OwnBound

/**
 * A correlated subquery that aggregates the events of one label: the rows of `events` whose keys
 * equal the label's, and whose time lies between two values of the label's.
 *
 * Expressions over the label have plain attributes; [[OuterReference]] is gone.
 *
 * @param keys the pairs of equal expressions
 * @param time the expression over `events` whose range is meant
 * @param lower the value of the label at which the range begins, if it does
 * @param upper the value of the label at which the range ends, if it does
 * @param ofEvents conditions over `events` alone
 * @param ofLabel conditions over the label alone: a label that does not meet them has no events
 * @param results the subquery's columns, over `events`, with their aggregates
 * @param having the condition of HAVING over the same
 */
private[labels] final case class CorrelatedAggregate(
    events: LogicalPlan,
    keys: Seq[EqualKeys],
    time: Expression,
    lower: Option[OwnBound],
    upper: Option[OwnBound],
    ofEvents: Seq[Expression],
    ofLabel: Seq[Expression],
    results: Seq[NamedExpression],
    having: Option[Expression]
) {

  /** The aggregates, each once. */
  def calls: Seq[AggregateExpression] =
    (results ++ having)
      .flatMap(_.collect { case call: AggregateExpression => call })
      .distinctBy(_.canonicalized)

  /** All expressions over the label. */
  def ofLabels: Seq[Expression] = keys.map(_.ofLabel) ++ (lower ++ upper).map(_.value) ++ ofLabel

  /** A value of the label, or NULL if the label does not meet its conditions. */
  def ifApplies(value: Expression): Expression = ofLabel
    .reduceOption(And)
    .fold(value)(If(_, value, Literal(null, value.dataType)))
}

/**
 * An equality of keys.
 *
 * @param isNullSafe whether NULL equals NULL
 */
private[labels] final case class EqualKeys(
    ofEvents: Expression,
    ofLabel: Expression,
    isNullSafe: Boolean
)

private[labels] object CorrelatedAggregate extends PredicateHelper {

  /**
   * The aggregate of a subquery. None if it compares no range with the row around it, so that
   * Spark joins by equality alone; Left, with the reason, if it is of another shape.
   */
  def of(subquery: LogicalPlan): Option[Either[String, CorrelatedAggregate]] =
    top(subquery).flatMap(parsed)

  private def parsed(top: Top): Option[Either[String, CorrelatedAggregate]] =
    Option.when(hasRange(top.rows)) {
      for {
        rows <- CorrelatedRows.of(top.rows)
        sorted <- SortedConditions.of(rows.conditions)
        found <- sorted.of(rows, top)
      } yield found
    }

  /**
   * An as-of join as a subquery for each row on the left: the nearest row on the right, before
   * that row or after it. None if both directions are meant.
   */
  def of(join: AsOfJoin): Option[Either[String, CorrelatedAggregate]] = {
    val right = join.right.outputSet
    def outer(e: Expression): Expression = e.transform {
      case a: Attribute if !right.contains(a) => OuterReference(a)
    }
    // the distance is left minus right if the join looks back
    val distance = join.orderExpression
    val looks =
      distance.children.headOption.filter(_ => !distance.isInstanceOf[If]).map { first =>
        if (first.references.subsetOf(right)) Ascending else Descending
      }
    looks.flatMap { direction =>
      val met = (join.condition.toSeq :+ join.asOfCondition).map(outer)
      val rows = Filter(met.reduce(And), join.right)
      val picked = one(direction, rows, join.right.output)
      parsed(picked)
    }
  }

  /**
   * The top of a subquery, above the rows that it aggregates.
   *
   * @param results its columns, over the rows, with their aggregates
   * @param having the condition on which the subquery has a row
   * @param order the order of the rows, where the aggregate depends on it
   */
  private[labels] final case class Top(
      rows: LogicalPlan,
      results: Seq[NamedExpression],
      having: Option[Expression],
      order: Option[SortOrder] = None
  ) {

    /** The expression over the rows. */
    def over(e: Expression): Expression = e.transformUp { case a: Attribute =>
      results.collectFirst { case x: Alias if x.exprId == a.exprId => x.child }.getOrElse(a)
    }
  }

  private def top(plan: LogicalPlan): Option[Top] = plan match {
    case SubqueryAlias(_, child) => top(child)
    case a: Aggregate if a.groupingExpressions.isEmpty =>
      Some(Top(a.child, a.aggregateExpressions, None))
    case Project(list, child) if list.forall(_.deterministic) =>
      top(child).map { below =>
        below.copy(results = list.map {
          case a: Attribute => below.results.find(_.exprId == a.exprId).getOrElse(a)
          case e            => e.withNewChildren(e.children.map(below.over)).asInstanceOf[Alias]
        })
      }
    case Filter(condition, child) if condition.deterministic =>
      top(child).collect { case below @ Top(_, _, None, _) =>
        below.copy(having = Some(below.over(condition)))
      }
    case GlobalLimit(Literal(1, _), LocalLimit(Literal(1, _), sorted)) => one(sorted)
    case _                                                             => None
  }

  /**
   * ORDER BY time LIMIT 1: the first or the last row as a struct. Without a row there is no
   * struct.
   */
  private def one(sorted: LogicalPlan): Option[Top] = sorted match {
    case Sort(Seq(order), true, child, _) => Some(ordered(order, child, child.output))
    case Project(list, Sort(Seq(order), true, child, _)) if list.forall(_.deterministic) =>
      Some(ordered(order, child, list))
    case SubqueryAlias(_, child) => one(child)
    case _                       => None
  }

  private def ordered(order: SortOrder, rows: LogicalPlan, list: Seq[NamedExpression]): Top =
    one(order.direction, rows, list).copy(order = Some(order))

  private def one(
      direction: SortDirection,
      rows: LogicalPlan,
      list: Seq[NamedExpression]
  ): Top = {
    val columns = list.flatMap { e =>
      val value = e match {
        case a: Alias => a.child
        case a        => a
      }
      Seq(Literal(e.name), value)
    }
    val row = CreateNamedStruct(columns)
    val picked =
      if (direction == Descending) Last(row, ignoreNulls = false)
      else First(row, ignoreNulls = false)
    val call = picked.toAggregateExpression()
    val results = list.zipWithIndex.map { case (e, i) =>
      Alias(GetStructField(call, i, Some(e.name)), e.name)(e.exprId, e.qualifier)
    }
    Top(rows, results, Some(IsNotNull(call)))
  }

  private def hasRange(plan: LogicalPlan): Boolean = plan.exists(_.expressions.exists(_.exists {
    case b: Between          => SubExprUtils.containsOuter(b)
    case c: BinaryComparison => isRange(c) && SubExprUtils.containsOuter(c)
    case _                   => false
  }))

  private def isRange(c: BinaryComparison): Boolean = c match {
    case _: EqualTo | _: EqualNullSafe => false
    case _                             => true
  }

  /** The expression with plain attributes for the columns of the row around the subquery. */
  private[labels] def ofLabel(e: Expression): Expression =
    e.transform { case OuterReference(a) => a }
}

/**
 * The rows that a subquery aggregates: a plan without references to the row around it, and the
 * conditions over its columns, which may have some.
 *
 * @param columns the columns that were computed above the plan
 */
private[labels] final case class CorrelatedRows(
    events: LogicalPlan,
    conditions: Seq[Expression],
    columns: AttributeMap[Expression]
) {

  /** The expression over the columns of `events`. */
  def over(e: Expression): Expression = e.transformUp { case a: Attribute =>
    columns.getOrElse(a, a)
  }
}

private[labels] object CorrelatedRows extends PredicateHelper {

  /** Descends as long as a condition below refers to the row around the subquery. */
  def of(plan: LogicalPlan): Either[String, CorrelatedRows] = plan match {
    case p if !p.exists(_.expressions.exists(SubExprUtils.containsOuter)) =>
      Right(CorrelatedRows(p, Nil, AttributeMap.empty))
    case SubqueryAlias(_, child) => of(child)
    case Project(list, child) if list.forall(_.deterministic) =>
      of(child).map { below =>
        below.copy(columns = AttributeMap(list.map {
          case a: Attribute => a -> below.over(a)
          case e            => e.toAttribute -> below.over(e.children.head)
        }))
      }
    case Filter(condition, child) if condition.deterministic =>
      of(child).map { below =>
        val conjuncts = splitConjunctivePredicates(spelled(condition)).map(below.over)
        below.copy(conditions = below.conditions ++ conjuncts)
      }
    case other =>
      Left(s"${other.nodeName} lies between the aggregate and a condition on the outer row")
  }

  /**
   * The condition with each BETWEEN as two comparisons. They are its replacement; its parameters
   * may have names that the analyzer has given up.
   */
  private def spelled(condition: Expression): Expression = condition.transform {
    case b: Between if SubExprUtils.containsOuter(b) =>
      b.replacement match {
        case w: With =>
          val values = w.defs.map(d => d.id -> d.child).toMap
          w.child.transform { case ref: CommonExpressionRef => values(ref.id) }
        case comparisons => comparisons
      }
  }
}

/** The conditions of a subquery, sorted by the tables that they read. */
private[labels] final case class SortedConditions(
    keys: Seq[EqualKeys],
    ranges: Seq[SortedConditions.End],
    ofEvents: Seq[Expression],
    ofLabel: Seq[Expression]
) {
  import SortedConditions._

  def of(
      rows: CorrelatedRows,
      top: CorrelatedAggregate.Top
  ): Either[String, CorrelatedAggregate] = {
    val (fixed, conditions) = ofEvents.partition(_.exists(_.isInstanceOf[SubqueryExpression]))
    val results = top.results.map(e => e.withNewChildren(e.children.map(rows.over)))
    val having = top.having.map(rows.over)
    val calls = (results ++ having).flatMap(_.collect { case c: AggregateExpression => c })
    for {
      ranges <- SameTime.of(this.ranges)
      time = ranges.head.time
      _ <- top.order
        .filterNot(o => rows.over(o.child).semanticEquals(time))
        .map(o => s"ORDER BY ${o.child.sql} is not the order of the range")
        .toLeft(())
      lower <- atMostOne(ranges.filter(_.isLower), "lower")
      upper <- atMostOne(ranges.filterNot(_.isLower), "upper")
      _ <- calls
        .find(SubExprUtils.containsOuter)
        .map(c => s"${c.sql} reads the outer row")
        .toLeft(())
      _ <- (calls ++ ofEvents)
        .find(_.exists(_.isInstanceOf[PythonUDF]))
        .map(e => s"${e.sql} runs in Python")
        .toLeft(())
      _ <- (time +: keys.map(_.ofEvents))
        .find(e => !RowOrdering.isOrderable(e.dataType))
        .map(e => s"rows cannot be ordered by ${e.sql}")
        .toLeft(())
    } yield CorrelatedAggregate(
      fixed.reduceOption(And).fold(rows.events)(Filter(_, rows.events)),
      keys,
      time,
      lower,
      upper,
      conditions,
      ofLabel,
      results.map(e => CorrelatedAggregate.ofLabel(e).asInstanceOf[NamedExpression]),
      having.map(CorrelatedAggregate.ofLabel)
    )
  }

  private def atMostOne(ends: Seq[End], which: String): Either[String, Option[OwnBound]] =
    if (ends.length <= 1) Right(ends.headOption.map(_.bound))
    else Left(s"two $which bounds: ${ends.map(_.bound.value.sql).mkString(", ")}")
}

private[labels] object SortedConditions {

  /** One end of a range. */
  final case class End(time: Expression, bound: OwnBound, isLower: Boolean)

  def of(conditions: Seq[Expression]): Either[String, SortedConditions] =
    conditions.foldLeft[Either[String, SortedConditions]](
      Right(SortedConditions(Nil, Nil, Nil, Nil))
    )((sorted, condition) => sorted.flatMap(add(_, condition)))

  private def add(to: SortedConditions, c: Expression): Either[String, SortedConditions] =
    c match {
      case _ if !readsLabel(c)  => Right(to.copy(ofEvents = to.ofEvents :+ c))
      case _ if !readsEvents(c) => Right(to.copy(ofLabel = to.ofLabel :+ label(c)))
      case Sides(events, value, flipped) =>
        def end(isLower: Boolean, isIncluded: Boolean) = Right(
          to.copy(ranges = to.ranges :+ End(events, OwnBound(label(value), isIncluded), isLower))
        )
        c match {
          case _: EqualTo       => equal(to, EqualKeys(events, label(value), isNullSafe = false))
          case _: EqualNullSafe => equal(to, EqualKeys(events, label(value), isNullSafe = true))
          case _: GreaterThanOrEqual => end(isLower = !flipped, isIncluded = true)
          case _: GreaterThan        => end(isLower = !flipped, isIncluded = false)
          case _: LessThanOrEqual    => end(isLower = flipped, isIncluded = true)
          case _: LessThan           => end(isLower = flipped, isIncluded = false)
          case _                     => other(c)
        }
      case _ => other(c)
    }

  private def equal(to: SortedConditions, keys: EqualKeys): Either[String, SortedConditions] =
    Right(to.copy(keys = to.keys :+ keys))

  private def other(c: Expression): Either[String, SortedConditions] =
    Left(s"${c.sql} is neither an equality of keys nor an end of a range")

  private def label(e: Expression): Expression = CorrelatedAggregate.ofLabel(e)

  private def readsLabel(e: Expression): Boolean = SubExprUtils.containsOuter(e)

  private def readsEvents(e: Expression): Boolean = e.exists(_.isInstanceOf[Attribute])

  /** A comparison of an expression over events with one over the label. */
  private object Sides {

    /** The expression over events, the value of the label, and whether the value stands left. */
    def unapply(c: Expression): Option[(Expression, Expression, Boolean)] = c match {
      case b: BinaryComparison if isOfEvents(b.left) && isOfLabel(b.right) =>
        Some((b.left, b.right, false))
      case b: BinaryComparison if isOfLabel(b.left) && isOfEvents(b.right) =>
        Some((b.right, b.left, true))
      case _ => None
    }

    private def isOfEvents(e: Expression): Boolean =
      readsEvents(e) && isAlone(e) && !readsLabel(e)

    private def isOfLabel(e: Expression): Boolean = readsLabel(e) && isAlone(e) && !readsEvents(e)

    private def isAlone(e: Expression): Boolean =
      e.deterministic && !e.exists(_.isInstanceOf[SubqueryExpression])
  }
}

/**
 * Ends of one range whose comparisons cast the same time to different types, as Spark does if the
 * label's values are of different types.
 */
private[labels] object SameTime {
  import SortedConditions.End

  /** The ends over one time, in the widest of the types; Left if no type holds all values. */
  def of(ends: Seq[End]): Either[String, Seq[End]] = {
    val times = ends.map(_.time).distinctBy(_.canonicalized)
    if (times.length == 1) Right(ends)
    else {
      val types = times.map(_.dataType)
      val widest = types.find(to => types.forall(from => from == to || isExact(from, to)))
      val bare = times.map(narrow).distinctBy(_.canonicalized)
      if (bare.length > 1 || widest.isEmpty)
        Left(s"ranges of two expressions: ${times.map(_.sql).mkString(", ")}")
      else
        Right(ends.map { end =>
          val value = as(end.bound.value, widest.get)
          end.copy(time = as(bare.head, widest.get), bound = end.bound.copy(value = value))
        })
    }
  }

  private def as(e: Expression, to: DataType): Expression =
    if (e.dataType == to) e else Cast(e, to)

  private def narrow(time: Expression): Expression = time match {
    case c: Cast if isExact(c.child.dataType, c.dataType) => narrow(c.child)
    case _                                                => time
  }

  /** Whether a cast keeps all values apart, and their order. */
  private def isExact(from: DataType, to: DataType): Boolean = Cast.canUpCast(from, to) &&
    ((from, to) match {
      case (DateType, TimestampType | TimestampNTZType) => true
      case (f, t)                                       => isNumber(f) && isNumber(t)
    })

  /** Whether numbers of a type are exact. */
  private def isNumber(dataType: DataType): Boolean = dataType match {
    case ByteType | ShortType | IntegerType | LongType | _: DecimalType => true
    case _                                                              => false
  }
}
