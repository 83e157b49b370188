package io.sash.spark.monoids

import scala.util.{Left, Right}

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._

import io.sash.spark.slots.RunningAnswer

/**
 * A Catalyst aggregate as a monoid over the cells `left` and `right`. A DeclarativeAggregate has
 * all parts already: identity = initialValues, lift = updateExpressions on fresh initialValues,
 * combine = mergeExpressions, lower = evaluateExpression.
 *
 * @param identity expressions without references
 * @param lift over the input row; a row that FILTER drops lifts to the identity
 * @param combine over (left, right)
 * @param lower over left
 * @param subtract over (left, right), if the combine has an exact inverse
 * @param selectsRight over (left, right), if the combine always picks one operand: whether it
 *   picks right
 * @param hasPrefixes whether `subtract` is exact for any number of combined elements
 * @param recipe the version of the way in which Sash computes the cells. A stream's checkpoint
 *   keeps it: raise it where cells of the same types get other values. Spark's own updates and
 *   merges count as one version, since Spark keeps their buffers in its own checkpoints, too
 * @param grows whether a partial may be as large as its rows, so that a combine costs that much
 * @param running the running answer, if the result is not in a slot; then the right operand of
 *   combine and subtract is one element
 */
private[sash] final case class AggregateMonoid(
    left: Seq[AttributeReference],
    right: Seq[AttributeReference],
    identity: Seq[Expression],
    lift: Seq[Expression],
    combine: Seq[Expression],
    lower: Expression,
    subtract: Seq[Expression] = Nil,
    selectsRight: Option[Expression] = None,
    hasPrefixes: Boolean = false,
    running: Option[RunningAnswer] = None,
    recipe: Int = 1,
    grows: Boolean = false
) {

  /** The combine with other values than the cells of `right`, in their order. */
  def combineWith(values: Seq[Expression]): Seq[Expression] = {
    val operands = AttributeMap(right.zip(values))
    combine.map(_.transform { case a: Attribute => operands.getOrElse(a, a) })
  }
}

private[sash] object AggregateMonoid {

  /**
   * The monoid of an aggregate with its partials in slots, or the reason why Sash cannot use it.
   */
  def of(call: AggregateExpression): Either[Refusal, AggregateMonoid] =
    call.aggregateFunction match {
      case _: PythonFuncExpression => Left(Refusal.Python(call.aggregateFunction.prettyName))
      case f: KnownMonoid          => Right(filtered(call, f.monoid))
      case f: DeclarativeAggregate =>
        ExactSum.of(f).map(Right(_)).getOrElse(declarative(f)).map(filtered(call, _))
      case f: ImperativeAggregate =>
        MergedBuffers.of(f).map(filtered(call, _)).toRight(Refusal.NotMergeable(f.prettyName))
      case f => Left(Refusal.NotMergeable(f.prettyName))
    }

  private def declarative(f: DeclarativeAggregate): Either[Refusal, AggregateMonoid] =
    try {
      val initial = f.aggBufferAttributes.map(_.exprId).zip(f.initialValues).toMap
      val lift = f.updateExpressions.map(_.transform {
        case a: AttributeReference if initial.contains(a.exprId) => initial(a.exprId)
      })
      Right(
        AggregateMonoid(
          f.aggBufferAttributes,
          f.inputAggBufferAttributes,
          f.initialValues,
          lift,
          merge(f),
          f.evaluateExpression,
          inverse(f),
          selection(f),
          hasPrefixes = f.isInstanceOf[Count],
          recipe = f match {
            case own: MonoidTraits => own.recipe
            case _                 => 1
          }
        )
      )
    } catch { // ranking functions are declarative, too, but their mergeExpressions throw
      case _: UnsupportedOperationException | _: org.apache.spark.SparkException =>
        Left(Refusal.NotMergeable(f.prettyName))
    }

  /**
   * Spark's merge, except for moments and covariances. Spark's merge of those divides a mean by a
   * count and multiplies it again, even if one operand is over no value. That changes the mean's
   * last bit, so equal values would get a variance, and with it a skewness or a slope. So here an
   * operand over no value leaves the other unchanged.
   */
  private def merge(f: DeclarativeAggregate): Seq[Expression] = f match {
    case _: CentralMomentAgg | _: Covariance | _: PearsonCorrelation | _: RegrSlope |
        _: RegrIntercept =>
      val (left, right) = (f.aggBufferAttributes, f.inputAggBufferAttributes)
      def isEmpty(operand: Seq[Attribute]) = EqualTo(operand.head, Literal(0.0)) // the count
      f.mergeExpressions.lazyZip(left).lazyZip(right).toSeq.map { case (merged, l, r) =>
        If(isEmpty(right), l, If(isEmpty(left), r, merged))
      }
    case _ => f.mergeExpressions
  }

  private def filtered(call: AggregateExpression, monoid: AggregateMonoid): AggregateMonoid =
    call.filter.fold(monoid) { condition =>
      monoid.copy(lift = monoid.lift.zip(monoid.identity).map { case (lifted, identity) =>
        If(condition, lifted, identity)
      })
    }

  private def inverse(f: DeclarativeAggregate): Seq[Expression] = f match {
    case _: Count =>
      Seq(WrappingLong.subtract(f.aggBufferAttributes.head, f.inputAggBufferAttributes.head))
    case own: MonoidTraits => own.subtract
    case _                 => Nil
  }

  /**
   * Whether the merge picks the younger operand, if it always picks one of the two. A tie goes to
   * the operand that Spark's merge keeps, since equal values may differ.
   */
  private def selection(f: DeclarativeAggregate): Option[Expression] = {
    def l(i: Int): Expression = f.aggBufferAttributes(i)
    def r(i: Int): Expression = f.inputAggBufferAttributes(i)
    def outdone(i: Int, better: Expression): Expression =
      MonoidTraits.outdone(l(i), r(i), better)
    f match {
      case _: Max            => Some(outdone(0, GreaterThan(r(0), l(0))))
      case _: Min            => Some(outdone(0, LessThan(r(0), l(0))))
      case _: MaxBy          => Some(outdone(1, Not(GreaterThan(l(1), r(1)))))
      case _: MinBy          => Some(outdone(1, Not(LessThan(l(1), r(1)))))
      case _: First          => Some(Not(l(1)))
      case _: Last           => Some(r(1))
      case own: MonoidTraits => own.selectsRight
      case _                 => None
    }
  }
}
