package io.sash.spark.multisets

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.util.{ArrayData, GenericArrayData}
import org.apache.spark.sql.types._

import io.sash.spark.base.TimeUnit
import io.sash.spark.slots.{RunningAnswer, RunningState}

/**
 * Exact percentiles (percentile, percentile_cont, percentile_disc, median) over a tree of ranks,
 * by Spark's own formulas.
 *
 * Cost: O(log n) for each row that enters or leaves, and for each percentage per answer.
 *
 * @param child the number or interval
 * @param percentages from 0 to 1
 * @param asArray whether the answer is an array with one element for each percentage
 * @param reverse whether ranks count from the largest value
 * @param discrete whether the answer is one of the values, as percentile_disc defines it
 */
private[spark] final case class OrderStatistics(
    child: Expression,
    percentages: Seq[Double],
    asArray: Boolean,
    reverse: Boolean,
    discrete: Boolean,
    dataType: DataType
) extends RunningAnswer {
  override def inputs: Seq[Expression] = Seq(OrderedLong(child))

  override def isInvertible: Boolean = true

  override def title: String = "a tree of ranks"

  override def create(): RunningState = new OrderStatisticsState(this)
}

private[spark] object OrderStatistics {

  /**
   * None if the values do not fit a long, if a row can count more than once, or for
   * percentile_disc in its legacy form.
   */
  def of(f: AggregateFunction): Option[OrderStatistics] = f match {
    case p: PercentileBase if isNumber(p.child.dataType) && once(p.frequencyExpression) =>
      val legacy = p match {
        case disc: PercentileDisc => disc.legacyCalculation
        case _                    => false
      }
      percentagesOf(p.percentageExpression).collect {
        case (percentages, asArray) if !legacy =>
          val discrete = p.isInstanceOf[PercentileDisc]
          OrderStatistics(p.child, percentages, asArray, p.reverse, discrete, p.dataType)
      }
    case _ => None
  }

  /** Whether the answer is a DOUBLE, or an interval as a number of its units. */
  private def isNumber(of: DataType): Boolean =
    OrderedLong.accepts(of) && TimeUnit.of(of).isEmpty

  private def once(frequency: Expression): Boolean =
    frequency.foldable && (frequency.eval() match {
      case n: Number => n.longValue == 1L
      case _         => false
    })

  private def percentagesOf(e: Expression): Option[(Seq[Double], Boolean)] = e.eval() match {
    case p: Double    => Some((Seq(p), false))
    case a: ArrayData => Some((a.toDoubleArray().toIndexedSeq, true))
    case _            => None
  }
}

/** A running answer from a tree of its only input, a long. NULLs are skipped. */
private[spark] abstract class RankTreeState(protected val tree: RankTree) extends RunningState {
  override final def clear(): Unit = tree.clear()

  override final def add(inputs: InternalRow): Unit =
    if (!inputs.isNullAt(0)) tree.add(inputs.getLong(0))

  override final def remove(inputs: InternalRow): Unit =
    if (!inputs.isNullAt(0)) tree.remove(inputs.getLong(0))

  override final def bytes: Long = tree.bytes
}

private final class OrderStatisticsState(of: OrderStatistics)
    extends RankTreeState(new RankTree) {
  private[this] val percentages = of.percentages.toArray
  private[this] val dataType = of.child.dataType

  override def result(): Any =
    if (tree.size == 0 || percentages.isEmpty) null
    else if (!of.asArray) answer(percentages(0))
    else new GenericArrayData(percentages.map(answer))

  private def answer(percentage: Double): Any = {
    val value = if (of.discrete) atLeast(percentage) else interpolated(percentage)
    dataType match {
      case _: YearMonthIntervalType => value.toInt
      case _: DayTimeIntervalType   => value.toLong
      case _                        => value
    }
  }

  /** The first value whose cumulative distribution is at least `percentage`. */
  private def atLeast(percentage: Double): Double =
    valueOf(keyAt(math.max(1L, (tree.size * percentage).ceil.toLong) - 1))

  private def interpolated(percentage: Double): Double = {
    val position = (tree.size - 1) * percentage
    val lower = position.floor.toLong
    val higher = position.ceil.toLong
    val lowKey = keyAt(lower)
    val low = valueOf(lowKey)
    if (higher == lower) {
      low
    } else {
      val highKey = keyAt(higher)
      val high = valueOf(highKey)
      if (areEqual(lowKey, low, highKey, high)) low
      else (higher - position) * low + (position - lower) * high
    }
  }

  /**
   * Whether two members are one value: 0.0 and -0.0 are, two that only round to one double are
   * not.
   */
  private def areEqual(lowKey: Long, low: Double, highKey: Long, high: Double): Boolean =
    dataType match {
      case DoubleType | FloatType => low == high
      case _                      => lowKey == highKey
    }

  private def keyAt(rank: Long): Long =
    tree.select(if (of.reverse) tree.size - 1 - rank else rank)

  private def valueOf(key: Long): Double = OrderedLong.toDouble(key, dataType)
}
