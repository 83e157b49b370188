package io.sash.spark.windows

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._

import io.sash.core.elements.InOrderWindow
import io.sash.core.frames._
import io.sash.spark.base.ArgumentChecks
import io.sash.spark.kinds._
import io.sash.spark.monoids.{Algorithm, Place}
import io.sash.spark.slots.{SlotColumns, SlotProgram}

/**
 * The rows of each row's window: a frame of SQL, or a window kind. Defines the keys that a task
 * keeps of each row, and the frame of the core that moves the windows.
 */
private[spark] sealed abstract class FrameSpec extends Serializable {

  /** The frame in SQL. */
  def text: String

  /** Whether each row gets its answer as soon as it arrives. */
  def isImmediate: Boolean

  /** Whether rows that tie in the window's order enter together and leave together. */
  def movesByPeers: Boolean

  /** The elements for which windows are queried, unless rows are excluded. */
  def place: Place[Algorithm]

  /** The keys by which the frame compares rows, with its bounds; none if it only counts rows. */
  def keys(rows: RowsOfFrame): Option[KeysSpec]

  /** The predicate window whose aggregate bounds the frame, if it is one. */
  def bounding: Option[PredicateWindow] = None

  /** The frames that this one joins, each with keys of its own; the frame itself if it is one. */
  def parts: Seq[FrameSpec] = Seq(this)

  /** The frame of the core that moves the windows. */
  def frame(of: FrameParts): Frame
}

/** The rows that a frame moves over: their columns and their order. */
private[spark] final case class RowsOfFrame(
    input: Seq[Attribute],
    order: Seq[SortOrder],
    timeZone: String
)

/**
 * The parts that a task has made for a frame.
 *
 * @param partKeys the keys of each part; none if a part compares no rows
 * @param bounding the window of the aggregate that bounds the frame, which is also one of
 *   `windows`; or null
 */
private[spark] final case class FrameParts(
    windows: Array[InOrderWindow],
    partKeys: Seq[Option[RangeKeys]],
    bounding: InOrderWindow
) {
  def keys: RangeKeys = partKeys.head.get
}

private[spark] object Extent {

  /**
   * Casts numbers to types that [[Reach]] accepts. Exact numbers keep all their digits, with
   * integers as BIGINT. If one of the two is a float, both become doubles.
   */
  def ofNumbers(of: Expression, extent: Expression): (Expression, Expression) =
    (of.dataType, extent.dataType) match {
      case (o: NumericType, e: NumericType) if isExact(o) && isExact(e) =>
        val key = if (ArgumentChecks.isInteger(o)) as(of, LongType) else of
        if (!ArgumentChecks.isInteger(e)) (key, extent)
        else if (key.dataType == LongType) (key, as(extent, LongType))
        else (key, as(extent, DecimalType(20, 0)))
      case (_: NumericType, _: NumericType) => (as(of, DoubleType), as(extent, DoubleType))
      case _                                => (of, extent)
    }

  private def as(e: Expression, dataType: DataType): Expression =
    if (e.dataType == dataType) e else Cast(e, dataType)

  private def isExact(dataType: DataType): Boolean =
    ArgumentChecks.isInteger(dataType) || dataType.isInstanceOf[DecimalType]
}

private[spark] object FrameSpec {
  def ofFrame(frame: WindowFrame): FrameSpec = frame match {
    case rows @ SpecifiedWindowFrame(RowFrame, _, _)    => RowsSpec(rows)
    case range @ SpecifiedWindowFrame(RangeFrame, _, _) => RangeSpec(range)
    // UnknownWindow has refused it
    case other => throw new IllegalStateException(s"${other.sql} is no frame of ROWS or RANGE")
  }

  def ofKind(kind: WindowKind, order: Seq[SortOrder]): FrameSpec = kind match {
    case s: SawtoothWindow    => SawtoothSpec(s)
    case d: DeltaWindow       => DeltaSpec(d)
    case p: PunctuationWindow => PunctuationSpec(p)
    case g: GapWindow         => GapSpec(g)
    case g: GroupsWindow      => GroupsSpec(g)
    case p: PredicateWindow   => PredicateSpec(p)
    case r: OwnRowsWindow     => OwnRowsSpec(r)
    case r: OwnRangeWindow    => OwnRangeSpec(r)
    case b: BoundsWindow      => if (b.isAtDistances(order)) DistancesSpec(b) else BoundsSpec(b)
    case j: JoinedWindow      => JoinedSpec(j, j.kinds.map(ofKind(_, order)))
    case k: HasSqlFrame       => ofFrame(coerced(k.sqlFrame(order), order))
    case _: WindowModifier =>
      throw new IllegalStateException(s"${kind.sql} says nothing of a window's bounds")
  }

  /**
   * The frame with its numbers in the type of the order. Spark's WindowFrameCoercion casts them
   * alike in the frame of a window, and does not see the frames that another kind joins.
   */
  private def coerced(
      frame: SpecifiedWindowFrame,
      order: Seq[SortOrder]
  ): SpecifiedWindowFrame = {
    def bound(of: Expression) = (of, order.map(_.child.dataType)) match {
      case (_: SpecialFrameBoundary, _)                 => of
      case (_, Seq(n: NumericType)) if of.dataType != n => Cast(of, n)
      case _                                            => of
    }
    if (frame.frameType == RowFrame) frame
    else frame.copy(lower = bound(frame.lower), upper = bound(frame.upper))
  }
}

