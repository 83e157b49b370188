package io.sash.spark.streams.plan

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.{CollapseWindow, ReplaceExpressions}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.catalyst.trees.TreePattern.WINDOW
import org.apache.spark.sql.sash.SqlInternals
import org.apache.spark.sql.types.{MetadataBuilder, TimestampType}

import io.sash.spark.base.SashConf
import io.sash.spark.kinds.NoAggregate
import io.sash.spark.plan.MergeWindows
import io.sash.spark.multisets.Distinct
import io.sash.spark.streams.task.StreamProcessor

/**
 * Replaces each Window on a stream by a stateful operator. Windows of one partition and order
 * become one operator. They may stand in one query, or in a chain of `withColumn`, where the
 * lower windows have been replaced already.
 */
private[spark] object StreamWindows extends Rule[LogicalPlan] {

  /** The tag of the plan that has replaced a window, with the window. */
  private val Replaced: TreeNodeTag[Window] = TreeNodeTag("sash.window")

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!SashConf.enabled(conf) || !plan.exists(isOfStream)) plan
    else {
      val collapsed = AnalysisHelper.allowInvokingTransformsInAnalyzer {
        merged(plan.transformUpWithPruning(_.containsPattern(WINDOW)) {
          case window: Window if isOfStream(window) => rejoined(window)
        })
      }
      collapsed.resolveOperatorsUpWithPruning(_.containsPattern(WINDOW)) {
        case window: Window if isOfStream(window) => planned(window)
      }
    }

  private def merged(plan: LogicalPlan): LogicalPlan = MergeWindows.merged(CollapseWindow(plan))

  /** The window merged with the windows that an operator below has replaced, if they can be. */
  private def rejoined(window: Window): LogicalPlan = {
    val above = window.withNewChildren(Seq(restored(window.child)))
    val one = merged(above)
    def windows(plan: LogicalPlan) = plan.collect { case w: Window => w }.length
    if (windows(one) < windows(above)) one else window
  }

  /** The plan with the nearest operator replaced by the windows that it has replaced. */
  private def restored(plan: LogicalPlan): LogicalPlan = plan match {
    case p: Project if replaced(p).nonEmpty => replaced(p).get
    case p @ (_: Project | _: SubqueryAlias) =>
      p.withNewChildren(Seq(restored(p.children.head)))
    case other => other
  }

  /**
   * The window that an operator has replaced. None also if columns have got other ids since, as
   * in a join of a query with itself.
   */
  private def replaced(answers: Project): Option[Window] =
    answers.getTagValue(Replaced).filter(_.output.map(_.exprId) == answers.output.map(_.exprId))

  private def isOfStream(plan: LogicalPlan): Boolean = plan match {
    case w: Window => w.resolved && w.child.isStreaming
    case _         => false
  }

  private def planned(original: Window): LogicalPlan = {
    val time = timeOf(new WindowSourceText(original))
    val window = overStored(original, time)
    val replaced = ReplaceExpressions(StreamFunctions.asAggregates(window)).asInstanceOf[Window]
    val (over, inputs) = StreamFunctions.overColumns(replaced)
    val signature = new Signature(window.child, conf.caseSensitiveAnalysis)
    val source = new WindowSourceText(window, inputs)
    val calls = new StreamCalls(window, over, inputs, signature, source, conf)
    val keys = keysOf(window, source)
    val answers = StatefulPlan(
      // sorted: the state's columns do not depend on their order in the source
      Project(
        window.child.output.sortBy(signature.of) ++ inputs ++ calls.waiting,
        window.child
      ),
      keys,
      time,
      SashConf.streamBuckets(conf),
      original.output.zip(window.output).map { case (a, b) => a.withNullability(b.nullable) }
    ) { input =>
      new StreamProcessor(
        calls.program(input, keys, input.indexWhere(_.exprId == time.exprId))
      )
    }
    answers.setTagValue(Replaced, original)
    answers
  }

  /**
   * The window over columns as the state has them. Event times other than `time` are plain
   * columns, since a stateful operator has one watermark. All columns may be NULL, since they may
   * have been when the state's rows came.
   */
  private def overStored(window: Window, time: Attribute): Window = {
    val others = window.child.output.filter(a => hasWatermark(a) || !a.nullable)
    val plain = AttributeMap(others.filter(_.exprId != time.exprId).map { a =>
      val metadata = new MetadataBuilder()
        .withMetadata(a.metadata)
        .remove(EventTimeWatermark.delayKey)
        .build()
      a -> StoredColumn(a, metadata)
    })
    if (plain.isEmpty) window
    else
      window
        .transformExpressions { case a: Attribute => plain.get(a).fold(a)(_.toAttribute) }
        .asInstanceOf[Window]
        .withNewChildren(
          Seq(Project(window.child.output.map(a => plain.getOrElse(a, a)), window.child))
        )
        .asInstanceOf[Window]
  }

  private def keysOf(window: Window, source: WindowSourceText): Seq[Expression] =
    window.partitionSpec.map { p =>
      if (!Distinct.canKey(p.dataType))
        throw StreamErrors.unsupported(
          source,
          s"PARTITION BY ${source(p)}: values of type ${p.dataType.sql} are not told apart " +
            "by their bytes; partition by another expression of it"
        )
      Distinct.key(SqlInternals.normalized(p))
    }

  private def hasWatermark(a: Attribute): Boolean =
    a.metadata.contains(EventTimeWatermark.delayKey)

  /** The columns that ORDER BY may name: the analyzer selects some of them below the window. */
  private def selectable(child: LogicalPlan): Seq[Attribute] = child match {
    case Project(_, from) => from.output ++ child.output
    case _                => child.output
  }

  /** The text of a rank in a frame that can replace the window's rank, if it has one. */
  private def rankInFrame(window: Window): Option[String] = window.windowExpressions
    .flatMap(_.collect { case w: WindowExpression => w.windowFunction })
    .flatMap(NoAggregate.rankInFrame(_, NoAggregate.ranked(window.orderSpec)))
    .headOption

  /** The event time by which the window is ordered; fails if it is ordered by anything else. */
  private def timeOf(source: WindowSourceText): Attribute = {
    val window = source.window
    def refuse(why: String) = throw StreamErrors.unsupported(source, why)
    val here = selectable(window.child).filter(hasWatermark)
    val below = window.child.collect { case p => p.output }.flatten.filter(hasWatermark)
    def nearest = here.find(_.dataType == TimestampType).orElse((here ++ below).headOption)
    def remedy = nearest match {
      case None => "call withWatermark on the event time below the window"
      case Some(a) if a.dataType != TimestampType =>
        s"name window_time(${a.name}) below the window, and ORDER BY it"
      case Some(a) if here.exists(_.exprId == a.exprId) =>
        s"ORDER BY ${a.name}, which has a watermark"
      case Some(a) => s"ORDER BY ${a.name}, which has a watermark, and select it below the window"
    }
    window.orderSpec.headOption match {
      case Some(SortOrder(a: Attribute, Ascending, _, _))
          if hasWatermark(a) && a.dataType == TimestampType =>
        a
      case Some(SortOrder(a: Attribute, Descending, _, _)) if hasWatermark(a) =>
        refuse(s"a stream is ordered by ascending event time; ORDER BY ${a.name}")
      case Some(o) =>
        def ranks = rankInFrame(window).fold("")(r => s", and write $r for a rank in a frame")
        val isOfHops = nearest.exists(_.dataType != TimestampType)
        val instead =
          FirstRowsOfHops.remedy(source).filter(_ => isOfHops).getOrElse(remedy + ranks)
        refuse(s"ORDER BY ${source(o.child)} is not an event time with a watermark; $instead")
      case None => refuse(s"the window has no ORDER BY; $remedy")
    }
  }
}
