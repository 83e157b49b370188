package io.sash.spark.streams.read

import org.apache.spark.sql.catalyst.analysis.CleanupAliases
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.types.MetadataBuilder

import io.sash.spark.base.Filtered
import io.sash.spark.hops.{BatchHops, HopAggregate}
import io.sash.spark.hops.stream.{HopPlans, HopProcessor}
import io.sash.spark.streams.ask.ReadState
import io.sash.spark.streams.plan.{OfBuckets, OfStream, OperatorsWithState}
import io.sash.spark.streams.program.{AnswerMode, StreamProgram}

/**
 * Replaces a query over a stream below `read_state` by the rows of its state. The columns that
 * the query makes of its answers stay. Filters above OVER choose rows of the stream, and go.
 * Filters above hop windows choose windows, and stay.
 */
private[spark] object StateQueries extends Rule[LogicalPlan] with PredicateHelper {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case filter @ Filter(condition, query) if filter.resolved && ReadState.isIn(condition) =>
      val (calls, others) = splitConjunctivePredicates(condition).partition(ReadState.isIn(_))
      calls match {
        case Seq(call: ReadState) => Filtered(others, read(planned(query), call))
        case _ => refuse("it stands by itself among the conditions of WHERE, with no OR or NOT")
      }
    case other if other.resolved && ReadState.isIn(other) => refuse("it is a condition of WHERE")
  }

  /**
   * The query with operators for its hop windows. The query keeps it, since each plan has columns
   * of its own, and a task tells programs apart by their columns, too.
   */
  private def planned(query: LogicalPlan): LogicalPlan =
    if (!query.exists(isOverStream)) query
    else
      query
        .getTagValue(Planned)
        .filter(_._1 == conf.getAllConfs)
        .fold {
          val plan =
            hopPlans(AnalysisHelper.allowInvokingTransformsInAnalyzer(CleanupAliases(query)))
          query.setTagValue(Planned, conf.getAllConfs -> plan)
          plan
        }(_._2)

  /** The checkpoint knows the output mode. */
  private def hopPlans: HopPlans = new HopPlans(
    mode = AnswerMode.Append,
    latePath = None,
    conf = conf,
    reason = (hop: HopAggregate) =>
      Option.when(!HopPlans.haveWatermark(hop))(HopPlans.WithoutWatermark),
    kept = BatchHops.refused
  )

  /** The tag of a query with its plan, and the settings by which it was planned. */
  private val Planned: TreeNodeTag[(Map[String, String], LogicalPlan)] =
    TreeNodeTag("sash.read")

  private def isOverStream(plan: LogicalPlan): Boolean =
    plan.isInstanceOf[Aggregate] && plan.isStreaming

  private def read(query: LogicalPlan, call: ReadState): LogicalPlan = query match {
    case Project(list, OfStream(stateful, processor)) =>
      val program = processor.program
      check(program)
      checkBelow(stateful)
      val known = new KnownColumns(program, stateful.child)
      val widths = OwnWidths.of(program, known, call.widths)
      val windows = OverWindows(program, known.ofOutput, widths)
      StateRows(list.map(momentColumn), windows, new StateRequest(call))
    case Project(list, OfBuckets(stateful, hops: HopProcessor)) =>
      checkHops(call)
      checkBelow(stateful)
      StateRows(list.map(withoutDelay), OpenHops(hops.program), new StateRequest(call))
    case Project(list, child) => known(Project(list, read(child, call)))
    case Filter(condition, child) =>
      val below = read(child, call)
      if (readsHops(below)) Filter(condition, below) else below
    case alias: SubqueryAlias => alias.withNewChildren(Seq(read(alias.child, call)))
    case view: View           => view.withNewChildren(Seq(read(view.child, call)))
    case aggregate: Aggregate if aggregate.getTagValue(BatchHops.Refused).nonEmpty =>
      val why = aggregate.getTagValue(BatchHops.Refused).get
      refuse(s"Spark's own operator answers the hop windows: $why")
    case _ =>
      refuse(
        "it is a condition above a query with OVER or hop windows on a stream, and above " +
          "nothing else"
      )
  }

  private def checkHops(call: ReadState): Unit = {
    if (call.at.nonEmpty)
      throw ReadState.refuse(
        "at",
        "hop windows have a start and an end of their own, and all open ones are read; leave " +
          "it out, and choose windows by a condition, as in window.end > <time>"
      )
    if (call.widths.nonEmpty) throw OwnWidths.none
  }

  /** Refuses windows whose state lacks rows that have come. */
  private def checkBelow(stateful: TransformWithState): Unit =
    stateful.child.find(OperatorsWithState.holdsBack).foreach { below =>
      refuse(
        s"the windows are above another operator with state (${below.nodeName}), which holds " +
          "rows back that their state does not have yet; write the rows below to a table in " +
          "between"
      )
    }

  private def readsHops(plan: LogicalPlan): Boolean = plan.exists {
    case StateRows(_, windows, _) => windows.areHops
    case _                        => false
  }

  private def check(program: StreamProgram): Unit = if (program.later.nonEmpty)
    refuse(
      s"${program.source.distinct.mkString(", ")} looks ahead, and its frame is not " +
        "complete at a time; end it at the current row"
    )

  /** A column of the operator, NULL where a moment has no value. */
  private def momentColumn(column: NamedExpression): Attribute =
    withoutDelay(column).withNullability(true)

  /** A column of the operator, which is no event time of a stream any more. */
  private def withoutDelay(column: NamedExpression): Attribute = {
    val plain = new MetadataBuilder()
      .withMetadata(column.metadata)
      .remove(EventTimeWatermark.delayKey)
      .build()
    column.toAttribute.withMetadata(plain)
  }

  /** The columns over a child that may have got NULLs. */
  private def known(project: Project): Project = {
    val columns = AttributeMap(project.child.output.map(a => a -> a))
    project.copy(projectList = project.projectList.map(_.transform { case a: Attribute =>
      columns.getOrElse(a, a)
    }.asInstanceOf[NamedExpression]))
  }

  private def refuse(why: String): Nothing = throw ReadState.refuse("checkpoint", why)
}
