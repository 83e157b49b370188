package io.sash.spark.hops

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.plans.logical.{
  Expand,
  Filter,
  Generate,
  LocalRelation,
  LogicalPlan,
  Project
}
import org.apache.spark.sql.catalyst.trees.TreePattern.GENERATE
import org.apache.spark.sql.types.{DataType, StructType}

/**
 * The windows of a time, a row for each, the last first; no rows if the time is NULL.
 *
 * @param child the time in microseconds
 * @param window the type of a window: a struct of its start and its end
 */
private[spark] final case class WindowsOf(child: Expression, hops: HopPanes, window: DataType)
    extends UnaryExpression
    with Generator
    with CodegenFallback {

  override def elementSchema: StructType = new StructType().add("window", window)

  override def eval(input: InternalRow): IterableOnce[InternalRow] = child.eval(input) match {
    case time: Long =>
      val pane = hops.paneOf(time)
      val first = hops.firstWindowOf(pane)
      Iterator.iterate(hops.lastWindowOf(pane))(_ - 1).takeWhile(_ >= first).map { n =>
        InternalRow(InternalRow(hops.startOf(n), hops.endOf(n)))
      }
    case _ => Iterator.empty
  }

  override def prettyName: String = "windows"

  override protected def withNewChildInternal(newChild: Expression): WindowsOf =
    copy(child = newChild)
}

private[spark] object WindowsOf {

  /** From this number of windows a row on, Spark's plan of them takes long to analyze. */
  val Many = 100

  /** Whether Spark's own plan runs for windows that Sash does not answer. */
  def areCopied(size: Long, slide: Long): Boolean = size / slide < Many

  /** Rows in all their windows: the windows, their column, and the rows. */
  object Each {
    def unapply(plan: LogicalPlan): Option[(WindowsOf, Attribute, LogicalPlan)] = plan match {
      case Generate(windows: WindowsOf, _, _, _, Seq(window), child) =>
        Some((windows, window, child))
      case _ => None
    }
  }

  /** The plan as Spark's analyzer makes it, for windows that Sash does not answer. */
  def copied(plan: LogicalPlan, session: SparkSession): LogicalPlan =
    plan.transformDownWithSubqueriesAndPruning(_.containsPattern(GENERATE)) {
      case Each(WindowsOf(PreciseTimestampConversion(time, _, _), hops, _), window, child)
          if areCopied(hops.size, hops.slide) =>
        val call = TimeWindow(time, hops.size, hops.slide, hops.start)
        // all that the call needs of the rows are their columns
        val asker = Project(Seq(Alias(call, window.name)()), LocalRelation(child.output))
        session.sessionState.analyzer.execute(asker) match {
          case Project(_, Filter(condition, expand: Expand)) =>
            val made = expand.output.head.exprId
            Filter(
              condition.transform { case a: Attribute if a.exprId == made => window },
              expand.copy(output = window +: expand.output.tail, child = child)
            )
        }
    }
}
