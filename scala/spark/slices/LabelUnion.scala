package io.sash.spark.slices

import scala.util.{Left, Right}

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.types._

import io.sash.spark.base.{SparkVersions, TimeUnit}
import io.sash.spark.kinds.{BoundsWindow, OwnBound, SlidingAggregate}
import io.sash.spark.monoids.{ReadAs, WrappingLong}
import io.sash.spark.plan.WindowFilter
import io.sash.spark.times.KeyDistance

/**
 * A window over the union of labels and events, below a Filter that keeps the labels alone.
 * The rules for correlated subqueries (`lateral`) make such a plan, and Spark's optimizer has
 * been over it.
 *
 * @param source the column with the number of a row's source: -1 for labels
 * @param labels the union's first children: several if the labels are a union themselves
 * @param events the other children, each with its source number; several may share a number
 * @param keys the window's PARTITION BY
 * @param time the window's ORDER BY, ascending
 * @param calls the window's aggregates
 */
private[slices] final case class LabelUnion(
    window: Window,
    union: Union,
    source: Attribute,
    labels: Seq[LogicalPlan],
    events: Seq[(Int, LogicalPlan)],
    keys: Seq[Attribute],
    time: Attribute,
    calls: Seq[LabelCall]
) {

  /** All labels as one plan. */
  val allLabels: LogicalPlan = LabelUnion.together(labels)

  /** Rewrites an expression over the union's columns to the columns of a child. */
  def over[E <: Expression](child: LogicalPlan, e: E): E = {
    val columns = AttributeMap(union.output.zip(child.output))
    e.transform { case a: Attribute => columns.getOrElse(a, a) }.asInstanceOf[E]
  }

  def of(source: Int): Seq[LabelCall] = calls.filter(_.source == source)

  /** The ordinals of the union's columns that are not `gone`. */
  def places(gone: AttributeSet): Seq[Int] =
    union.output.indices.filterNot(i => gone.contains(union.output(i)))

  /**
   * The filter over the same window with other expressions and other input rows.
   *
   * @param columns the window expressions
   * @param gone the union's columns that `rows` lacks. Nobody reads them, so the output has NULL
   */
  def filtered(
      filter: Filter,
      columns: Seq[NamedExpression],
      rows: Union,
      gone: AttributeSet
  ): LogicalPlan = {
    val other = SparkVersions.withExpressions(window, columns).withNewChildren(Seq(rows))
    val answered = filter.copy(child = other)
    if (gone.isEmpty) answered
    else
      Project(
        filter.output.map { a =>
          if (gone.contains(a)) Alias(Literal(null, a.dataType), a.name)(a.exprId) else a
        },
        answered
      )
  }
}

/**
 * An aggregate over the events of one source.
 *
 * @param column the output column of the window
 * @param conditions the aggregate's FILTER without its condition on the source
 */
private[slices] final case class LabelCall(
    column: Alias,
    expression: WindowExpression,
    call: AggregateExpression,
    sliding: SlidingAggregate,
    source: Int,
    conditions: Seq[Expression]
)

