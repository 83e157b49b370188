package io.sash.spark.multisets

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.BooleanType

import io.sash.spark.monoids.AggregateMonoid
import io.sash.spark.slots.{RunningAnswer, RunningResult, RunningStep}

/**
 * The monoid of a [[RunningAnswer]]. The first cell says whether the row counts (FILTER), the
 * other cells are the answer's inputs. The inputs of a row that does not count are not computed.
 * A combine with the answer's slot stores nothing in that slot: it adds the other operand to the
 * column's running state.
 */
private[spark] object RunningMonoid {
  def apply(answer: RunningAnswer, filter: Option[Expression]): AggregateMonoid = {
    val inputs = filter.fold(answer.inputs)(f => answer.inputs.map(guarded(f, _)))
    val counts = AttributeReference("counts", BooleanType, nullable = false)()
    val cells = inputs.map(e => AttributeReference("input", e.dataType, e.nullable)())
    val left = counts +: cells
    val right = left.map(_.newInstance())
    def step(kind: RunningStep.Kind): Seq[Expression] = Seq(
      RunningStep(kind, right.head, right.tail)
    )
    AggregateMonoid(
      left,
      right,
      identity = Seq(RunningStep(RunningStep.Clear, Literal.TrueLiteral, Nil)),
      lift = filter.fold[Expression](Literal.TrueLiteral)(isTrue) +: inputs,
      combine = step(RunningStep.Add),
      lower = RunningResult(answer.dataType, answer.own),
      subtract = if (answer.isInvertible) step(RunningStep.Remove) else Nil,
      running = Some(answer)
    )
  }

  private def guarded(condition: Expression, input: Expression): Expression = input match {
    case _: Attribute | _: Literal => input
    case _ => If(isTrue(condition), input, Literal.create(null, input.dataType))
  }

  private def isTrue(condition: Expression): Expression =
    if (condition.nullable) Coalesce(Seq(condition, Literal.FalseLiteral)) else condition
}
