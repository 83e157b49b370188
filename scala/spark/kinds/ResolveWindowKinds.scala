package io.sash.spark.kinds

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Window}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.WINDOW
import org.apache.spark.sql.types.{BooleanType, IntegerType}

import io.sash.spark.SashErrors

/**
 * Takes window kinds from where users say them: from PARTITION BY into the aggregates of the
 * window, and where SQL has the same frame (count_window, time_window), from the aggregate into
 * its frame.
 */
private[spark] object ResolveWindowKinds extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.resolveOperatorsUpWithPruning(_.containsPattern(WINDOW)) {
      case window: Window if window.resolved => framed(partitioned(window))
    }

  private def partitioned(window: Window): Window = {
    val kinds = window.partitionSpec.collect { case k: WindowKind => k }
    kinds match {
      case Seq() => window
      case Seq(kind) =>
        val by = window.partitionSpec.filterNot(_.isInstanceOf[WindowKind])
        val expressions = window.windowExpressions.map { e =>
          e.transform { case w: WindowExpression =>
            w.copy(
              windowFunction = slid(w.windowFunction, kind),
              windowSpec = w.windowSpec.copy(partitionSpec = by)
            )
          }.asInstanceOf[NamedExpression]
        }
        window.copy(windowExpressions = expressions, partitionSpec = by)
      case several => throw misplaced(several(1), "a window has one kind, and this is the second")
    }
  }

  private def slid(function: Expression, kind: WindowKind): Expression = function match {
    case call: AggregateExpression =>
      call.aggregateFunction match {
        case SlidingAggregate(_, other, _, _) =>
          throw misplaced(kind, s"this aggregate has ${other.sql} already")
        case f => call.copy(aggregateFunction = SlidingAggregate.of(f, kind))
      }
    case other =>
      throw misplaced(kind, s"${other.prettyName} is no aggregate, and has no window to slide")
  }

  private def framed(window: Window): Window =
    window
      .transformExpressions { case w: WindowExpression =>
        w.windowFunction match {
          case call @ AggregateExpression(SlidingAggregate(f, kind, _, _), _, _, _, _) =>
            checkOrder(kind, w.windowSpec)
            frameOf(kind).fold(w) { frame =>
              w.copy(
                windowFunction = call.copy(aggregateFunction = f),
                windowSpec = w.windowSpec.copy(frameSpecification = frame)
              )
            }
          case _ => w
        }
      }
      .asInstanceOf[Window]

  private def frameOf(kind: WindowKind): Option[SpecifiedWindowFrame] = kind match {
    case CountWindow(size) =>
      val preceding = Literal(1 - size.eval().asInstanceOf[Number].intValue, IntegerType)
      Some(SpecifiedWindowFrame(RowFrame, preceding, CurrentRow))
    case DurationWindow(size) =>
      Some(SpecifiedWindowFrame(RangeFrame, new UnaryMinus(size), CurrentRow))
    case _ => None
  }

  private def checkOrder(kind: WindowKind, spec: WindowSpecDefinition): Unit = {
    if (!kind.deterministic)
      throw misplaced(kind, "it is not deterministic; compute a column of it first")
    if (spec.orderSpec.isEmpty) throw misplaced(kind, "its window has no order; add ORDER BY")
    val default = SpecifiedWindowFrame(RangeFrame, UnboundedPreceding, CurrentRow)
    if (spec.frameSpecification != default)
      throw misplaced(kind, "its window has a frame, too; leave out ROWS or RANGE")
    kind match {
      case GapWindow(gap) =>
        if (spec.orderSpec.length > 1)
          throw misplaced(kind, "a gap lies in an order by one expression")
        KindChecks.checkDifference(spec.orderSpec.head.child, gap) match {
          case TypeCheckResult.TypeCheckSuccess => ()
          case _ =>
            val by = spec.orderSpec.head.child
            throw misplaced(
              kind,
              s"its gap of type ${gap.dataType.sql} cannot be added to ${by.sql}, " +
                s"the order, of type ${by.dataType.sql}"
            )
        }
      case p: PredicateWindow =>
        if (!p.condition.deterministic || p.condition.exists(_.isInstanceOf[PythonUDF]))
          throw misplaced(kind, "its condition has to be deterministic, and without Python")
        if (p.condition.dataType != BooleanType)
          throw misplaced(
            kind,
            s"its condition answers a ${p.condition.dataType.sql}, not a BOOLEAN"
          )
        p.condition.references.headOption.foreach { a =>
          throw misplaced(kind, s"its condition may look at its argument only, not at ${a.sql}")
        }
      case _ => ()
    }
  }

  private[spark] def misplaced(kind: WindowKind, why: String): AnalysisException =
    SashErrors.invalidArgument(kind.name, "window", s"${kind.sql}: $why")
}

/** Refuses kinds that no window has taken, and all of them while Sash is off. */
private[spark] final case class CheckWindowKinds(enabled: () => Boolean)
    extends (LogicalPlan => Unit) {
  import ResolveWindowKinds.misplaced

  override def apply(plan: LogicalPlan): Unit = plan.foreach {
    case window: Window =>
      window.expressions.foreach(_.foreach {
        case s: SlidingAggregate if !enabled() =>
          throw misplaced(s.kind, "only Sash has it, and spark.sash.enabled is false")
        case k: WindowKind =>
          throw misplaced(k, "it stands neither in PARTITION BY nor in sliding_agg")
        case _ => ()
      })
    case node =>
      node.expressions.foreach(_.foreach {
        case s: SlidingAggregate => throw misplaced(s.kind, "it is no window of an OVER clause")
        case k: WindowKind       => throw misplaced(k, "it is no window of an OVER clause")
        case _                   => ()
      })
  }
}
