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
import org.apache.spark.sql.catalyst.util.GenericArrayData
import org.apache.spark.sql.types.{ArrayType, DataType, StructType}

/**
 * Generates one row for each window of a time, the last window first. No rows if the time is
 * NULL.
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

/** All windows that have a pane, as an array. */
private[spark] final case class WindowArray(child: Expression, hops: HopPanes, window: DataType)
    extends UnaryExpression
    with CodegenFallback {
  override def dataType: DataType = ArrayType(window, containsNull = false)

  override protected def nullSafeEval(pane: Any): Any = {
    val of = pane.asInstanceOf[Long]
    val windows = hops.firstWindowOf(of) to hops.lastWindowOf(of)
    new GenericArrayData(windows.map(n => InternalRow(hops.startOf(n), hops.endOf(n))))
  }

  override def prettyName: String = "windows_of"

  override protected def withNewChildInternal(newChild: Expression): WindowArray =
    copy(child = newChild)
}

private[spark] object WindowsOf {

  /** With this many windows per row or more, Spark takes long to analyze its own plan. */
  val Many = 100

  /** Whether Spark's own plan runs for windows that Sash does not answer. */
  def areCopied(size: Long, slide: Long): Boolean = size / slide < Many

  /** Matches rows that are copied into all their windows. Gives windows, their column, rows. */
  object Each {
    def unapply(plan: LogicalPlan): Option[(WindowsOf, Attribute, LogicalPlan)] = plan match {
      case Generate(windows: WindowsOf, _, _, _, Seq(window), child) =>
        Some((windows, window, child))
      case _ => None
    }
  }

  /** Replaces windows that Sash does not answer by the plan that Spark's analyzer makes. */
  def copied(plan: LogicalPlan, session: SparkSession): LogicalPlan =
    plan.transformDownWithSubqueriesAndPruning(_.containsPattern(GENERATE)) {
      case Each(WindowsOf(PreciseTimestampConversion(time, _, _), hops, _), window, child)
          if areCopied(hops.size, hops.slide) =>
        val call = TimeWindow(time, hops.size, hops.slide, hops.start)
        // the analyzer needs the columns of the rows, and not their plan
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
