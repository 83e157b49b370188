package io.sash.spark.streams.read

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.types.MetadataBuilder

import io.sash.spark.streams.ask.ReadState
import io.sash.spark.streams.plan.OfStream

/**
 * Replaces a query over a stream below `read_state` by the rows of its state. The columns that
 * the query makes of its answers stay. Its filters choose rows of the stream, and go.
 */
private[spark] object StateQueries extends Rule[LogicalPlan] with PredicateHelper {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case filter @ Filter(condition, query) if filter.resolved && ReadState.isIn(condition) =>
      val (calls, others) = splitConjunctivePredicates(condition).partition(ReadState.isIn(_))
      calls match {
        case Seq(call: ReadState) =>
          others.reduceOption(And).fold(read(query, call)) {
            Filter(_, read(query, call))
          }
        case _ => refuse("it stands by itself among the conditions of WHERE, with no OR or NOT")
      }
    case other if other.resolved && ReadState.isIn(other) => refuse("it is a condition of WHERE")
  }

  private def read(query: LogicalPlan, call: ReadState): LogicalPlan = query match {
    case Project(list, OfStream(stateful, processor)) =>
      val program = processor.program
      if (program.later.nonEmpty)
        refuse(
          s"${program.source.distinct.mkString(", ")} looks ahead, and its frame is not " +
            "complete at a time; end it at the current row"
        )
      if (program.windows.exists(_.frame.owns.nonEmpty))
        refuse(
          s"${program.source.distinct.mkString(", ")} has each row's own width, and a time has " +
            "none; read a query without it"
        )
      val known = KnownColumns.of(program, stateful.child)
      StateRows(list.map(rowColumn), program, known, new StateRequest(call))
    case Project(list, child) => known(Project(list, read(child, call)))
    case Filter(_, child)     => read(child, call)
    case alias: SubqueryAlias => alias.withNewChildren(Seq(read(alias.child, call)))
    case view: View           => view.withNewChildren(Seq(read(view.child, call)))
    case _ =>
      refuse("it is a condition above a query with OVER on a stream, and above nothing else")
  }

  /** A column of the operator, NULL where a moment has no value. */
  private def rowColumn(column: NamedExpression): Attribute = {
    val plain = new MetadataBuilder()
      .withMetadata(column.metadata)
      .remove(EventTimeWatermark.delayKey)
      .build()
    column.toAttribute.withNullability(true).withMetadata(plain)
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
