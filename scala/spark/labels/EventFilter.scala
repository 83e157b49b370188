package io.sash.spark.labels

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.Literal.TrueLiteral
import org.apache.spark.sql.catalyst.expressions.aggregate.BloomFilterAggregate
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern._
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.execution.datasources._
import org.apache.spark.sql.sources.BaseRelation
import org.apache.spark.sql.types._

import io.sash.spark.base.SashConf

/**
 * Keeps events that are of no label out of the exchange, as Spark's runtime filters do below a
 * join. A first job over the labels makes a Bloom filter of their keys and of the part of time
 * that each lies in. The parts are as wide as the range, so an event tests two of them.
 *
 * [[LabelUnion]] puts a filter above every table of events where it could be right, and
 * [[ChooseEventFilters]] removes it again where it is not worth its cost.
 */
private[labels] object EventFilter {

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
      isPlain(event) && event.dataType == label.dataType && isHashable(event.dataType)
    }.unzip
    val parts =
      range.filter(_ => isPlain(time)).collect { case OffsetRange(base, Some(lower), upper) =>
        val width = upper - lower + 1
        (Seq(upper, lower).map(PartOfTime(time, _, width)), PartOfTime(base, 0, width))
      }
    Option.when((ofEvents.nonEmpty || parts.nonEmpty) && isRepeatable(labels)) {
      val made = new BloomFilterAggregate(new XxHash64(ofLabels ++ parts.map(_._2)))
      val bloom = Alias(made.toAggregateExpression(), "labels")()
      val hashes = parts.fold(Seq(ofEvents))(_._1.map(ofEvents :+ _))
      MightHaveLabel(
        ScalarSubquery(Aggregate(Nil, Seq(bloom), labels)),
        hashes.map(new XxHash64(_))
      )
    }
  }

  /** Whether an expression fails for no row, so that it may be computed for all of them. */
  private def isPlain(e: Expression): Boolean = e match {
    case _: Attribute    => true
    case c: Cast         => isPlain(c.child) && Cast.canUpCast(c.child.dataType, c.dataType)
    case k: KnownNotNull => isPlain(k.child)
    case _               => false
  }

  /** Whether equal values have one hash. */
  private def isHashable(dataType: DataType): Boolean = dataType match {
    case BooleanType | ByteType | ShortType | IntegerType | LongType | _: DecimalType => true
    case DateType | TimestampType | TimestampNTZType | BinaryType                     => true
    case s: StringType => UnsafeRowUtils.isBinaryStable(s)
    case _             => false
  }

  /** Whether a plan has the same rows if it runs twice. */
  private def isRepeatable(plan: LogicalPlan): Boolean = !plan.exists {
    case p if p.isStreaming || p.expressions.exists(e => !e.deterministic || isOpaque(e)) => true
    case _: Project | _: Filter | _: SubqueryAlias | _: View | _: Union                   => false
    case _: RepartitionOperation | _: Sort | _: Join | _: ResolvedHint                    => false
    case _: LocalRelation | _: Range                                                      => false
    case r: LogicalRelation => !hasFixedFiles(r.relation)
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
private[spark] object ChooseEventFilters extends Rule[LogicalPlan] {

  /** Whether a condition keeps a filter. */
  def isChosen(condition: Expression): Boolean = condition.exists(_.isInstanceOf[MightHaveLabel])

  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.transformUpWithPruning(_.containsPattern(SCALAR_SUBQUERY)) {
      case p if p.expressions.exists(isChosen) =>
        val chosen = p.transformExpressions {
          case test @ MightHaveLabel(made: ScalarSubquery, _) =>
            (p, made.plan) match {
              case (Filter(_, events), a: Aggregate) if isWorthIt(a.child, events) =>
                test.copy(filter = made.withNewPlan(sized(a)))
              case _ => TrueLiteral
            }
        }
        chosen match {
          case Filter(TrueLiteral, child) => child
          case other                      => other
        }
    }

  private def isWorthIt(labels: LogicalPlan, events: LogicalPlan): Boolean = {
    val least = conf.getConf(SashConf.LabelsFilterThreshold)
    val size = events.stats.sizeInBytes
    least >= 0 && size >= least && labels.stats.sizeInBytes * 4 <= size && !labels.exists {
      case _: Project | _: Filter | _: Union | _: RepartitionOperation | _: LeafNode => false
      case _                                                                         => true
    }
  }

  /** With as many bits as the labels need, within Spark's limits. */
  private def sized(made: Aggregate): LogicalPlan = made.transformExpressions {
    case bloom: BloomFilterAggregate =>
      val stats = made.child.stats
      val width = made.child.output.map(_.dataType.defaultSize).sum + 8
      val rows = stats.rowCount.getOrElse(stats.sizeInBytes / width)
      new BloomFilterAggregate(bloom.child, rows.max(1).min(Int.MaxValue).toLong)
  }
}
