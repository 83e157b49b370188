package io.sash.spark.python

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, Window}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.WINDOW
import org.apache.spark.sql.sash.PythonCalls
import org.apache.spark.sql.types._

import io.sash.spark.base.{SashConf, SashErrors, SparkVersions}
import io.sash.spark.kinds._

/**
 * Windows of aggregators that are written in Python (`sash.udaf`). Rows go to a Python worker
 * once, in the window's order, each with the places at which its window begins and ends. The
 * worker slides over them.
 *
 * {{{
 *   Project    … , TopK(arguments, condition, keys, hint, place, begin, end)   an iterator UDF
 *     Window   min(place) and max(place) over the window: begin and end
 *       Window count(*) over ROWS UNBOUNDED PRECEDING: place
 * }}}
 * So each frame and kind of window says where it begins and ends as it does for any aggregate.
 * Spark's own operator runs the UDF, with its batches, its spills and its profilers.
 *
 * The function is not deterministic, although each of its answers is: no rule of the optimizer
 * may then take a row away below it.
 */
private[spark] final case class SlidePythonAggregators(session: SparkSession)
    extends Rule[LogicalPlan] {
  import SlidePythonAggregators._

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!SashConf.enabled(session)) plan
    else
      plan.transformUpWithPruning(_.containsPattern(WINDOW)) {
        case window: Window if !window.isStreaming && window.windowExpressions.exists(isOurs) =>
          slid(window)
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
  )

  private def isOurs(e: Expression): Boolean = callOf(e).nonEmpty

  private def callOf(e: Expression): Option[UdafCall] = e match {
    case a @ Alias(w @ WindowExpression(AggregateExpression(f, _, _, filter, _), _), _) =>
      (f match {
        case u: PythonUDAF                             => Some((u, Nil))
        case SlidingAggregate(u: PythonUDAF, ks, _, _) => Some((u, ks))
        case _                                         => None
      }).collect {
        case (udaf, kinds) if udaf.name.startsWith(Prefix) =>
          UdafCall(a, w, udaf, kinds, filter)
      }
    case _ => None
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
    val ends = calls.map { call =>
      val frame = call.window.windowSpec.frameSpecification
      def end(of: AggregateFunction, name: String) =
        Alias(over(window, of, call.kinds, frame), name)()
      (end(Min(place.toAttribute), "begin"), end(Max(place.toAttribute), "end"))
    }
    val moved = windowOf(window, ends.flatMap { case (begin, end) => Seq(begin, end) }, placed)
    val answers = calls.zip(ends).map { case (call, (begin, end)) =>
      val arguments = call.udaf.children ++ Seq(
        call.filter
          .fold[Expression](Literal.TrueLiteral)(c => Coalesce(Seq(c, Literal.FalseLiteral))),
        keys(window.partitionSpec),
        Literal(grows(call)),
        place.toAttribute,
        begin.toAttribute,
        end.toAttribute
      )
      Alias(PythonCalls.overBatches(call.udaf, arguments), call.answer.name)(
        call.answer.exprId,
        call.answer.qualifier,
        Some(call.answer.metadata)
      )
    }
    val answered = AttributeMap(answers.map(a => a.toAttribute -> a))
    Project(window.output.map(a => answered.getOrElse(a, a)), moved)
  }

  private def refusal(call: UdafCall): Option[String] = call.kinds.collectFirst {
    case m: WindowModifier =>
      s"${m.sql} does not go with an aggregator in Python; write a sash.Monoid, or leave it out"
    case k if k.movesBack =>
      s"${k.sql} may begin before the window of the row before, and an aggregator in Python " +
        "keeps no older rows; write a sash.Monoid, or take one width for all rows"
  }

  private def refused(call: UdafCall, why: String): Throwable =
    SashErrors.invalidArgument(call.udaf.name, "window", why)

  /** Whether no row leaves the window, so that the worker keeps no rows. */
  private def grows(call: UdafCall): Boolean =
    call.kinds.isEmpty && (call.window.windowSpec.frameSpecification match {
      case SpecifiedWindowFrame(_, UnboundedPreceding, _) => true
      case _                                              => false
    })

  /** The keys of a row, for the text of an error, as far as Python knows their types. */
  private def keys(partitionSpec: Seq[Expression]): Expression = {
    val named = partitionSpec.zipWithIndex.collect {
      case (a: NamedExpression, _) if isPlain(a.dataType) => Seq(Literal(a.name), a)
      case (e, i) if isPlain(e.dataType)                  => Seq(Literal(s"key${i + 1}"), e)
    }
    if (named.isEmpty) Literal(true) else CreateNamedStruct(named.flatten)
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