private[spark] final case class RowsSpec(specified: SpecifiedWindowFrame) extends FrameSpec {
  override def text: String = FrameSourceText(specified)

  /** The bounds as numbers of rows after the current one; the least and the largest number are
   * UNBOUNDED.
   */
  def lower: Long = offset(specified.lower)

  def upper: Long = offset(specified.upper)

  override def isImmediate: Boolean = upper <= 0

  override def movesByPeers: Boolean = false

  override def place: Place[Algorithm] = Place.of(specified)

  override def keys(rows: RowsOfFrame): Option[KeysSpec] = None

  override def frame(of: FrameParts): Frame =
    new RowsFrame(of.windows, lower, upper)

  private def offset(bound: Expression): Long = bound match {
    case CurrentRow         => 0L
    case UnboundedPreceding => Long.MinValue
    case UnboundedFollowing => Long.MaxValue
    case offset             => offset.eval().asInstanceOf[Int].toLong
  }
}

private[spark] final case class RangeSpec(specified: SpecifiedWindowFrame) extends FrameSpec {
  override def text: String = FrameSourceText(specified)

  override def isImmediate: Boolean = false

  override def movesByPeers: Boolean = true

  override def place: Place[Algorithm] = Place.of(specified)

  override def keys(rows: RowsOfFrame): Option[KeysSpec] = Some(SqlFrameKeys(specified))

  override def frame(of: FrameParts): Frame =
    new RangeFrame(of.windows, of.keys)
}

private[spark] final case class SawtoothSpec(kind: SawtoothWindow) extends FrameSpec {
  override def text: String = kind.sql

  override def isImmediate: Boolean = false

  override def movesByPeers: Boolean = true

  override def place: Place[Algorithm] = Place.Ring

  override def keys(rows: RowsOfFrame): Option[KeysSpec] =
    Some(RangeBounds.sawtooth(rows, kind))

  override def frame(of: FrameParts): Frame = new RangeFrame(of.windows, of.keys)
}

private[spark] final case class GroupsSpec(kind: GroupsWindow) extends FrameSpec {
  override def text: String = kind.sql

  override def isImmediate: Boolean = false

  override def movesByPeers: Boolean = true

  override def place: Place[Algorithm] = Place.Ring

  override def keys(rows: RowsOfFrame): Option[KeysSpec] = Some(SqlFrameKeys.Peers)

  override def frame(of: FrameParts): Frame =
    new GroupsFrame(of.windows, of.keys, -count(kind.preceding), count(kind.following))

  private def count(e: Expression): Long = e.eval().asInstanceOf[Number].longValue
}

/** A window that ends at the current row. The kind defines where it begins. */
private[spark] sealed abstract class SuffixSpec(kind: WindowKind) extends FrameSpec {
  override final def text: String = kind.sql

  override final def isImmediate: Boolean = true

  override final def movesByPeers: Boolean = false

  override def place: Place[Algorithm] = Place.Ring
}

private[spark] final case class DeltaSpec(kind: DeltaWindow) extends SuffixSpec(kind) {
  override def keys(rows: RowsOfFrame): Option[KeysSpec] = {
    val (attribute, delta) = Extent.ofNumbers(kind.attribute, kind.delta)
    Some(RangeBounds.back(rows, SortOrder(attribute, Ascending), delta))
  }

  override def frame(of: FrameParts): Frame =
    new DeltaFrame(of.windows, of.keys)
}

