package io.sash.spark.plan

import scala.util.{Left, Right}

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression

import io.sash.spark.monoids.{AggregateMonoid, Algorithm}

/** An aggregate over a frame, and the algorithm that was chosen for it. */
private[spark] final case class WindowCall(
    expression: WindowExpression,
    monoid: AggregateMonoid,
    algorithm: Algorithm
) {
  def frame: SpecifiedWindowFrame = WindowCall.frameOf(expression)

  override def toString: String =
    s"${expression.windowFunction.sql} ${FrameText(frame)}: ${algorithm.title}"
}

private[spark] object WindowCall {
  def frameOf(expression: WindowExpression): SpecifiedWindowFrame =
    expression.windowSpec.frameSpecification.asInstanceOf[SpecifiedWindowFrame]

  /** The call for an expression that Sash takes, or why it is Spark's. */
  def of(expression: WindowExpression, forced: String): Either[Refusal, WindowCall] =
    for {
      aggregate <- expression.windowFunction match {
        case a: AggregateExpression => Right(a)
        case f                      => Left(Refusal.NotAnAggregate(f.prettyName))
      }
      _ <- moving(frameOf(expression))
      monoid <- AggregateMonoid.of(aggregate)
    } yield WindowCall(expression, monoid, Algorithm.choose(monoid, forced))

  private def moving(frame: SpecifiedWindowFrame): Either[Refusal, Unit] = frame match {
    case SpecifiedWindowFrame(_, UnboundedPreceding, UnboundedFollowing) =>
      Left(Refusal.EntirePartition)
    case SpecifiedWindowFrame(_, UnboundedPreceding, _) => Left(Refusal.Growing)
    case _ =>
      frame.valueBoundary
        .find(b => !b.foldable || b.eval() == null)
        .map(b => Refusal.Unbound(b.sql))
        .toLeft(())
  }
}
