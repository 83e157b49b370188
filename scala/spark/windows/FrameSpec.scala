package io.sash.spark.windows

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._

import io.sash.core.frames._
import io.sash.core.inorder.InOrderWindow
import io.sash.spark.kinds._
import io.sash.spark.plan.FrameText
import io.sash.spark.slots.{SlotColumns, SlotProgram}

/**
 * Which rows the window of each row holds: a frame of SQL's, or a window kind. Says what a task
 * keeps of each row for it, and which of core's frames moves by it.
 */
private[spark] sealed abstract class FrameSpec extends Serializable {

  /** As a user would say it. */
  def text: String

  /** Whether each row has its answer as soon as it arrives. */
  def isImmediate: Boolean

  /** What rows are compared by, and the bounds for it, if they are. */
  def keys(rows: RowsOfFrame): Option[KeysSpec] = None

  /** The aggregate by whose condition the frame is bounded, if it is. */
  def bounding: Option[PredicateWindow] = None

  /** Whether windows are asked for stretches of what they hold. */
  def asksStretches: Boolean = false

  /** Core's frame that moves the windows. */
  def frame(of: FrameParts): Frame
}

/** The rows that a frame moves over, as the query has them. */
private[spark] final case class RowsOfFrame(
    input: Seq[Attribute],
    order: Seq[SortOrder],
    timeZone: String
) {}

/**
 * What a task has made for a frame.
 *
 * @param keys of the rows, null where there are none
 * @param bounding the one of `windows` of the aggregate that bounds the frame, likewise
 */
private[spark] final case class FrameParts(
    windows: Array[InOrderWindow],
    keys: RangeKeys,
    bounding: InOrderWindow
)

private[spark] object Extent {

  /**
   * Numbers meet in a type that holds them exactly and both moved by each other, but for a BIGINT
   * and 38 digits: integers as BIGINT, other exact ones as DECIMAL, and with a float as doubles.
   */
  def ofOneType(of: Expression, extent: Expression): (Expression, Expression) = {
    def as(dataType: DataType) = (Cast(of, dataType), Cast(extent, dataType))
    (of.dataType, extent.dataType) match {
      case (o: NumericType, e: NumericType) =>
        if (KindChecks.isInteger(o) && KindChecks.isInteger(e)) as(LongType)
        else exact(o).zip(exact(e)).fold(as(DoubleType)) { case (a, b) => as(wider(a, b)) }
      case _ => (of, extent)
    }
  }

  private def exact(dataType: DataType): Option[DecimalType] = dataType match {
    case d: DecimalType => Some(d)
    case ByteType       => Some(DecimalType(3, 0))
    case ShortType      => Some(DecimalType(5, 0))
    case IntegerType    => Some(DecimalType(10, 0))
    case LongType       => Some(DecimalType(20, 0))
    case _              => None
  }

  private def wider(a: DecimalType, b: DecimalType): DecimalType = {
    val scale = math.max(a.scale, b.scale)
    val digits = math.max(a.precision - a.scale, b.precision - b.scale) + 1 + scale
    DecimalType(math.min(digits, DecimalType.MAX_PRECISION), scale)
  }
}

private[spark] object FrameSpec {
  def ofFrame(frame: WindowFrame): FrameSpec = frame match {
    case rows @ SpecifiedWindowFrame(RowFrame, _, _)    => RowsSpec(rows)
    case range @ SpecifiedWindowFrame(RangeFrame, _, _) => RangeSpec(range)
    // of which UnknownWindow has told
    case other => throw new IllegalStateException(s"${other.sql} is no frame of ROWS or RANGE")
  }

  def ofKind(kind: WindowKind, order: Seq[SortOrder]): FrameSpec = kind match {
    case d: DeltaWindow       => DeltaSpec(d)
    case p: PunctuationWindow => PunctuationSpec(p)
    case g: GapWindow =>
      GapSpec(g, Seq(g.gap, order.head.child).forall(e => KindChecks.isInteger(e.dataType)))
    case g: GroupsWindow    => GroupsSpec(g)
    case p: PredicateWindow => PredicateSpec(p)
    case r: OwnRowsWindow   => OwnRowsSpec(r)
    case r: OwnRangeWindow  => OwnRangeSpec(r)
    case _: CountWindow | _: DurationWindow =>
      throw new IllegalStateException(s"${kind.sql} is a frame of SQL's")
    case _: WindowModifier =>
      throw new IllegalStateException(s"${kind.sql} says nothing of a window's bounds")
  }
}

private[spark] final case class RowsSpec(specified: SpecifiedWindowFrame) extends FrameSpec {
  override def text: String = FrameText(specified)

  override def isImmediate: Boolean = offset(specified.upper) <= 0

  override def frame(of: FrameParts): Frame =
    new RowsFrame(of.windows, offset(specified.lower), offset(specified.upper))

  private def offset(bound: Expression): Long = bound match {
    case CurrentRow         => 0L
    case UnboundedPreceding => Long.MinValue
    case UnboundedFollowing => Long.MaxValue
    case offset             => offset.eval().asInstanceOf[Int].toLong
  }
}

