package io.sash.spark.python

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.optimizer.CollapseWindow
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, Window}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.WINDOW
import org.apache.spark.sql.sash.PythonCalls
import org.apache.spark.sql.types._

import io.sash.spark.base.{SashConf, SashErrors, SparkVersions}
import io.sash.spark.kinds._
import io.sash.spark.plan.{HiddenKeys, WindowFilter}

/**
 * Windows of aggregators that are written in Python (`sash.udaf`). Rows go to a Python worker
 * once, in the window's order, each with the places at which its window begins and ends. The
 * worker slides over them.
 *
 * {{{
 *   Project    … , TopK(arguments, condition, keys, shape, place, begin, end)   an iterator UDF
 *     Window   min(place) and max(place) over the window: begin and end
 *       Window count(*) over ROWS UNBOUNDED PRECEDING: place
 * }}}
 * So the begin and the end of a window are aggregates over it, whatever its frame or kind.
 * EXCLUDE leaves out a range of places, too: the current row, or its peers. Spark's own operator
 * runs the UDF, with its batches, its spills and its profilers.
 *
 * The function is declared as not deterministic, although its answers are. So no rule of the
 * optimizer takes rows away below it. The rule runs when the optimizer has put windows in their
 * order: Spark moves a window below one with a longer PARTITION BY if it reads none of its
 * answers, and `place` reads none. Then rows would reach the worker in the order of the latter.
 */
private[spark] final case class SlidePythonAggregators(session: SparkSession)
    extends Rule[LogicalPlan] {
  import SlidePythonAggregators._

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!SashConf.enabled(session)) plan
    else {
      val slides = plan.transformUpWithPruning(_.containsPattern(WINDOW)) {
        case window: Window if !window.isStreaming && window.windowExpressions.exists(isOurs) =>
          slid(window)
      }
      // `place` goes into a window below of the same keys and order
      if (slides.fastEquals(plan)) plan else CollapseWindow(slides)
    }
}

