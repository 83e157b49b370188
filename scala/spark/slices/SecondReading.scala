package io.sash.spark.slices

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.trees.TreePattern._
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.execution.columnar.InMemoryRelation
import org.apache.spark.sql.execution.datasources._
import org.apache.spark.sql.types.DataType

import io.sash.spark.base.Filtered
import io.sash.spark.windows.Ties

/**
 * The second plan of the labels: the index reads them through it, and the union reads them, too.
 */
private[slices] object SecondReading extends PredicateHelper {

  /**
   * A plan with the `asked` columns of all labels, and perhaps of more rows. It omits the answers
   * of other subqueries, and conditions on them.
   */
  def of(plan: LogicalPlan, asked: AttributeSet): LogicalPlan = plan match {
    case Project(list, child) =>
      val kept = list.filter(asked.contains)
      Project(kept, of(child, AttributeSet.fromAttributeSets(kept.map(_.references))))
    case OfWindow(union, labels) =>
      if (!asked.subsetOf(union.outputSet)) plan
      else {
        val columns = AttributeMap(union.output.zip(labels.output))
        val kept = union.output.filter(asked.contains).map { a =>
          val column = columns(a)
          if (column.exprId == a.exprId) column else Alias(column, a.name)(a.exprId)
        }
        Project(kept, of(labels, AttributeSet(kept.flatMap(_.references))))
      }
    case Filter(condition, child) if hasAnswers(child) =>
      val (known, _) = splitConjunctivePredicates(condition).partition { c =>
        c.deterministic && c.references.subsetOf(asked)
      }
      Filtered(known, of(child, asked))
    case g: Generate if hasAnswers(g.child) && asked.subsetOf(g.child.outputSet) =>
      of(g.child, asked)
    case other => other
  }

  /** Matches labels with the answers of a window. Gives its union, and the labels alone. */
  private object OfWindow {
    def unapply(plan: LogicalPlan): Option[(Union, LogicalPlan)] = plan match {
      case Filter(condition, window: Window) =>
        window.child match {
          case union: Union => LabelUnion.labelsOf(condition, window).map(union -> _)
          case _            => None
        }
      case _ => None
    }
  }

  private def hasAnswers(plan: LogicalPlan): Boolean = plan.exists(_.isInstanceOf[Window])

  /** The reason why a plan may give other rows when it is read again; none if it cannot. */
  def refusal(plan: LogicalPlan): Option[String] = plan
    .collectFirst {
      case p if p.isStreaming || p.expressions.exists(isOpaque) || !isRepeatable(p) => p.nodeName
    }
    .map(name => s"the labels' $name may give other rows when it is read again")

  private def isRepeatable(plan: LogicalPlan): Boolean = plan match {
    case _: Project | _: Filter | _: Union | _: SubqueryAlias | _: ResolvedHint => true
    case _: RepartitionOperation | _: Sort | _: Join | _: Generate              => true
    case _: Distinct                                                            => true
    case _: LocalRelation | _: Range | _: OneRowRelation                        => true
    case a: Aggregate =>
      a.groupingExpressions.forall(e => haveOneForm(e.dataType)) &&
      a.aggregateExpressions.forall(!_.exists {
        case call: AggregateExpression => call.isDistinct || !Ties.isExact(call.aggregateFunction)
        case _                         => false
      })
    case _: View             => true
    case r: InMemoryRelation => refusal(r.cacheBuilder.logicalPlan).isEmpty
    case r: LogicalRelation =>
      r.relation match {
        case files: HadoopFsRelation => files.location.isInstanceOf[PartitioningAwareFileIndex]
        case _                       => false
      }
    case _ => false
  }

  /** Whether equal values have equal bytes. If not, a group shows any one of its equal values. */
  private def haveOneForm(dataType: DataType): Boolean = UnsafeRowUtils.isBinaryStable(dataType)

  /** Whether an expression is nondeterministic, a subquery or user code. */
  private def isOpaque(e: Expression): Boolean =
    !e.deterministic || e.containsAnyPattern(PLAN_EXPRESSION, PYTHON_UDF, SCALA_UDF, INVOKE)

  /** Whether a plan costs little more than a read of its tables. */
  def isCheap(plan: LogicalPlan): Boolean = !plan.exists {
    case _: Project | _: Filter | _: Union | _: RepartitionOperation | _: LeafNode => false
    case _                                                                         => true
  }
}
