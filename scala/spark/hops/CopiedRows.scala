package io.sash.spark.hops

import scala.util.Try

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{
  Expand,
  Filter,
  Generate,
  LogicalPlan,
  Project
}
import org.apache.spark.sql.types.{DataType, StructType}

import io.sash.spark.times.WindowFormula._

/**
 * The rows below an Aggregate over `window(time, size, slide)`, before Spark copies each row into
 * its windows.
 *
 * Spark's analyzer (TimeWindowing) makes the copies. The i-th copy of a row has the window that
 * begins at `last - i * slide`; `last` is the start of the last window with the row. This class
 * recognises exactly these expressions, by their form and without evaluating them over rows;
 * anything else is not taken for windows. If a row has many windows, they come from Sash's
 * Generate ([[ManyHops]]) instead.
 *
 * @param time in microseconds; a row whose time is NULL is in no window
 * @param window the column of the windows
 * @param child the rows without copies
 */
private[hops] final case class CopiedRows(
    time: Expression,
    hops: HopPanes,
    window: Attribute,
    child: LogicalPlan
)

private[hops] object CopiedRows {

  def of(plan: LogicalPlan): Option[CopiedRows] = plan match {
    case Filter(condition, Expand(projections, window +: rest, child))
        if window.metadata.contains(TimeWindow.marker) && rest.length == child.output.length &&
          projections.forall(_.tail == child.output) =>
      // if a DataFrame is read twice, the columns of its copies have other ids
      val names = AttributeMap(
        child.output.zip(rest).filter { case (a, b) => a.exprId != b.exprId }
      )
      hops(projections.map(_.head), window.dataType)
        .map { case (time, hops) =>
          (time.transform { case a: Attribute => names.getOrElse(a, a) }, hops)
        }
        .filter { case (time, hops) => keepsAll(condition, time.children.head, window, hops) }
        .map { case (time, hops) =>
          CopiedRows(time, hops.sinceEpoch, window, named(child, rest))
        }
    case Generate(WindowsOf(time, hops, _), _, false, _, Seq(window), child) =>
      Some(CopiedRows(time, hops.sinceEpoch, window, child))
    case _ => None
  }

  private def named(plan: LogicalPlan, columns: Seq[Attribute]): LogicalPlan =
    if (plan.output == columns) plan
    else
      Project(
        plan.output.zip(columns).map { case (from, to) =>
          Alias(from, to.name)(to.exprId, to.qualifier, Some(to.metadata))
        },
        plan
      )

  /** The window of one copy, which begins `before` microseconds before `last`. */
  private final case class Copy(last: Expression, before: Long, size: Long)

  private def hops(
      copies: Seq[Expression],
      window: DataType
  ): Option[(PreciseTimestampConversion, HopPanes)] = for {
    Copy(last, _, size) <- copyOf(copies.head, window)
    (time, start, slide) <- LastStart.unapply(last)
    if time.deterministic && size > slide && HopPanes.areNumbered(size, slide)
    hops = HopPanes(size, slide, start, isAnsi(copies.head))
    if hops.overlapping == copies.length && copies.iterator.zipWithIndex.forall { case (c, i) =>
      copyOf(c, window).contains(Copy(last, i * slide, size))
    }
  } yield (time, hops)

  private def copyOf(copy: Expression, window: DataType): Option[Copy] = copy match {
    case struct: CreateNamedStruct if isOf(struct.dataType, window) =>
      struct.valExprs match {
        case Seq(
              Micros(start @ Minus(last, MicrosOf(before))),
              Micros(Plus(from, MicrosOf(size)))
            ) if from == start =>
          Some(Copy(last, before, size))
        case _ => None
      }
    case _ => None
  }

  /**
   * Whether a sum beyond BIGINT fails. It evaluates such a sum, since versions of Spark write the
   * mode of a sum in several ways.
   */
  private def isAnsi(copy: Expression): Boolean = copy
    .collectFirst { case sum: Add =>
      sum.withNewChildren(Seq(Literal(Long.MaxValue), Literal(1L)))
    }
    .forall(beyond => Try(beyond.eval()).isFailure)

  private def isOf(struct: StructType, window: DataType): Boolean = window match {
    case StructType(fields) =>
      fields.map(_.name).toSeq == Seq("start", "end") &&
      struct.map(f => (f.name, f.dataType)) == fields.map(f => (f.name, f.dataType)).toSeq
    case _ => false
  }

  /** Whether the condition drops only rows that are in no window. */
  private def keepsAll(
      condition: Expression,
      time: Expression,
      window: Attribute,
      hops: HopPanes
  ): Boolean = condition match {
    case IsNotNull(t) => t == time && hops.size % hops.slide == 0
    case And(GreaterThanOrEqual(t, Field(from, 0)), LessThan(u, Field(until, 1))) =>
      Seq(t, u).forall(_ == time) && Seq(from, until).forall(_.semanticEquals(window))
    case _ => false
  }

  private object Field {
    def unapply(e: GetStructField): Some[(Expression, Int)] = Some((e.child, e.ordinal))
  }
}
