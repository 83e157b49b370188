package io.sash.spark.times

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.LongType

/**
 * The expressions that Spark's analyzer (TimeWindowing) writes for `window(time, size, slide)`,
 * recognised by their form.
 */
private[spark] object WindowFormula {

  /** The start of the last window that holds a time: the time, window 0's start, the slide. */
  object LastStart {
    def unapply(last: Expression): Option[(PreciseTimestampConversion, Long, Long)] =
      last match {
        case Minus(
              time @ PreciseTimestampConversion(_, _, LongType),
              CaseWhen(Seq((LessThan(rest, zero), Plus(below, MicrosOf(up)))), Some(above))
            ) if zero.foldable && zero.eval() == 0L && below == rest && above == rest =>
          rest match {
            case r: Remainder =>
              (r.left, r.right) match {
                case (Minus(from, MicrosOf(start)), MicrosOf(slide))
                    if from == time && up == slide =>
                  Some((time, start, slide))
                case _ => None
              }
            case _ => None
          }
        case _ => None
      }
  }

  /** `window(time, size)`, or the last window of several: the time, and the window's widths. */
  object TimeWindowOf {
    def unapply(window: CreateNamedStruct): Option[(Expression, Seq[Long])] =
      window.valExprs match {
        case Seq(Micros(Minus(LastStart(time, _, slide), _)), Micros(Plus(_, MicrosOf(size)))) =>
          Some((time.child, Seq(size, slide).distinct))
        case _ => None
      }
  }

  object Minus {
    def unapply(e: Subtract): Some[(Expression, Expression)] = Some((e.left, e.right))
  }

  object Plus {
    def unapply(e: Add): Some[(Expression, Expression)] = Some((e.left, e.right))
  }

  object MicrosOf {
    def unapply(e: Literal): Option[Long] = Option(e.value).collect { case n: Long => n }
  }

  /** The microseconds that a time is made of. */
  object Micros {
    def unapply(e: Expression): Option[Expression] = e match {
      case KnownNullable(known)                            => unapply(known)
      case PreciseTimestampConversion(micros, LongType, _) => Some(micros)
      case _                                               => None
    }
  }
}