private[slices] object LabelUnion extends PredicateHelper {
  private val OfLabel = -1

  /**
   * The labels of a window over a union, if the condition above the window keeps labels alone.
   */
  def labelsOf(condition: Expression, window: Window): Option[LogicalPlan] = window.child match {
    case union: Union =>
      sourceIn(condition, union).flatMap { source =>
        val numbers = numbersOf(union, source)
        val labels = union.children.zip(numbers).collect { case (c, Some(OfLabel)) => c }
        Option.unless(numbers.contains(None) || labels.isEmpty)(together(labels))
      }
    case _ => None
  }

  /** One plan with the rows of some children of a union. */
  private def together(children: Seq[LogicalPlan]): LogicalPlan = children match {
    case Seq(one) => one
    case several  => Union(several)
  }

  /** The source number of each child's rows, if known. */
  private def numbersOf(union: Union, source: Attribute): Seq[Option[Int]] = {
    val at = union.output.indexWhere(_.semanticEquals(source))
    union.children.map(c => sourceOf(c, c.output(at)))
  }

  /** The source column, if the condition keeps labels alone. */
  private def sourceIn(condition: Expression, union: Union): Option[Attribute] =
    splitConjunctivePredicates(condition).collectFirst {
      case EqualTo(a: Attribute, Literal(OfLabel, IntegerType))
          if union.output.exists(_.semanticEquals(a)) =>
        a
    }

  /** None if the plan is no such window; Left, with the reason, if slices cannot be made. */
  def of(condition: Expression, window: Window): Option[Either[String, LabelUnion]] =
    window.child match {
      case union: Union
          if union.children.length > 1 && !union.isStreaming &&
            !union.children.tail.exists(isSliced) =>
        sourceIn(condition, union).map(of(window, union, _))
      case _ => None
    }

  /** Whether this rule has already cut the events into slices. */
  private def isSliced(events: LogicalPlan): Boolean = events match {
    case _: EventSlices => true
    case p: Project     => isSliced(p.child)
    case _              => false
  }

  private def of(
      window: Window,
      union: Union,
      source: Attribute
  ): Either[String, LabelUnion] = {
    val numbers = numbersOf(union, source)
    val (ofLabels, ofEvents) = numbers.span(_.contains(OfLabel))
    val keys = window.partitionSpec.collect { case a: Attribute => a }
    val times = window.orderSpec.collect { case SortOrder(a: Attribute, Ascending, _, _) => a }
    val calls = window.windowExpressions.map(callOf(_, source))
    lazy val refusedKey = keys.find(k => !isKey(k.dataType))
    if (numbers.contains(None) || calls.contains(None)) Left(Changed)
    else if (ofLabels.isEmpty || ofEvents.isEmpty || ofEvents.contains(Some(OfLabel)))
      Left(Changed)
    else if (keys.length < window.partitionSpec.length || times.length != 1) Left(Changed)
    else if (!isNumber(times.head.dataType))
      Left(s"their time is a ${times.head.dataType.sql}, and slices are of whole numbers")
    else if (refusedKey.nonEmpty)
      Left(s"a key is a ${refusedKey.get.dataType.sql}, and slices compare keys by their bytes")
    else
      Right(
        LabelUnion(
          window,
          union,
          source,
          union.children.take(ofLabels.length),
          ofEvents.flatten.zip(union.children.drop(ofLabels.length)),
          keys,
          times.head,
          calls.flatten
        )
      )
  }

  private val Changed = "the optimizer has changed the union of labels and events"

  /** The constant source number in a child's column, if it is known. */
  private def sourceOf(plan: LogicalPlan, column: Attribute): Option[Int] = plan match {
    case Project(list, child) => sourceOf(list, child, column)
    case a: Aggregate         => sourceOf(a.aggregateExpressions, a.child, column)
    case local: LocalRelation if !local.isStreaming && local.data.nonEmpty =>
      val at = local.output.indexWhere(_.exprId == column.exprId)
      val numbers = local.data.map(_.getInt(at)).distinct
      Option.when(numbers.length == 1)(numbers.head)
    case u: UnaryNode if u.child.outputSet.contains(column)  => sourceOf(u.child, column)
    case s: EventSlices if s.left.outputSet.contains(column) => sourceOf(s.left, column)
    case _                                                   => None
  }

  private def sourceOf(
      list: Seq[NamedExpression],
      child: LogicalPlan,
      column: Attribute
  ): Option[Int] = list.find(_.exprId == column.exprId).flatMap {
    case Alias(Literal(n: Int, _), _)                          => Some(n)
    case Alias(a: Attribute, _) if child.outputSet.contains(a) => sourceOf(child, a)
    case a: Attribute if child.outputSet.contains(a)           => sourceOf(child, a)
    case _                                                     => None
  }

  private def callOf(column: NamedExpression, source: Attribute): Option[LabelCall] =
    column match {
      case alias @ Alias(
            e @ WindowExpression(
              call @ AggregateExpression(
                sliding: SlidingAggregate,
                _,
                _,
                Some(WindowFilter(condition)),
                _
              ),
              _
            ),
            _
          ) =>
        val (ofSource, others) = splitConjunctivePredicates(condition).partition {
          case EqualTo(a: Attribute, Literal(_: Int, IntegerType)) => a.semanticEquals(source)
          case _                                                   => false
        }
        ofSource match {
          case Seq(EqualTo(_, Literal(n: Int, _)))
              if n != OfLabel && !others.exists(_.references.contains(source)) =>
            Some(LabelCall(alias, e, call, sliding, n, others))
          case _ => None
        }
      case _ => None
    }

  /** Whether the values of a type are whole numbers of some unit. */
  def isNumber(dataType: DataType): Boolean = dataType match {
    case IntegerType | LongType                  => true
    case TimeUnit(TimeUnit.Day | TimeUnit.Micro) => true
    case _                                       => false
  }

  /** Whether equal values have equal bytes, once NaN and -0.0 are normalized. */
  private def isKey(dataType: DataType): Boolean = dataType match {
    case BooleanType | ByteType | ShortType | IntegerType | LongType | _: DecimalType => true
    case FloatType | DoubleType | BinaryType                                          => true
    case TimeUnit(TimeUnit.Day | TimeUnit.Micro)                                      => true
    case s: StringType => org.apache.spark.sql.catalyst.util.UnsafeRowUtils.isBinaryStable(s)
    case _             => false
  }
}

