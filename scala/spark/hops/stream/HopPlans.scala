package io.sash.spark.hops.stream

import scala.util.{Left, Right}

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{
  AggregateExpression,
  AggregateFunction,
  Count
}
import org.apache.spark.sql.catalyst.optimizer.ColumnPruning
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.trees.TreePattern.CURRENT_LIKE
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.sash.SqlInternals
import org.apache.spark.sql.types._

import io.sash.spark.base.{Filtered, NoWatermark, SashConf}
import io.sash.spark.hops._
import io.sash.spark.monoids.{AggregateMonoid, Algorithm, Place}
import io.sash.spark.plan.WithoutErrors
import io.sash.spark.streams.checkpoint.StateSignature
import io.sash.spark.streams.late.LateTable
import io.sash.spark.streams.plan._
import io.sash.spark.streams.program.AnswerMode

/**
 * Plans the stateful operators of hop windows.
 *
 * @param latePath the folder of late rows; none if they are not kept
 * @param reason gives the reason if Spark has to answer hop windows; none if Sash may
 * @param kept gives the plan of an Aggregate that Spark answers, for a reason
 */
private[spark] final class HopPlans(
    mode: AnswerMode,
    latePath: Option[String],
    conf: SQLConf,
    reason: HopAggregate => Option[String],
    kept: (Aggregate, String) => LogicalPlan
) extends PredicateHelper {

  /**
   * The query with Sash's operators. It is `original` itself if Sash answers no hop window of it.
   */
  def apply(original: LogicalPlan): LogicalPlan =
    AnalysisHelper.allowInvokingTransformsInAnalyzer {
      val found = original.transformUp(hops)
      if (found eq original) original
      else
        // Spark drops unread columns when it optimizes, too late for Sash's state
        ColumnPruning(toldConditions(found))
          .transform {
            case Project(list, h: FoundHops) => Project(list, h.readBy(list))
            case Project(list, Filter(met, h: FoundHops)) =>
              Project(list, Filter(met, h.readBy(list :+ met)))
          }
          .transformUp { case h: FoundHops => planned(h.hop.copy(child = h.child)) }
    }

  private val hops: PartialFunction[LogicalPlan, LogicalPlan] = {
    case aggregate: Aggregate if aggregate.isStreaming =>
      HopAggregate.of(aggregate)(reason) match {
        case None => aggregate
        case Some(Right(hop)) =>
          val asked = hop.copy(conditions = Nil) // `toldConditions` finds them above
          val found = FoundHops(asked, hop.child, keepsRows = latePath.nonEmpty)
          Project(
            hop.results,
            Filtered(hop.conditions, found)
          )
        case Some(Left(why)) => kept(aggregate, why)
      }
  }

  /**
   * The plan in which hop windows know the conditions that filters above ask of windows. The
   * filters stay, since a pane of a wanted window is in others, too.
   */
  private def toldConditions(plan: LogicalPlan): LogicalPlan = plan.transformUp {
    case f @ Filter(condition, child) =>
      // conditions after a nondeterministic one must only see the rows that it keeps
      val first = splitConjunctivePredicates(condition).takeWhile(_.deterministic)
      f.copy(child = told(first, child))
  }

  private def told(conditions: Seq[Expression], plan: LogicalPlan): LogicalPlan = plan match {
    case p: Project =>
      val values = getAliasMap(p)
      p.copy(child = told(conditions.map(replaceAlias(_, values)), p.child))
    case _: Filter | _: SubqueryAlias | _: View =>
      plan.withNewChildren(plan.children.map(told(conditions, _)))
    case h: FoundHops =>
      val grouped = AttributeSet(h.hop.window +: h.hop.keys.map(_.toAttribute))
      val ofWindows = conditions.filter { c =>
        c.references.contains(h.hop.window) && c.references.subsetOf(grouped) &&
        // Spark replaces the moment in each batch, and plans the others
        c.deterministic && !c.containsPattern(CURRENT_LIKE) &&
        !SubqueryExpression.hasSubquery(c) && !c.exists(_.isInstanceOf[PythonUDF])
      }
      h.copy(hop = h.hop.copy(conditions = h.hop.conditions ++ ofWindows))
    case _ => plan
  }

  /** The rows of the windows that the conditions above leave, as far as they can be told. */
  private def wanted(hop: HopAggregate): LogicalPlan = {
    val values = AttributeMap(hop.keys.map(_.toAttribute).zip(hop.keyValues))
    val asked = hop.conditions.map(_.transform { case a: Attribute => values.getOrElse(a, a) })
    val panes = new PaneConditions(hop.window, PaneOf(hop.time, hop.hops), hop.hops)
    Filtered(
      panes.of(asked, exactly = PaneConditions.canFail(hop.keyValues ++ hop.calls)),
      hop.rows
    )
  }

  private def planned(hop: HopAggregate): LogicalPlan = {
    val signature = new Signature(hop.child, conf.caseSensitiveAnalysis)
    val columns = new InputColumns(_.metadata.contains(EventTimeWatermark.delayKey))
    val calls = hop.calls.map(call => columns.of(guarded(call)))
    val keys = hop.keys.zip(hop.keyValues).map { case (k, value) =>
      Alias(SqlInternals.normalized(value), k.name)(explicitMetadata = NoWatermark.Explicit)
    }
    val paneOf = PaneOf(hop.time, hop.hops)
    val pane = Alias(paneOf, "pane")()
    // by this column Spark drops and counts rows whose windows are all over
    val lastEnd = Alias(
      PreciseTimestampConversion(
        BoundOf(paneOf, hop.hops, last = true, end = true),
        LongType,
        TimestampType
      ),
      "last_end"
    )(explicitMetadata = Some(watermarkOf(hop.window)))
    val rows = Project(
      // sorted: the state's columns do not depend on their order in the source
      keys ++ columns.aliases ++ usedBy(calls, hop.child).sortBy(signature.of) ++
        Seq(pane, lastEnd),
      latePath.fold(wanted(hop)) { path =>
        val windows = WindowsWith(paneOf, hop.hops)
        LateTable(wanted(hop), path, lastEnd.child, Some(windows), hop.hops.slide)
      }
    )
    // the names are the same when the query starts again
    val answers = hop.calls.zipWithIndex.map { case (c, i) =>
      c.resultAttribute.withName(s"answer$i")
    }
    StatefulPlan(
      rows,
      keys.map(_.toAttribute),
      pane.toAttribute,
      SashConf.streamBuckets(conf),
      hop.keys.map(_.toAttribute) ++ (hop.window +: answers)
    ) { input =>
      val at = input.indexWhere(_.exprId == pane.exprId)
      new HopProcessor(program(hop, input, keys.map(_.toAttribute), at, calls, signature))
    }
  }

  private def program(
      hop: HopAggregate,
      input: Seq[Attribute],
      keys: Seq[Attribute],
      pane: Int,
      calls: Seq[AggregateExpression],
      signature: Signature
  ): HopProgram = {
    val rows = Count(Seq(Literal(1))).toAggregateExpression()
    val monoids = (calls :+ rows).map(PaneCalls.monoid(_).toOption.get)
    val algorithm = Algorithm.choose(monoids, SashConf.algorithm(conf), Place.ForestOfPanes)
    val slots = algorithm.program(input, monoids)
    HopProgram(
      input,
      keys.map(k => input.indexWhere(_.exprId == k.exprId)),
      pane,
      hop.hops,
      algorithm,
      slots,
      monoids.exists(_.grows),
      calls.map(_.dataType),
      // the count of rows lies between the answers and the window
      HopAnswer.row(keys, calls.map(_.resultAttribute), hop.window.dataType, behind = 1),
      mode,
      calls,
      text(hop, input, monoids, signature)
    )
  }

  /** A call whose arguments that can fail are computed only for rows that its FILTER keeps. */
  private def guarded(call: AggregateExpression): AggregateExpression =
    call.filter.fold(call) { filter =>
      def kept(e: Expression): Expression = e match {
        case order: SortOrder =>
          order.copy(child = kept(order.child), sameOrderExpressions = Nil)
        case safe if safe.foldable || WithoutErrors.cannotFail(safe) => safe
        case other => If(filter, other, Literal.create(null, other.dataType))
      }
      val f = call.aggregateFunction
      call.copy(aggregateFunction =
        f.withNewChildren(f.children.map(kept)).asInstanceOf[AggregateFunction]
      )
    }

  private def text(
      hop: HopAggregate,
      input: Seq[Attribute],
      monoids: Seq[AggregateMonoid],
      signature: Signature
  ): String = {
    val isZoned = (hop.time +: (hop.keyValues ++ hop.calls)).exists(signature.isZoned)
    StateSignature.of(
      Seq(
        StateSignature.Hops -> s"${hop.hops.signature} of ${signature.of(hop.time)}",
        "group by" -> signature.all(hop.keyValues),
        StateSignature.Aggregates -> signature.all(hop.calls),
        StateSignature.Columns -> input.map(c => StateSignature.sqlOf(c.dataType)).mkString(", "),
        StateSignature.Partials -> PartialsSignature.of(monoids),
        StateSignature.Answered -> mode.signature,
        StateSignature.Buckets -> SashConf.streamBuckets(conf).toString
      ),
      Option.when(isZoned)(conf.sessionLocalTimeZone)
    )
  }

  /** The child's columns that aggregates read directly. */
  private def usedBy(
      calls: Seq[AggregateExpression],
      child: LogicalPlan
  ): Seq[Attribute] = {
    val used = AttributeSet.fromAttributeSets(calls.map(_.references))
    child.output.filter(used.contains)
  }

  private def watermarkOf(window: Attribute): Metadata =
    new MetadataBuilder()
      .putLong(
        EventTimeWatermark.delayKey,
        window.metadata.getLong(EventTimeWatermark.delayKey)
      )
      .build()
}

/**
 * A placeholder for hop windows that Sash will answer, before it is known which answers are read.
 *
 * @param keepsRows whether late rows are kept with all their columns
 */
private final case class FoundHops(hop: HopAggregate, child: LogicalPlan, keepsRows: Boolean)
    extends UnaryNode {
  override def output: Seq[Attribute] =
    hop.keys.map(_.toAttribute) ++ (hop.window +: hop.calls.map(_.resultAttribute))

  override def producedAttributes: AttributeSet = outputSet

  override lazy val references: AttributeSet =
    if (keepsRows) child.outputSet
    else
      AttributeSet.fromAttributeSets((hop.keyValues ++ hop.calls :+ hop.time).map(_.references))

  def readBy(list: Seq[Expression]): FoundHops = {
    val read = AttributeSet.fromAttributeSets(list.map(_.references))
    copy(hop = hop.copy(calls = hop.calls.filter(c => read.contains(c.resultAttribute))))
  }

  override protected def withNewChildInternal(newChild: LogicalPlan): FoundHops =
    copy(child = newChild)
}
