package io.sash.spark.kinds

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Window}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.WINDOW
import org.apache.spark.sql.types.CalendarIntervalType

import io.sash.spark.base.{SashConf, SashErrors, TimeUnit}
import io.sash.spark.monoids.OnlySash

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
            windowFunction = slid(w, kinds),
            windowSpec = w.windowSpec.copy(partitionSpec = by)
          )
        }.asInstanceOf[NamedExpression]
      }
      window.copy(windowExpressions = expressions, partitionSpec = by)
    }
  }

  private def slid(w: WindowExpression, kinds: Seq[WindowKind]): Expression =
    w.windowFunction match {
      case call: AggregateExpression =>
        call.copy(aggregateFunction = SlidingAggregate.of(call.aggregateFunction, kinds))
      case other =>
        throw misplaced(kinds.head, NoAggregate.why(other, kinds.head, w.windowSpec.orderSpec))
    }

  private def framed(window: Window): Window =
    window
      .transformExpressions { case w: WindowExpression =>
        w.windowFunction match {
          case call @ AggregateExpression(s: SlidingAggregate, _, _, _, _) =>
            s.windows.foreach(checkWindow(_, w.windowSpec))
            sqlFrame(s, w.windowSpec.orderSpec).fold(w) { frame =>
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

  /** None also if Spark would refuse the frame: months and days together over a DATE. */
  private def sqlFrame(
      s: SlidingAggregate,
      order: Seq[SortOrder]
  ): Option[SpecifiedWindowFrame] = s.kind
    .collect { case k: HasSqlFrame => k.sqlFrame(order) }
    .filterNot { frame =>
      TimeUnit.Day.isUnitOf(order.head.child.dataType) &&
      Seq(frame.lower, frame.upper).exists(_.dataType == CalendarIntervalType)
    }

  private def checkWindow(kind: WindowKind, spec: WindowSpecDefinition): Unit = {
    if (!kind.deterministic)
      throw misplaced(kind, "it is not deterministic; compute a column of it first")
    kind.orderFault(spec.orderSpec).foreach(why => throw misplaced(kind, why))
    val default = SpecifiedWindowFrame(RangeFrame, UnboundedPreceding, CurrentRow)
    if (spec.frameSpecification != default && !kind.isInstanceOf[WindowModifier])
      throw misplaced(kind, "its window has a frame, too; leave out ROWS or RANGE")
  }

  /** The reason for refusing a window of Sash's own kinds while Sash is off. */
  private[spark] val Off = "only Sash has it, and spark.sash.enabled is false"

  private[spark] def misplaced(kind: WindowKind, why: String): AnalysisException =
    SashErrors.invalidArgument(kind.name, "window", s"${kind.sql}: $why")
}

/**
 * Refuses a kind that is not in a window's aggregate, and an aggregate of the current row without
 * OVER. Checks nothing while Sash is off, since no new kinds are made then.
 *
 * @param whyOff the reason why the windows feature is off, if it is
 */
private[spark] final case class CheckWindowKinds(
    enabled: () => Boolean,
    whyOff: () => Option[String]
) extends (LogicalPlan => Unit) {
  import ResolveWindowKinds.misplaced

  override def apply(plan: LogicalPlan): Unit = if (enabled()) plan.foreach {
    case window: Window =>
      window.expressions.foreach(_.foreach {
        case a: OnlySash => whyOff().foreach(why => throw a.notRun(why))
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