private[spark] final case class GapSpec(kind: GapWindow) extends SuffixSpec(kind) {
  override def keys(rows: RowsOfFrame): Option[KeysSpec] = {
    val order = rows.order.head
    // one type of keys for both extents
    val by = kind.children.foldLeft(order.child)(Extent.ofNumbers(_, _)._1)
    def extent(e: Expression) = Extent.ofNumbers(by, e)._2
    Some(
      RangeBounds.session(
        rows,
        order.copy(child = by, sameOrderExpressions = Nil),
        extent(kind.gap),
        kind.longest.map(extent)
      )
    )
  }

  override def frame(of: FrameParts): Frame =
    new GapFrame(
      of.windows,
      of.keys,
      peersStay = true,
      boundStays = true,
      isBounded = kind.longest.nonEmpty
    )
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
    Some(OwnKeys(program, KeyBound.Shifted(0), KeyBound.CurrentRow))
  }

  override def frame(of: FrameParts): Frame =
    new GapFrame(of.windows, of.keys, peersStay = false)
}

private[spark] final case class OwnRowsSpec(kind: OwnRowsWindow) extends SuffixSpec(kind) {
  override def place: Place[Algorithm] = Place.RingSuffixes

  override def keys(rows: RowsOfFrame): Option[KeysSpec] = {
    val width = AttributeReference("width", LongType)()
    val program = SlotProgram.ofRow(
      rows.input,
      Seq(width),
      Seq(Cast(kind.preceding, LongType)),
      results = Seq((0, Coalesce(Seq(width, Literal(-1L)))))
    )
    Some(OwnKeys(program, KeyBound.Unbounded, KeyBound.CurrentRow))
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

  override def movesByPeers: Boolean = true

  override def place: Place[Algorithm] = Place.RingSuffixes

  override def keys(rows: RowsOfFrame): Option[KeysSpec] = {
    val order = rows.order.head
    val (by, width) = Extent.ofNumbers(order.child, kind.preceding)
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

private[spark] final case class BoundsSpec(kind: BoundsWindow) extends FrameSpec {
  override def text: String = kind.sql

  override def isImmediate: Boolean = false

  override def movesByPeers: Boolean = true

  override def place: Place[Algorithm] = Place.RingStretches

  override def keys(rows: RowsOfFrame): Option[KeysSpec] =
    Some(RangeBounds.between(rows, rows.order.head, kind))

  override def frame(of: FrameParts): Frame =
    new BoundsFrame(
      of.windows,
      of.keys,
      slot => of.keys.ring.column.asInstanceOf[SlotColumns].holds(slot)
    )
}

/** A range between fixed distances from a row's place in the order, where no bound overflows. */
private[spark] final case class DistancesSpec(kind: BoundsWindow) extends FrameSpec {
  override def text: String = kind.sql

  override def isImmediate: Boolean = false

  override def movesByPeers: Boolean = true

  override def place: Place[Algorithm] = if (kind.lower.isEmpty) Place.Growing else Place.Ring

  override def keys(rows: RowsOfFrame): Option[KeysSpec] =
    Some(RangeBounds.atDistances(rows, rows.order.head, kind))

  override def frame(of: FrameParts): Frame = new RangeFrame(of.windows, of.keys)
}

private[spark] final case class PredicateSpec(kind: PredicateWindow) extends SuffixSpec(kind) {
  override def bounding: Option[PredicateWindow] = Some(kind)

  override def keys(rows: RowsOfFrame): Option[KeysSpec] = None

  override def frame(of: FrameParts): Frame =
    new PredicateFrame(
      of.windows,
      of.bounding,
      answer => of.bounding.column.asInstanceOf[SlotColumns].holds(answer)
    )
}

private[spark] final case class JoinedSpec(kind: JoinedWindow, joined: Seq[FrameSpec])
    extends FrameSpec {
  override def text: String = kind.sql

  override def parts: Seq[FrameSpec] = joined.flatMap(_.parts)

  override def isImmediate: Boolean = joined.forall(_.isImmediate)

  override def movesByPeers: Boolean = joined.forall(_.movesByPeers)

  override def place: Place[Algorithm] =
    if (kind.movesBack) Place.RingStretches else Place.Ring

  override def keys(rows: RowsOfFrame): Option[KeysSpec] = None

  override def frame(of: FrameParts): Frame = {
    val ends = joined.map(_.parts.length).scanLeft(0)(_ + _)
    val frames = joined.zip(ends.zip(ends.tail)).map { case (part, (from, until)) =>
      part.frame(FrameParts(Array.empty, of.partKeys.slice(from, until), bounding = null))
    }
    new JoinedFrame(of.windows, frames.toArray, kind.ofAll)
  }
}
