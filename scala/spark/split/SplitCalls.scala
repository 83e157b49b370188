package io.sash.spark.split

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.plans.logical.Window
import org.apache.spark.sql.types._

import io.sash.spark.base.TimeUnit
import io.sash.spark.base.TimeUnit.Micro
import io.sash.spark.kinds.SlidingAggregate
import io.sash.spark.monoids.{AggregateMonoid, MonoidTraits}
import io.sash.spark.times.Distance
import io.sash.spark.windows._

/** Tells which windows many tasks can answer, even for one key. */
private[spark] object SplitCalls {

  /** The farthest reach of a ROWS frame without totals: a task reads the rows around its own. */
  val NearRows: Long = 16384L

  /** The window's expressions, rewritten to calls that can be divided. Left with the reason. */
  def of(
      window: Window,
      forced: String,
      zone: String
  ): Either[String, Seq[NamedExpression]] = {
    val rewritten = window.windowExpressions.map { e =>
      val over = PositionFunctions.asAggregates(PositionFunctions.ofAllRows(e))
      val named = over.asInstanceOf[NamedExpression]
      named match {
        case Alias(child, name) if !e.nullable && child.nullable =>
          Alias(KnownNotNull(child), name)(named.exprId, named.qualifier)
        case other => other
      }
    }
    WindowCall
      .windowsIn(rewritten)
      .iterator
      .map(refusal(_, forced, zone))
      .collectFirst { case Some(why) => why }
      .toLeft(rewritten)
  }

  private def refusal(w: WindowExpression, forced: String, zone: String): Option[String] =
    WindowCall.ofAnyFrame(w, forced) match {
      case scala.util.Left(refused) => Some(refused.reason)
      case scala.util.Right(call) =>
        val text = w.getTagValue(OfSubquery.Tag).fold(WindowCall.textOf(w))(_.subquery)
        if (call.shape.slide.nonEmpty) Some(s"$text counts rows from the first one")
        else
          call.shape.frame match {
            case RowsSpec(frame) if isNear(frame) => None
            case RangeSpec(frame) if !isFixed(w.windowSpec.orderSpec.head.child, frame, zone) =>
              Some(s"$text measures days or months, which have no fixed length")
            case _: RowsSpec | _: RangeSpec =>
              Option.unless(hasTotals(w, call.monoid))(
                s"$text has no partial aggregate of fixed size"
              )
            case _: BoundsSpec => Some(s"each label of $text has an end of its own")
            case _             => Some(s"$text begins where the rows before say")
          }
    }

  /** How a task takes the rows before and after its own into account, for EXPLAIN. */
  def way(call: WindowCall): String = call.shape.frame match {
    case RowsSpec(frame) if isNear(frame)   => "with the rows around each task's own"
    case RowsSpec(frame) if isTotal(frame)  => "with totals"
    case RangeSpec(frame) if isTotal(frame) => "with totals"
    case RangeSpec(frame) if isOwn(frame)   => "with each task's own rows"
    case _                                  => "with older rows and totals"
  }

  /**
   * Whether bounds never move back from row to row. By months, bounds of timestamps may: a month
   * after January 29, 10:00, is February 28, 10:00, and a month after January 30, 9:00, is
   * February 28, 9:00. By days, they may in a time zone whose clocks change.
   */
  private def isFixed(key: Expression, frame: SpecifiedWindowFrame, zone: String): Boolean =
    Seq(frame.lower, frame.upper).filterNot(_.isInstanceOf[SpecialFrameBoundary]).forall {
      offset =>
        key.dataType match {
          case TimeUnit(Micro) => Distance.fixedMicros(key, offset, zone).nonEmpty
          case _               => true
        }
    }

  private def isTotal(frame: SpecifiedWindowFrame): Boolean =
    isUnbounded(frame.lower) && (frame.upper == CurrentRow || isUnbounded(frame.upper))

  private def isOwn(frame: SpecifiedWindowFrame): Boolean =
    frame.lower == CurrentRow && frame.upper == CurrentRow

  private def isUnbounded(bound: Expression): Boolean =
    bound == UnboundedPreceding || bound == UnboundedFollowing

  /** Whether a frame of ROWS reaches so few rows that a task can read all of them. */
  def isNear(frame: SpecifiedWindowFrame): Boolean = {
    val rows = RowsSpec(frame)
    isNear(rows.lower, rows.upper)
  }

  def isNear(lower: Long, upper: Long): Boolean = lower >= -NearRows && upper <= NearRows

  /** Whether the partial of any number of rows has a few bytes. */
  def hasTotals(w: WindowExpression, monoid: AggregateMonoid): Boolean =
    monoid.running.isEmpty && (functionOf(w) match {
      case Some(f: MonoidTraits) if f.isShort => true
      case Some(_: DeclarativeAggregate)      => monoid.left.forall(a => isSmall(a.dataType))
      case _                                  => false
    })

  private def isSmall(dataType: DataType): Boolean = dataType match {
    case _: ArrayType | _: MapType | BinaryType => false
    case s: StructType                          => s.forall(f => isSmall(f.dataType))
    case _: UserDefinedType[_]                  => false
    case _                                      => true
  }

  /** Whether a total is the same in any order of the rows, up to the last digits of floats. */
  def commutes(call: WindowCall): Boolean = functionOf(call.expression).exists {
    case _: Sum | _: Average | _: CentralMomentAgg => true
    case f                                         => Ties.isExact(f)
  }

  private def functionOf(w: WindowExpression): Option[AggregateFunction] =
    w.windowFunction match {
      case call: AggregateExpression =>
        Some(SlidingAggregate.withoutWindows(call).aggregateFunction)
      case _ => None
    }
}