private[spark] object SlidePythonAggregators {

  /** How the names of `sash.udaf`'s functions begin. */
  val Prefix = "sash.udaf("

  /** The call of a Python aggregator over a window. */
  private final case class UdafCall(
      answer: Alias,
      window: WindowExpression,
      udaf: PythonUDAF,
      kinds: Seq[WindowKind],
      filter: Option[Expression]
  ) {
    val (modifiers, rows) = kinds.partition(_.isInstanceOf[WindowModifier])

    def exclude: Option[WindowExclude] = modifiers.collectFirst { case e: WindowExclude => e }
  }

  private def isOurs(e: Expression): Boolean = callOf(e).nonEmpty

  private def callOf(e: Expression): Option[UdafCall] = e match {
    case a @ Alias(w @ WindowExpression(AggregateExpression(f, _, _, filter, _), _), _) =>
      udafIn(f).map { case (udaf, kinds) =>
        UdafCall(a, w, udaf, kinds, filter.map { case WindowFilter(c) => c; case c => c })
      }
    case _ => None
  }

  /** Whether an aggregate is written in Python, and slides over windows in batch. */
  def isAggregator(f: AggregateFunction): Boolean = udafIn(f).nonEmpty

  private def udafIn(f: AggregateFunction): Option[(PythonUDAF, Seq[WindowKind])] = f match {
    case u: PythonUDAF if u.name.startsWith(Prefix)   => Some((u, Nil))
    case SlidingAggregate(u: PythonUDAF, kinds, _, _) => udafIn(u).map(_._1 -> kinds)
    case _                                            => None
  }

  private def slid(window: Window): LogicalPlan = {
    val (ours, others) = window.windowExpressions.partition(isOurs)
    val calls = ours.flatMap(callOf(_))
    calls.foreach(call => refusal(call).foreach(why => throw refused(call, why)))
    val below = if (others.isEmpty) window.child else window.copy(windowExpressions = others)
    val place = Alias(
      over(
        window,
        Count(Literal(1)),
        Nil,
        SpecifiedWindowFrame(RowFrame, UnboundedPreceding, CurrentRow)
      ),
      "place"
    )()
    val placed = windowOf(window, Seq(place), below)
    def bounds(kinds: Seq[WindowKind], frame: WindowFrame, from: String, until: String) =
      Seq(
        Alias(over(window, Min(place.toAttribute), kinds, frame), from)(),
        Alias(over(window, Max(place.toAttribute), kinds, frame), until)()
      )
    val ends = calls.map { call =>
      bounds(call.rows, call.window.windowSpec.frameSpecification, "begin", "end")
    }
    // the first and the last place that EXCLUDE leaves out; none if it is the current row's place
    val holes = calls.map { call =>
      if (call.exclude.exists(_.what != WindowExclude.CurrentRow))
        bounds(Nil, Peers, "hole_begin", "hole_end")
      else Nil
    }
    val moved = windowOf(window, (ends ++ holes).flatten, placed)
    val answers = calls.zip(ends.zip(holes)).map { case (call, (ends, peers)) =>
      val hole =
        if (call.exclude.isEmpty) Nil
        else if (peers.isEmpty) Seq(place, place)
        else peers
      val condition = call.filter
        .fold[Expression](Literal.TrueLiteral)(c => Coalesce(Seq(c, Literal.FalseLiteral)))
      val arguments = call.udaf.children ++ hole.map(_.toAttribute) ++ Seq(
        condition,
        keys(window.partitionSpec, place.toAttribute),
        Literal(shape(call, window.orderSpec)),
        place.toAttribute
      ) ++ ends.map(_.toAttribute)
      Alias(PythonCalls.overBatches(call.udaf, arguments), call.answer.name)(
        call.answer.exprId,
        call.answer.qualifier,
        Some(call.answer.metadata)
      )
    }
    val answered = AttributeMap(answers.map(a => a.toAttribute -> a))
    Project(window.output.map(a => answered.getOrElse(a, a)), moved)
  }

  private def refusal(call: UdafCall): Option[String] =
    call.modifiers.filterNot(call.exclude.contains(_)).headOption.map { m =>
      s"${m.sql} does not go with an aggregator in Python; write a sash.Monoid, or leave it out"
    }

  private def refused(call: UdafCall, why: String): Throwable =
    SashErrors.invalidArgument(call.udaf.name, "window", why)

  /**
   * How windows move, as the bits that Python's `sliding` names. 1: no row leaves a window, so
   * the worker keeps no rows. 2: a window may begin before the window of the row before, so the
   * worker keeps all rows of a key. 4: EXCLUDE leaves out rows. 8: EXCLUDE keeps the current
   * row.
   */
  private def shape(call: UdafCall, order: Seq[SortOrder]): Int = {
    val grows = call.kinds.isEmpty && (call.window.windowSpec.frameSpecification match {
      case SpecifiedWindowFrame(_, UnboundedPreceding, _) => true
      case _                                              => false
    })
    val movesBack = call.rows.exists {
      case b: BoundsWindow => !b.isAtDistances(order)
      case k               => k.movesBack
    }
    val stays = call.exclude.exists(_.what == WindowExclude.Ties)
    Seq(grows, movesBack, call.exclude.nonEmpty, stays).zipWithIndex.collect { case (true, bit) =>
      1 << bit
    }.sum
  }

  private val Peers = SpecifiedWindowFrame(RangeFrame, CurrentRow, CurrentRow)

  /**
   * The keys of a row, for the text of an error, as far as Python knows their types. Only the
   * first row of each key has them. Two keys may have one name, and Arrow wants fields of
   * different names, so a number precedes each.
   */
  private def keys(partitionSpec: Seq[Expression], place: Attribute): Expression = {
    val named = partitionSpec.map(HiddenKeys.shown).zipWithIndex.collect {
      case (e, i) if isPlain(e.dataType) =>
        val name = Some(e).collect { case a: NamedExpression => a.name }.getOrElse(s"key${i + 1}")
        Seq(Literal(s"${i + 1} $name"), e)
    }
    if (named.isEmpty) Literal(true)
    else {
      val all = CreateNamedStruct(named.flatten)
      If(EqualTo(place, Literal(1L)), all, Literal(null, all.dataType))
    }
  }

  private def isPlain(dataType: DataType): Boolean = dataType match {
    case _: NumericType | _: StringType | BooleanType | BinaryType => true
    case DateType | TimestampType | TimestampNTZType               => true
    case _                                                         => false
  }

  private def windowOf(like: Window, answers: Seq[NamedExpression], child: LogicalPlan): Window =
    SparkVersions.window(answers, like.partitionSpec, like.orderSpec, child)

  /**
   * An aggregate over the rows of a window. It slides by one row, so that one task answers all
   * rows of a key: a worker has to see each of them.
   */
  private def over(
      window: Window,
      f: AggregateFunction,
      kinds: Seq[WindowKind],
      frame: WindowFrame
  ): WindowExpression = {
    val whole = if (window.orderSpec.isEmpty) Nil else Seq(WindowSlide(Literal(1)))
    val modified = kinds ++ whole
    val of = if (modified.isEmpty) f else SlidingAggregate(f, modified)
    WindowExpression(
      AggregateExpression(of, Complete, isDistinct = false),
      WindowSpecDefinition(window.partitionSpec, window.orderSpec, frame)
    )
  }
}
