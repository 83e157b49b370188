package io.sash.spark.lateral

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.Literal.TrueLiteral
import org.apache.spark.sql.catalyst.expressions.aggregate.BloomFilterAggregate
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern._
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.execution.datasources._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.sources.BaseRelation
import org.apache.spark.sql.types._

import io.sash.spark.base.{Filtered, SashConf, TimeUnit}
import io.sash.spark.plan.WithoutErrors
import io.sash.spark.times.PaneNumber

/**
 * Keeps events that are of no label out of the exchange, as Spark's runtime filters do below a
 * join. A first job over the labels makes a Bloom filter of their keys and of the part of time
 * that each lies in. The parts are as wide as the range, so an event tests two of them.
 *
 * [[LateralUnion]] puts a filter above every table of events where it could be right, and
 * [[ChooseEventFilters]] removes it again where it is not worth its cost.
 *
 * @param query the whole query, whose CTEs a label may read
 */
private[lateral] final class EventFilters(query: LogicalPlan) {

  /** The plans of the query's CTEs, by their numbers. Most queries have no labels to ask. */
  private lazy val definitions: Map[Long, LogicalPlan] =
    query.collectWithSubqueries { case d: CTERelationDef => d.id -> d.child }.toMap

  /**
   * The condition on events to be of some label; none if no key and no range can be tested.
   *
   * @param keys the pairs of equal keys: the event's and the label's
   * @param time the event's time
   * @param range the range that holds the times of a label's events, if it has two fixed ends
   */
  def of(
      labels: LogicalPlan,
      keys: Seq[(Expression, Expression)],
      time: Expression,
      range: Option[OffsetRange]
  ): Option[Expression] = {
    val (ofEvents, ofLabels) = keys.filter { case (event, label) =>
      event.dataType == label.dataType && isHashable(event.dataType)
    }.unzip
    val parts = range.collect { case OffsetRange(base, Some(lower), upper) =>
      val width = upper - lower + 1
      (Seq(upper, lower).map(PaneNumber(time, width, _)), PaneNumber(base, width))
    }
    val hashes = parts.fold(Seq(ofEvents))(_._1.map(ofEvents :+ _))
    val ofLabel = ofLabels ++ parts.map(_._2)
    val conf = SQLConf.get
    val isAllowed = conf.getConf(SashConf.LateralFilterThreshold) >= 0 &&
      conf.getConf(SQLConf.RUNTIME_BLOOM_FILTER_MAX_NUM_ITEMS) > 0
    val isPossible = ofLabel.nonEmpty && !hashes.flatten.exists(isOpaque) && isRepeatable(labels)
    Option.when(isAllowed && isPossible) {
      val aggregate = new BloomFilterAggregate(new XxHash64(ofLabel))
      val bloom = Alias(aggregate.toAggregateExpression(), "labels")()
      MightHaveLabel(
        ScalarSubquery(Aggregate(Nil, Seq(bloom), labels)),
        hashes.map(new XxHash64(_)),
        mayMove = false
      )
    }
  }

  /** Whether equal values have one hash. */
  private def isHashable(dataType: DataType): Boolean = dataType match {
    case BooleanType | ByteType | ShortType | IntegerType | LongType | _: DecimalType => true
    case TimeUnit(TimeUnit.Day | TimeUnit.Micro) | BinaryType                         => true
    case s: StringType => UnsafeRowUtils.isBinaryStable(s)
    case _             => false
  }

  /** Whether a plan has the same rows if it runs twice. */
  private def isRepeatable(plan: LogicalPlan): Boolean = !plan.exists {
    case p if p.isStreaming || p.expressions.exists(e => !e.deterministic || isOpaque(e)) => true
    case _: Project | _: Filter | _: SubqueryAlias | _: View | _: Union | _: Distinct     => false
    case _: RepartitionOperation | _: Sort | _: Join | _: ResolvedHint                    => false
    case _: LocalRelation | _: Range                                                      => false
    case r: LogicalRelation => !hasFixedFiles(r.relation)
    case r: CTERelationRef  => !definitions.get(r.cteId).exists(isRepeatable)
    case _: CTERelationDef  => false
    case _                  => true
  }

  /** Whether a relation lists its files once, and not each time that a query is planned. */
  private def hasFixedFiles(relation: BaseRelation): Boolean = relation match {
    case files: HadoopFsRelation => files.location.isInstanceOf[PartitioningAwareFileIndex]
    case _                       => false
  }

  /** Whether an expression is a query of its own or code of the user's. */
  private def isOpaque(e: Expression): Boolean =
    e.containsAnyPattern(PLAN_EXPRESSION, PYTHON_UDF, SCALA_UDF, INVOKE)
}

