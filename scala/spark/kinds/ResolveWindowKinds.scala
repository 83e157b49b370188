package io.sash.spark.kinds

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Window}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.{CURRENT_LIKE, WINDOW}
import org.apache.spark.sql.types.{BooleanType, IntegerType}

import io.sash.spark.base.{ArgumentChecks, SashConf, SashErrors}
import io.sash.spark.monoids.{OfCurrentRow, OnlySash}

/**
 * Moves window kinds to the place where they act. A kind in PARTITION BY moves into the window's
 * aggregates. A kind that SQL can express (count_window, time_window) becomes the window's frame.
 */
private[spark] object ResolveWindowKinds extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!SashConf.enabled(conf)) plan
    else
      GlobalAggregation
        .undone(ResolvePendingKinds(plan))
        .resolveOperatorsUpWithPruning(_.containsPattern(WINDOW)) {
          case window: Window if window.resolved =>
            MinPeriods.compared(framed(partitioned(window)))
        }

  private def partitioned(window: Window): Window = {
    val kinds = window.partitionSpec.collect { case k: WindowKind => k }
    if (kinds.isEmpty) {
      window
    } else {
      val by = window.partitionSpec.filterNot(_.isInstanceOf[WindowKind])
      val expressions = window.windowExpressions.map { e =>
        e.transform { case w: WindowExpression =>
          w.copy(
            windowFunction = slid(w.windowFunction, kinds),
            windowSpec = w.windowSpec.copy(partitionSpec = by)
          )
        }.asInstanceOf[NamedExpression]
      }
      window.copy(windowExpressions = expressions, partitionSpec = by)
    }
  }

  private def slid(function: Expression, kinds: Seq[WindowKind]): Expression = function match {
    case call: AggregateExpression =>
      call.copy(aggregateFunction = SlidingAggregate.of(call.aggregateFunction, kinds))
    case other =>
      val why = s"${other.prettyName} is no aggregate, and has no window to slide"
      throw misplaced(kinds.head, why)
  }

  private def framed(window: Window): Window =
    window
      .transformExpressions { case w: WindowExpression =>
        w.windowFunction match {
          case call @ AggregateExpression(s: SlidingAggregate, _, _, _, _) =>
            s.windows.foreach(checkOrder(_, w.windowSpec))
            s.kind.flatMap(frameOf(_, w.windowSpec)).fold(w) { frame =>
              val of = if (s.modifiers.isEmpty) s.function else s.copy(windows = s.modifiers)
              w.copy(
                windowFunction = call.copy(aggregateFunction = of),
                windowSpec = w.windowSpec.copy(frameSpecification = frame)
              )
            }
          case _ => w
        }
      }
      .asInstanceOf[Window]

  private def frameOf(
      kind: WindowKind,
      spec: WindowSpecDefinition
  ): Option[SpecifiedWindowFrame] = kind match {
    case CountWindow(size) =>
      val preceding = Literal(1 - size.eval().asInstanceOf[Number].intValue, IntegerType)
      Some(SpecifiedWindowFrame(RowFrame, preceding, CurrentRow))
    case duration: DurationWindow =>
      Some(DurationFrame.of(duration, spec.orderSpec.head.child))
    case _ => None
  }

  private def checkOrder(kind: WindowKind, spec: WindowSpecDefinition): Unit = {
    if (!kind.deterministic)
      throw misplaced(kind, "it is not deterministic; compute a column of it first")
    val needsOrder = kind match {
      case e: WindowExclude    => e.what != WindowExclude.CurrentRow
      case _: WindowMinPeriods => false
      case _                   => true
    }
    if (needsOrder && spec.orderSpec.isEmpty)
      throw misplaced(kind, "its window has no order; add ORDER BY")
    val default = SpecifiedWindowFrame(RangeFrame, UnboundedPreceding, CurrentRow)
    if (spec.frameSpecification != default && !kind.isInstanceOf[WindowModifier])
      throw misplaced(kind, "its window has a frame, too; leave out ROWS or RANGE")
    kind match {
      case GapWindow(gap, longest) =>
        checkMoves(kind, "gap", gap, spec)
        longest.foreach(checkMoves(kind, "longest session", _, spec))
      case OwnRangeWindow(preceding) => checkMoves(kind, "width", preceding, spec)
      case s: WindowSlide if !s.countsRows =>
        val by = spec.orderSpec.head.child
        if (PaneNumbers.number(by, s.every, "UTC").isEmpty)
          throw misplaced(
            kind,
            s"${by.sql}, the order, of type ${by.dataType.sql}, has no panes of type " +
              s"${s.every.dataType.sql}; slide by a number of rows"
          )
      case p: PredicateWindow =>
        if (!p.condition.deterministic || p.condition.exists(_.isInstanceOf[PythonUDF]))
          throw misplaced(kind, "its condition has to be deterministic, and without Python")
        if (p.function.isInstanceOf[OfCurrentRow])
          throw misplaced(
            kind,
            s"${p.function.prettyName} is of one row, and a condition is of the window"
          )
        if (p.condition.dataType != BooleanType)
          throw misplaced(
            kind,
            s"its condition answers a ${p.condition.dataType.sql}, not a BOOLEAN"
          )
        if (p.condition.containsPattern(CURRENT_LIKE))
          throw misplaced(
            kind,
            "its condition looks at the present time, user or catalog; put a constant there"
          )
        p.condition.references.headOption.foreach { a =>
          throw misplaced(kind, s"its condition may look at its argument only, not at ${a.sql}")
        }
      case _ => ()
    }
  }

  private def checkMoves(
      kind: WindowKind,
      name: String,
      extent: Expression,
      spec: WindowSpecDefinition
  ): Unit = {
    if (spec.orderSpec.length > 1)
      throw misplaced(kind, s"a $name lies in an order by one expression")
    val by = spec.orderSpec.head.child
    if (ArgumentChecks.checkDifference(by, extent).isFailure)
      throw misplaced(
        kind,
        s"its $name of type ${extent.dataType.sql} cannot be added to ${by.sql}, " +
          s"the order, of type ${by.dataType.sql}"
      )
  }

  /** The reason for refusing a window of Sash's own kinds while Sash is off. */
  private[spark] val Off = "only Sash has it, and spark.sash.enabled is false"

  private[spark] def misplaced(kind: WindowKind, why: String): AnalysisException =
    SashErrors.invalidArgument(kind.name, "window", s"${kind.sql}: $why")
}

/**
 * Refuses a kind that is not in a window's aggregate, and an aggregate of the current row without
 * OVER. Checks nothing while Sash is off, since no
 * new kinds are made then.
 *
 * @param whyDown the reason why the windows feature stands down, if it does
 */
private[spark] final case class CheckWindowKinds(
    enabled: () => Boolean,
    whyDown: () => Option[String]
) extends (LogicalPlan => Unit) {
  import ResolveWindowKinds.misplaced

  override def apply(plan: LogicalPlan): Unit = if (enabled()) plan.foreach {
    case window: Window =>
      window.expressions.foreach(_.foreach {
        case a: OnlySash => whyDown().foreach(why => throw a.left(why))
        case k: WindowKind =>
          throw misplaced(k, "it stands neither in PARTITION BY nor in sliding_agg")
        case _ => ()
      })
    case node =>
      node.expressions.foreach(_.foreach {
        case a: OnlySash   => throw a.withoutOver
        case k: WindowKind => throw misplaced(k, "it is no window of an OVER clause")
        case _             => ()
      })
  }
}