private[spark] final case class RangeSpec(specified: SpecifiedWindowFrame) extends FrameSpec {
  override def text: String = FrameText(specified)

  override def isImmediate: Boolean = false

  override def keys(rows: RowsOfFrame): Option[KeysSpec] =
    Some(OrderKeys(specified))

  override def frame(of: FrameParts): Frame =
    new RangeFrame(of.windows, of.keys)
}

private[spark] final case class GroupsSpec(kind: GroupsWindow) extends FrameSpec {
  override def text: String = kind.sql

  override def isImmediate: Boolean = false

  override def keys(rows: RowsOfFrame): Option[KeysSpec] = Some(OrderKeys.Peers)

  override def frame(of: FrameParts): Frame =
    new GroupsFrame(of.windows, of.keys, -count(kind.preceding), count(kind.following))

  private def count(e: Expression): Long = e.eval().asInstanceOf[Number].longValue
}

/** A window that ends at the current row, and begins where something says. */
private[spark] sealed abstract class SuffixSpec(kind: WindowKind) extends FrameSpec {
  override final def text: String = kind.sql

  override final def isImmediate: Boolean = true
}

private[spark] final case class DeltaSpec(kind: DeltaWindow) extends SuffixSpec(kind) {
  override def keys(rows: RowsOfFrame): Option[KeysSpec] = {
    val (attribute, delta) = Extent.ofOneType(kind.attribute, kind.delta)
    val by = SortOrder(attribute, Ascending)
    Some(RangeBounds.moved(rows, by, new UnaryMinus(delta), isLower = true))
  }

  override def frame(of: FrameParts): Frame =
    new DeltaFrame(of.windows, of.keys)
}

/** @param isOfIntegers whether both the order and the gap are */
private[spark] final case class GapSpec(kind: GapWindow, isOfIntegers: Boolean)
    extends SuffixSpec(kind) {
  override def keys(rows: RowsOfFrame): Option[KeysSpec] = {
    val order = rows.order.head
    val (of, gap) = Extent.ofOneType(order.child, kind.gap)
    val by = order.copy(child = of, sameOrderExpressions = Nil)
    // an integer that is still within the gap exists where the one that reaches it may not
    val bound = if (isOfIntegers) new Subtract(gap, Literal(1L)) else gap
    Some(RangeBounds.moved(rows, by, bound, isLower = !isOfIntegers))
  }

  override def frame(of: FrameParts): Frame =
    new GapFrame(of.windows, of.keys, peersStay = true, boundStays = isOfIntegers)
}

private[spark] final case class PunctuationSpec(kind: PunctuationWindow)
    extends SuffixSpec(kind) {
  override def keys(rows: RowsOfFrame): Option[KeysSpec] = {
    val flag = AttributeReference("punctuation", BooleanType)()
    val program = SlotProgram
      .ofRow(rows.input, Seq(flag), Seq(kind.punctuation))
      .copy(
        keyShifts = Seq(Literal.TrueLiteral),
        keyOrder = Seq(SortOrder(flag, Ascending))
      )
    Some(OwnKeys(program, lower = 0, upper = RangeKeys.CurrentRow))
  }

  override def frame(of: FrameParts): Frame =
    new GapFrame(of.windows, of.keys, peersStay = false)
}

private[spark] final case class OwnRowsSpec(kind: OwnRowsWindow) extends SuffixSpec(kind) {
  override def asksStretches: Boolean = true

  override def keys(rows: RowsOfFrame): Option[KeysSpec] = {
    val width = AttributeReference("width", LongType)()
    val program = SlotProgram.ofRow(
      rows.input,
      Seq(width),
      Seq(Cast(kind.preceding, LongType)),
      results = Seq((0, Coalesce(Seq(width, Literal(-1L)))))
    )
    Some(OwnKeys(program, RangeKeys.Unbounded, RangeKeys.CurrentRow))
  }

  override def frame(of: FrameParts): Frame = {
    val width = new SpecificInternalRow(Seq(LongType))
    new OwnRowsFrame(
      of.windows,
      of.keys,
      slot => {
        of.keys.ring.column.asInstanceOf[SlotColumns].lower(slot, width)
        width.getLong(0)
      }
    )
  }
}

private[spark] final case class OwnRangeSpec(kind: OwnRangeWindow) extends FrameSpec {
  override def text: String = kind.sql

  override def isImmediate: Boolean = false

  override def asksStretches: Boolean = true

  override def keys(rows: RowsOfFrame): Option[KeysSpec] = {
    val order = rows.order.head
    val (by, width) = Extent.ofOneType(order.child, kind.preceding)
    val of = order.copy(child = by, sameOrderExpressions = Nil)
    Some(RangeBounds.ownWidth(rows, of, width))
  }

  override def frame(of: FrameParts): Frame =
    new OwnRangeFrame(
      of.windows,
      of.keys,
      slot => of.keys.ring.column.asInstanceOf[SlotColumns].holds(slot)
    )
}

private[spark] final case class PredicateSpec(kind: PredicateWindow) extends SuffixSpec(kind) {
  override def bounding: Option[PredicateWindow] = Some(kind)

  override def frame(of: FrameParts): Frame =
    new PredicateFrame(
      of.windows,
      of.bounding,
      answer => of.bounding.column.asInstanceOf[SlotColumns].holds(answer)
    )
}
