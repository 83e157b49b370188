package io.sash.spark.times

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.LongType

/**
 * Matches the expressions that Spark's analyzer (TimeWindowing) writes for
 * `window(time, size, slide)`.
 */
private[spark] object WindowFormula {

  /**
   * Matches the start of the last window that holds a time. Gives the time, the start of window
   * 0, and the slide, in microseconds.
   */
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

  /**
   * Matches `window(time, size)`, or the last window of several. Gives the time, and the size and
   * the slide in microseconds, or one number if both are equal.
   */
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

  /** Matches a time that is made from microseconds, and gives these. */
  object Micros {
    def unapply(e: Expression): Option[Expression] = e match {
      case KnownNullable(known)                            => unapply(known)
      case PreciseTimestampConversion(micros, LongType, _) => Some(micros)
      case _                                               => None
    }
  }
}