/** Keeps the event filters that are worth a job over the labels, and removes the others. */
private[spark] object ChooseEventFilters extends Rule[LogicalPlan] with PredicateHelper {

  /** Whether a condition keeps a filter. */
  def isChosen(condition: Expression): Boolean = condition.exists(_.isInstanceOf[MightHaveLabel])

  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.transformUpWithPruning(_.containsPattern(SCALAR_SUBQUERY)) {
      case filter: Filter if isChosen(filter.condition) =>
        val mayMove = readsRows(filter.child)
        val conditions = splitConjunctivePredicates(filter.condition).map {
          case test @ MightHaveLabel(job: ScalarSubquery, _, _) =>
            job.plan match {
              case a: Aggregate if isWorthIt(a.child, filter.child) =>
                test.copy(job.withNewPlan(withoutErrors(sized(a))), mayMove = mayMove)
              case _ => TrueLiteral
            }
          case other => other
        }
        Filtered(conditions.filterNot(_ == TrueLiteral), filter.child)
    }

  /**
   * Whether a plan only reads rows, so that no condition can change the rows of an operator.
   * Spark then merges the filter with conditions below, and the scan reads no other columns.
   */
  private def readsRows(plan: LogicalPlan): Boolean = plan match {
    case _: LeafNode => true
    case p: Project  => p.projectList.forall(_.deterministic) && readsRows(p.child)
    // a condition with a subquery becomes a join later
    case Filter(condition, on) =>
      condition.deterministic && !condition.containsPattern(PLAN_EXPRESSION) && readsRows(on)
    case u: Union => u.children.forall(readsRows)
    case _        => false
  }

  /**
   * The least size of the events over the size of the labels, which are read twice. With fewer
   * events a filter that removes none costs a tenth of the query, and here a fiftieth.
   */
  private val LeastRatio = 50

  private def isWorthIt(labels: LogicalPlan, events: LogicalPlan): Boolean = {
    val size = events.stats.sizeInBytes
    val threshold = conf.getConf(SashConf.LateralFilterThreshold)
    val isSmall = labels.stats.sizeInBytes * LeastRatio <= size
    (threshold == 0 || size >= threshold && isSmall) && !labels.exists {
      case _: Project | _: Filter | _: Union | _: RepartitionOperation | _: LeafNode => false
      case _                                                                         => true
    }
  }

  /**
   * With Spark's usual number of bits, or with more for more labels. Where the number of labels
   * is not known, files hold at least four bytes of each; smaller ones may fill the filter.
   */
  private def sized(job: Aggregate): LogicalPlan = job.transformExpressions {
    case bloom: BloomFilterAggregate =>
      val stats = job.child.stats
      val usual = conf.getConf(SQLConf.RUNTIME_BLOOM_FILTER_EXPECTED_NUM_ITEMS)
      val labels = stats.rowCount.getOrElse((stats.sizeInBytes / 4).max(usual))
      new BloomFilterAggregate(bloom.child, labels.max(1).min(Int.MaxValue).toLong)
  }

  /** The same job. A label whose key or time fails has no events, or fails in the query. */
  private def withoutErrors(job: LogicalPlan): LogicalPlan = WithoutErrors(job).transform {
    case a: Aggregate =>
      a.transformExpressions { case x: XxHash64 => x.copy(x.children.map(WithoutErrors.orNull)) }
  }
}
