package io.sash.spark.lateral

import scala.util.{Left, Right}

import org.apache.spark.sql.catalyst.expressions._

import io.sash.spark.base.TimeUnit
import io.sash.spark.base.TimeUnit.{Day, Micro}
import io.sash.spark.kinds.OwnBound
import io.sash.spark.times.TimestampPlusMicros

/** Replaces several ends by one: the greatest lower end, or the least upper end. */
private[lateral] object SeveralEnds {
  import SortedConditions.End

  /**
   * The one end, NULL if any of the ends is. None without ends; Left, with the reason, if there
   * is no such end.
   *
   * @param which the side of the range, as a message calls it
   */
  def one(ends: Seq[End], which: String): Either[String, Option[OwnBound]] = {
    val bounds = ends.distinctBy(e => (e.bound.value.canonicalized, e.bound.isIncluded))
    if (bounds.map(_.bound.isIncluded).distinct.length <= 1) Right(nearest(bounds))
    else if (bounds.forall(e => isWhole(e.bound.value))) Right(nearest(bounds.map(included)))
    else {
      val ends = bounds.map { e =>
        s"${LateralSourceText(e.time)} ${sign(e)} ${LateralSourceText(e.bound.value)}"
      }
      val signs = bounds.map(sign).distinct.sorted.mkString(" or ")
      Left(
        s"of several $which ends, one belongs to the range and another one does not: " +
          s"${ends.mkString(", ")}; write $signs in all"
      )
    }
  }

  private def sign(e: End): String =
    (if (e.isLower) ">" else "<") + (if (e.bound.isIncluded) "=" else "")

  /** The greatest lower end or the least upper end, whether or not ends belong to the range. */
  def value(ends: Seq[End]): Option[Expression] =
    nearest(ends.distinctBy(_.bound.value.canonicalized)).map(_.value)

  private def nearest(ends: Seq[End]): Option[OwnBound] = ends match {
    case Seq()    => None
    case Seq(end) => Some(end.bound)
    case several =>
      val values = several.map(_.bound.value)
      val value = if (several.head.isLower) Greatest(values) else Least(values)
      // both functions skip a NULL, but a range with a NULL end is empty
      val isNull = values.filter(_.nullable).map(IsNull(_): Expression).reduceOption(Or)
      val strict = isNull.fold[Expression](value) { none =>
        If(none, Literal(null, value.dataType), value)
      }
      Some(several.head.bound.copy(value = strict))
  }

  private def isWhole(value: Expression): Boolean = value.dataType match {
    case TimeUnit(Day | Micro) => true
    case _                     => false
  }

  /** The same end as an inclusive one: the first or the last time inside the range. */
  private def included(end: End): End =
    if (end.bound.isIncluded) end
    else {
      val step = if (end.isLower) 1 else -1
      val value = end.bound.value
      val next =
        if (Day.isUnitOf(value.dataType)) DateAdd(value, Literal(step))
        else TimestampPlusMicros(value, step.toLong)
      end.copy(bound = OwnBound(next, isIncluded = true))
    }
}