/**
 * The range of a label's events for one aggregate, as expressions over the labels' columns.
 *
 * @param first the first time, a BIGINT; NULL if the range is empty
 * @param last the last time, likewise; both ends belong to the range
 * @param isSound a condition that is false if the addition of an offset has wrapped around
 */
private[slices] final case class LabelTimes(
    first: Expression,
    last: Expression,
    isSound: Option[Expression]
)

private[slices] object LabelTimes {

  /** The range of a call; none if it is not between two values of the label. */
  def of(union: LabelUnion, call: LabelCall, zone: String): Option[LabelTimes] = {
    val position = union.over(union.allLabels, union.time: Expression)
    val frame = call.expression.windowSpec.frameSpecification
    (call.sliding.windows, frame) match {
      case (Seq(), SpecifiedWindowFrame(RangeFrame, lower, upper)) =>
        for {
          (first, checkFirst) <- offset(position, lower, zone)
          (last, checkLast) <- offset(position, upper, zone)
        } yield LabelTimes(first, last, (checkFirst ++ checkLast).reduceOption(And))
      case (Seq(BoundsWindow(lower, upper)), _) =>
        def value(of: OwnBound) = union.over(union.allLabels, of.value)
        Some(
          LabelTimes(
            lower.fold[Expression](Literal(Long.MinValue))(b => end(value(b), b, 1L)),
            upper.fold[Expression](Literal(Long.MaxValue))(b => end(value(b), b, -1L)),
            None
          )
        )
      case _ => None
    }
  }

  /** The end of a range. If the bound is exclusive, it is the next time inside the range. */
  private def end(value: Expression, bound: OwnBound, step: Long): Expression = {
    val time = number(value)
    val outermost = Literal(if (step > 0) Long.MaxValue else Long.MinValue)
    if (bound.isIncluded) time
    else If(EqualTo(time, outermost), Literal(null, LongType), plus(time, step))
  }

  private def plus(time: Expression, step: Long): Expression =
    WrappingLong.add(time, Literal(step))

  private type End = (Expression, Option[Expression])

  private def offset(position: Expression, bound: Expression, zone: String): Option[End] = {
    def ifPlaced(time: Long) =
      If(IsNull(position), Literal(null, LongType), Literal(time))
    bound match {
      case UnboundedPreceding => Some((ifPlaced(Long.MinValue), None))
      case UnboundedFollowing => Some((ifPlaced(Long.MaxValue), None))
      case CurrentRow         => Some((number(position), None))
      case offset =>
        val moved = number(KeyDistance.shifted(position, Ascending, offset, zone))
        val check = offset.eval() match {
          case n: Number if n.longValue < 0 => Some(LessThan(moved, number(position)))
          case n: Number if n.longValue > 0 => Some(GreaterThan(moved, number(position)))
          case _                            => None
        }
        Some((moved, check))
    }
  }

  /** Whether an end of the ranges differs from label to label, so that it cuts time. */
  def cuts(end: Expression): Boolean = end match {
    case If(_: IsNull, _, _: Literal) => false
    case e                            => e.references.nonEmpty
  }

  /** The BIGINT inside a time: days or microseconds. */
  def number(time: Expression): Expression =
    if (time.dataType == LongType) time else ReadAs(time, LongType)

  /** Turns a BIGINT back into a time. */
  def time(number: Expression, dataType: DataType): Expression =
    if (dataType == LongType) number else ReadAs(number, dataType)
}
