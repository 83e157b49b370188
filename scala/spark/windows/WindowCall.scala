package io.sash.spark.windows

import scala.util.{Left, Right}

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{
  AggregateExpression,
  ImperativeAggregate,
  Mode,
  PercentileBase
}

import io.sash.spark.kinds.{PredicateWindow, SlidingAggregate}
import io.sash.spark.monoids._
import io.sash.spark.multisets.WindowMonoid
import io.sash.spark.slots.SlotProgram

/**
 * An aggregate over a frame, and the algorithm chosen for it.
 *
 * @param bounding the aggregate that bounds the frame; none without one
 */
private[spark] final case class WindowCall(
    expression: WindowExpression,
    shape: WindowShape,
    monoid: AggregateMonoid,
    algorithm: Algorithm,
    bounding: Option[BoundingCall]
) {

  /** The SQL of the aggregate and its frame. */
  def text: String = WindowCall.textOf(expression)

  /** The algorithm, and the running answer that is kept outside the slots. */
  def how: String = algorithm.title + monoid.running.fold("")(answer => s" of ${answer.title}")

  override def toString: String = s"$text: $how"
}

/** The aggregate whose condition bounds a frame. */
private[spark] final case class BoundingCall(
    monoid: AggregateMonoid,
    algorithm: Algorithm,
    kind: PredicateWindow
) {
  def program(input: Seq[Attribute]): StoreProgram = {
    val part = algorithm.part(monoid, first = 0, result = 0).copy(results = Nil)
    val condition = LambdaBodies.compilable(kind.of(monoid.lower))
    val slots = SlotProgram(input, monoid.left, monoid.right, Seq(part), holds = Some(condition))
    StoreProgram(algorithm, slots, ranges = 1)
  }
}

private[spark] object WindowCall {

  def windowsIn(expressions: Seq[Expression]): Seq[WindowExpression] =
    expressions.flatMap(_.collect { case w: WindowExpression => w })

  /** The calls in some expressions, without duplicates. `of` has to accept all of them. */
  def each(expressions: Seq[Expression])(
      of: WindowExpression => Either[Refusal, WindowCall]
  ): Seq[WindowCall] =
    windowsIn(expressions)
      .distinctBy(_.canonicalized)
      .map(of(_).fold(r => throw new IllegalStateException(r.reason), c => c))

  /** The expressions with each call replaced by its result. */
  def replaced(
      expressions: Seq[Expression],
      calls: Seq[WindowCall],
      results: Seq[Expression]
  ): Seq[Expression] = {
    val resultOf = calls.map(_.expression.canonicalized).zip(results).toMap
    expressions.map(_.transform { case w: WindowExpression => resultOf(w.canonicalized) })
  }

  /** The SQL of the aggregate and its frame. */
  def textOf(expression: WindowExpression): String = expression.windowFunction match {
    case call @ AggregateExpression(s: SlidingAggregate, _, _, _, _) =>
      val window = s.kind.fold(frameText(expression))(k => s"over ${k.sql}")
      (s"${SlidingAggregate.withoutWindows(call).sql} $window" +: s.modifiers.map(_.sql))
        .mkString(", ")
    case f => s"${f.sql} ${frameText(expression)}"
  }

  private def frameText(expression: WindowExpression): String =
    expression.windowSpec.frameSpecification match {
      case specified: SpecifiedWindowFrame => FrameSourceText(specified)
      case other                           => other.sql
    }

  private def frameOf(expression: WindowExpression): SpecifiedWindowFrame =
    expression.windowSpec.frameSpecification.asInstanceOf[SpecifiedWindowFrame]

  /** The call for an expression that Sash accepts, or the reason why Spark runs it. */
  def of(expression: WindowExpression, forced: String): Either[Refusal, WindowCall] =
    of(expression, forced, moving(_, _))

  /** Likewise, but frames that only grow and entire partitions are accepted, too. */
  def ofAnyFrame(expression: WindowExpression, forced: String): Either[Refusal, WindowCall] =
    of(expression, forced, (frame, _) => constant(frame))

  private def of(
      expression: WindowExpression,
      forced: String,
      accepted: (SpecifiedWindowFrame, AggregateExpression) => Either[Refusal, Unit]
  ): Either[Refusal, WindowCall] =
    for {
      aggregate <- expression.windowFunction match {
        case a: AggregateExpression => Right(a)
        case f                      => Left(Refusal.NotAnAggregate(f.prettyName))
      }
      _ <- UnknownWindow.of(expression.windowSpec).map(Refusal.Unknown(_)).toLeft(())
      call <- aggregate.aggregateFunction match {
        case s: SlidingAggregate if s.kind.nonEmpty =>
          Right(SlidingAggregate.withoutWindows(aggregate))
        case _: OnlySash =>
          constant(frameOf(expression)).map(_ => SlidingAggregate.withoutWindows(aggregate))
        case _ => accepted(frameOf(expression), aggregate).map(_ => aggregate)
      }
      shape = WindowShape.of(expression)
      monoid <- WindowMonoid.of(call)
      bounding <- shape.frame.bounding
        .fold[Either[Refusal, Option[BoundingCall]]](Right(None)) { kind =>
          WindowMonoid.of(kind.function.toAggregateExpression()).map { of =>
            Some(BoundingCall(of, Algorithm.choose(of, forced, Place.Ring), kind))
          }
        }
      algorithm = Algorithm.choose(monoid, forced, shape.place)
    } yield WindowCall(expression, shape, monoid, algorithm, bounding)

  private def moving(
      frame: SpecifiedWindowFrame,
      call: AggregateExpression
  ): Either[Refusal, Unit] = frame match {
    case SpecifiedWindowFrame(_, UnboundedPreceding, UnboundedFollowing) =>
      Left(Refusal.EntirePartition)
    case SpecifiedWindowFrame(_, UnboundedPreceding, _) =>
      growing(call).toLeft(()).flatMap(_ => constant(frame))
    case _ => constant(frame)
  }

  /**
   * The reason why Spark runs a frame that only grows; none if Sash does. Spark's operator costs
   * no more, unless the aggregate goes through all its values for each answer.
   */
  private def growing(call: AggregateExpression): Option[Refusal] =
    Option.unless(WindowMonoid.running(call).exists(_.isIncremental)) {
      call.aggregateFunction match {
        case _: PercentileBase             => Refusal.GrowingSorted
        case _: Mode                       => Refusal.GrowingCounted
        case buffered: ImperativeAggregate => Refusal.GrowingBuffer(buffered.prettyName)
        case _                             => Refusal.Growing
      }
    }

  private def constant(frame: SpecifiedWindowFrame): Either[Refusal, Unit] =
    frame.valueBoundary
      .find(b => !b.foldable || b.eval() == null)
      .map(b => Refusal.Unbound(b.sql))
      .toLeft(())
}
