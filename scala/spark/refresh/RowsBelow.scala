package io.sash.spark.refresh

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{
  AggregateExpression,
  AggregateFunction
}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.types.{DataType, StructType}

import io.sash.spark.base.TimeUnit
import io.sash.spark.kinds.{BoundsWindow, SlidingAggregate}
import io.sash.spark.plan.WindowFilter
import io.sash.spark.windows.Ties

/** Follows columns of a query down to the rows that its windows and groups read. */
private[refresh] object RowsBelow extends PredicateHelper {

  /** Whether an answer of the plan may depend on several rows of its changed tables. */
  def meet(plan: LogicalPlan): Boolean = plan.exists {
    case _: Window | _: Aggregate | _: Distinct => ChangedTable.isIn(plan)
    case _                                      => false
  }

  /**
   * Maps an expression over an operator's output to the operator's children that have windows or
   * groups: each such child, and the expression over it. None if the value does not come from
   * these children.
   */
  def of(plan: LogicalPlan, e: Expression): Option[Seq[(LogicalPlan, Expression)]] = {
    val read = steps(plan, e).filter { case (child, _) => meet(child) }
    Option.when(read.forall { case (child, of) =>
      of.references.subsetOf(child.outputSet) && !of.exists(_.isInstanceOf[AggregateExpression])
    })(read)
  }

  private def steps(plan: LogicalPlan, e: Expression): Seq[(LogicalPlan, Expression)] =
    plan match {
      case p: Project   => Seq(p.child -> substituted(e, p.projectList))
      case a: Aggregate => Seq(a.child -> substituted(e, a.aggregateExpressions))
      case x: Expand =>
        x.projections.distinct.map { values =>
          x.child -> substituted(e, AttributeMap(x.output.zip(values)))
        }
      case u: Union => u.children.map(c => c -> mapped(e, u.output, c.output))
      case other    => other.children.map(_ -> e)
    }

  /** Whether a value orders a window, or is computed from a time. */
  def isPlace(plan: LogicalPlan, e: Expression): Boolean = plan match {
    case w: Window if isOrder(w, e) => true
    case _ =>
      e.references.exists(a => hasTime(a.dataType)) ||
      steps(plan, e).exists { case (child, of) => isPlace(child, of) }
  }

  private def hasTime(dataType: DataType): Boolean = dataType match {
    case s: StructType => s.exists(f => hasTime(f.dataType))
    case other         => TimeUnit.of(other).nonEmpty
  }

  private def isOrder(w: Window, e: Expression): Boolean = w.orderSpec.headOption.exists { o =>
    origin(w.child, o.child).semanticEquals(origin(w.child, e))
  }

  /** Rewrites an expression over a Union's columns to the columns of one of its children. */
  def mapped(e: Expression, from: Seq[Attribute], to: Seq[Attribute]): Expression =
    substituted(e, AttributeMap(from.zip(to)))

  def substituted(e: Expression, list: Seq[NamedExpression]): Expression =
    substituted(e, AttributeMap(list.collect { case a: Alias => a.toAttribute -> a.child }))

  private def substituted(e: Expression, values: AttributeMap[_ <: Expression]): Expression =
    plain(e.transform { case a: Attribute => values.getOrElse(a, a) })

  /** Removes tags around values, such as Spark's `KnownNotNull`. */
  private def plain(e: Expression): Expression = e.transform { case t: TaggingExpression =>
    t.child
  }

  /**
   * Rewrites an expression to the lowest columns from which its value is computed.
   *
   * @param inUnions whether to go on below a union of one child, which stands for several
   */
  private def origin(plan: LogicalPlan, e: Expression, inUnions: Boolean = false): Expression = {
    val below = plan match {
      case p: Project => substituted(e, p.projectList)
      case _          => plain(e)
    }
    val passes = plan match {
      case _: Project | _: Filter | _: SubqueryAlias | _: View | _: Window => true
      case u: Union => inUnions && u.children.length == 1
      case _        => false
    }
    if (passes && below.references.subsetOf(plan.children.head.outputSet))
      origin(plan.children.head, below, inUnions)
    else plain(e)
  }

  /**
   * Whether the values of `by` determine the value of `e`. A function may tell apart two equal
   * values, such as 0.0 and -0.0, or equal strings of a collation. So a function of `by` counts
   * only over types without such values.
   */
  private def isSaid(plan: LogicalPlan, e: Expression, by: Seq[Expression]): Boolean = {
    val known = by.map(origin(plan, _))
    def isKnown(e: Expression): Boolean = known.exists(_.semanticEquals(e))
    def isMade(e: Expression): Boolean = isKnown(e) && Ties.areTwins(e.dataType) ||
      e.children.nonEmpty && e.references.nonEmpty &&
      e.children.forall(c => c.foldable || isMade(c))
    val value = origin(plan, e)
    isKnown(value) || isMade(value)
  }

  /** Whether rows with different values of `e` never meet in a window or a group of the plan. */
  def isKey(plan: LogicalPlan, e: Expression): Boolean = !meet(plan) || {
    val isOwn = plan match {
      case w: Window    => isSaid(w.child, e, w.partitionSpec)
      case a: Aggregate => isOfGroup(a, e)
      case d: Distinct  => isSaid(d.child, e, d.child.output)
      case _            => true
    }
    isOwn && of(plan, e).exists(_.forall { case (child, of) => isKey(child, of) })
  }

  /** Whether a window over changed rows has a PARTITION BY that is not constant. */
  def isKeyed(plan: LogicalPlan): Boolean = plan.exists {
    case w: Window => meet(w) && !w.partitionSpec.forall(origin(w.child, _).foldable)
    case _         => false
  }

  private def isOfGroup(a: Aggregate, e: Expression): Boolean = {
    val value = substituted(e, a.aggregateExpressions)
    !value.exists(_.isInstanceOf[AggregateExpression]) && isSaid(
      a.child,
      value,
      a.groupingExpressions
    )
  }

  /**
   * How far apart in `time` two rows of a key may lie if the answer of one reads the other. None
   * if an operator does not pass the time on.
   */
  def reach(plan: LogicalPlan, time: Expression, zone: String): Option[WindowReach] =
    reached(plan, time, zone).map(r => r.of(plan.output))

  /**
   * The reaches of a plan's output.
   *
   * @param rows the reach on which it depends whether a row exists
   * @param columns the reach of each column that reads windows
   */
  private final case class Reached(rows: WindowReach, columns: AttributeMap[WindowReach]) {
    def of(references: Iterable[Attribute]): WindowReach =
      references.map(columns.getOrElse(_, rows)).foldLeft(rows)(_ max _)

    def and(more: Seq[(Attribute, WindowReach)]): Reached =
      copy(columns = AttributeMap(columns.toSeq ++ more))
  }

  private def reached(plan: LogicalPlan, time: Expression, zone: String): Option[Reached] =
    if (!meet(plan)) Some(Reached(WindowReach.Own, AttributeMap.empty))
    else
      of(plan, time).flatMap { below =>
        val parts = below.map { case (child, of) => reached(child, of, zone) }
        Option.when(parts.forall(_.isDefined))(parts.flatten)
      } flatMap { parts =>
        val below = Reached(
          parts.map(_.rows).reduceOption(_ max _).getOrElse(WindowReach.Own),
          AttributeMap(parts.flatMap(_.columns.toSeq))
        )
        plan match {
          case w: Window                           => Some(ofWindow(w, below, time, zone))
          case a: Aggregate if !isOfGroup(a, time) => None
          case a: Aggregate =>
            val groups = below.of(a.groupingExpressions.flatMap(_.references))
            Some(computed(below.copy(rows = groups), a.aggregateExpressions))
          case p: Project => Some(computed(below, p.projectList))
          case d: Distinct if !isSaid(d.child, time, d.child.output) => None
          case d: Distinct => Some(below.copy(rows = below.of(d.child.output)))
          case u: Union =>
            Some(below.and(u.output.zipWithIndex.map { case (a, i) =>
              a -> below.of(u.children.map(_.output(i)))
            }))
          // a new column may read any column below, and a condition decides which rows exist
          case other => Some(below.copy(rows = below.of(other.expressions.flatMap(_.references))))
        }
      }

  private def computed(below: Reached, list: Seq[NamedExpression]): Reached =
    below.and(list.collect { case a: Alias => a.toAttribute -> below.of(a.references) })

  private def ofWindow(w: Window, below: Reached, time: Expression, zone: String): Reached = {
    val isByTime = isOrder(w, time)
    // if the keys determine the time, all rows of a window have the same time
    val isOwn = isByTime && isSaid(w.child, time, w.partitionSpec)
    val placed = below.of(
      (w.partitionSpec ++ w.orderSpec.map(_.child)).flatMap(_.references)
    )
    below.and(w.windowExpressions.map { e =>
      val windows = e.collect { case x: WindowExpression if !leavesOut(w.child, x, zone) => x }
      val own =
        if (isOwn) WindowReach.Own
        else if (isByTime) windows.map(WindowReach.of(_, zone)).foldLeft(WindowReach.Own)(_ max _)
        else WindowReach.Endless
      e.toAttribute -> (own + below.of(e.references).max(placed))
    })
  }

  /**
   * Whether the FILTER of a window over a range is false for each of these rows. So it is for
   * labels in a union with events, if the window is over the events alone.
   */
  private def leavesOut(rows: LogicalPlan, window: WindowExpression, zone: String): Boolean =
    window.windowFunction match {
      case AggregateExpression(f, _, _, Some(condition), _)
          if isOfRange(f, window.windowSpec) &&
            !WindowReach.isOvertaken(window.windowSpec, zone) =>
        val shown = condition.transform { case WindowFilter(c) => c }
        splitConjunctivePredicates(shown).exists { c =>
          val value = origin(rows, c, inUnions = true)
          value.foldable && value.eval() == false
        }
      case _ => false
    }

  /** Whether the window's ends do not depend on rows that its FILTER leaves out. */
  private def isOfRange(f: AggregateFunction, spec: WindowSpecDefinition): Boolean = {
    val kind = Some(f).collect { case s: SlidingAggregate => s.kind ++ s.slide }.toSeq.flatten
    (kind, spec.frameSpecification) match {
      case (Seq(_: BoundsWindow), _)                       => true
      case (Seq(), SpecifiedWindowFrame(RangeFrame, _, _)) => true
      case _                                               => false
    }
  }
}
