package io.sash.spark.streams.plan

import scala.util.matching.Regex

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Expression}

import io.sash.spark.streams.checkpoint.WindowReach
import io.sash.spark.streams.program._
import io.sash.spark.times.RisingTime

/**
 * Names the parts of a program in the layout of its state. In place of the numbers of bounds and
 * conditions, which another query gives to others, names have their expressions.
 *
 * @param overRows an expression without the columns made for the arguments of aggregates
 * @param time the event time
 * @param inputs the columns made for arguments
 */
private[plan] final class StreamTexts(
    reader: FrameReader,
    signature: Signature,
    overRows: Expression => Expression,
    time: Expression,
    inputs: Seq[Alias],
    zone: String
) {
  import StreamTexts._

  def of(
      windows: Seq[StreamShape],
      beginnings: Seq[StreamBeginning],
      input: Seq[Attribute]
  ): LayoutTexts = LayoutTexts(
    windows.map(w => whole(w.signatureOfState)),
    windows.map(reachOf),
    beginnings.map(b => whole(b.signature)),
    input.map(c => c.exprId -> column(c)).toMap
  )

  def of(e: Expression): String = signature.of(overRows(e))

  def elements(of: StreamElements): String = of match {
    case StreamElements.ByTime          => "time"
    case StreamElements.ByGroup         => "group"
    case StreamElements.Bounded(number) => s"condition ${condition(number)}"
  }

  private def column(c: Attribute): String =
    inputs.find(_.exprId == c.exprId).fold(signature.of(c))(i => signature.of(i.child))

  private def whole(text: String): String = {
    val bounds = Bound.replaceAllIn(text, m => quoted(of(reader.marks(m.group(1).toInt))))
    Condition.replaceAllIn(bounds, m => quoted(condition(m.group(1).toInt)))
  }

  private def condition(number: Int): String = of(reader.conditions(number).signature)

  private def quoted(text: String): String = Regex.quoteReplacement(s"($text)")

  /** None if a window's beginning is not at a distance from its row that has bounds. */
  private def reachOf(shape: StreamShape): Option[WindowReach] = {
    def but(frame: StreamFrame) = whole(shape.copy(frame = frame).signatureOfState)
    shape.frame.withoutOwns.getOrElse(shape.frame) match {
      case f @ StreamRows(Some(before), _) =>
        Some(WindowReach(but(f.copy(preceding = None)), -before, -before))
      case f @ StreamRange(Some(mark), _, _) =>
        RisingTime
          .of(reader.marks(mark), zone)
          .filter(_.base.semanticEquals(time))
          .map(r => WindowReach(but(f.copy(preceding = None)), r.least, r.most))
      case _ => None
    }
  }
}

private object StreamTexts {
  private val Bound = "bound (\\d+)".r
  private val Condition = "condition (\\d+)".r
}
