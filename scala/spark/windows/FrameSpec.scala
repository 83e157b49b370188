package io.sash.spark.windows

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._

import io.sash.core.elements.InOrderWindow
import io.sash.core.frames._
import io.sash.spark.base.ArgumentChecks
import io.sash.spark.kinds._
import io.sash.spark.monoids.{Algorithm, Place}
import io.sash.spark.slots.SlotProgram

/**
 * The rows of each row's window: a frame of SQL, or a window kind. It defines the keys that a
 * task keeps of each row, and the core's frame that moves the windows.
 */
private[spark] sealed abstract class FrameSpec extends Serializable {

  /** The frame in SQL. */
  def text: String

  /** Whether each row gets its answer as soon as it arrives. */
  def isImmediate: Boolean

  /** Whether rows that tie in the window's order enter together and leave together. */
  def movesByPeers: Boolean

  /** The elements over which windows are queried, if no rows are excluded. */
  def place: Place[Algorithm]

  /** The keys by which the frame compares rows, with its bounds; none if it only counts rows. */
  def keys(rows: RowsOfFrame): Option[KeysSpec]

  /** The predicate window whose aggregate bounds the frame; none for other kinds. */
  def bounding: Option[PredicateWindow] = None

  /**
   * Whether the frame ends with the last row that ties with the current one. Then rows that tie
   * have the same answer, unless the frame joins other frames.
   */
  def endsWithPeers: Boolean = movesByPeers

  /** Whether the frame lies between two bounds of the window's order that never move back. */
  def isRange: Boolean = false

  /** A noun for the row at which a window begins, if all rows before it leave at once. */
  def beginning: Option[String] = None

  /** The frame in the signature of a checkpoint, with its bounds. */
  def signature(bounds: Seq[PartBounds]): String = bounds.head.text(word)

  /** The word for the frame in the signature of a checkpoint. */
  protected def word: String

  /** The frames that this one joins, each with keys of its own; else the frame itself. */
  def parts: Seq[FrameSpec] = Seq(this)

  /** The core's frame that moves the windows. */
  def frame(of: FrameParts): Frame
}

/** The rows that a frame moves over: their columns and their order. */
private[spark] final case class RowsOfFrame(
    input: Seq[Attribute],
    order: Seq[SortOrder],
    timeZone: String
)

/**
 * The objects of a task from which a frame is made.
 *
 * @param windows the windows that the frame moves; empty if its owner moves them
 * @param partKeys for each part, its keys; none if the part compares no rows
 * @param condition the condition that bounds the frame; none without one
 */
private[spark] final case class FrameParts(
    windows: Array[InOrderWindow],
    partKeys: Seq[Option[Rows]],
    condition: Option[BoundingCondition]
) {
  def keys: Rows = partKeys.head.get
}

/** The bounds of a part of a frame on a stream, as the ordinals of marks of each row. */
private[spark] trait PartBounds {
  def text(word: String): String
}

private[spark] object Extent {

  /**
   * Casts a number and an extent to types that [[Reach]] accepts. Exact numbers keep all their
   * digits, and integers become BIGINT. If one of the two is a float, both become DOUBLE.
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
    // UnknownWindow has refused other frames
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
    case b: BoundsWindow      => BoundsSpec(b, rises = b.isAtDistances(order))
    case j: JoinedWindow      => JoinedSpec(j, j.kinds.map(ofKind(_, order)))
    case k: HasSqlFrame       => ofFrame(coerced(k.sqlFrame(order), order))
    case _: WindowModifier =>
      throw new IllegalStateException(s"${kind.sql} says nothing of a window's bounds")
  }

  /**
   * Casts the bounds of a frame to the type of the order. Spark's WindowFrameCoercion does so in
   * the frame of a window, but it does not see frames inside a joined window.
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

  /**
   * The lower bound as a number of rows after the current one. The least BIGINT means UNBOUNDED,
   * as the greatest does for the upper bound.
   */
  def lower: Long = offset(specified.lower)

  def upper: Long = offset(specified.upper)

  override def isImmediate: Boolean = upper <= 0

  override def movesByPeers: Boolean = false

  override protected def word: String = {
    def place(at: Long) = at match {
      case Long.MinValue => "the first"
      case 0L            => "the row"
      case n             => if (n < 0L) s"${-n} before" else s"$n after"
    }
    s"rows from ${place(lower)} to ${place(upper)}"
  }

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

  override def isRange: Boolean = true

  override protected def word: String = "range"

  override def keys(rows: RowsOfFrame): Option[KeysSpec] = Some(SqlFrameKeys(specified))

  override def frame(of: FrameParts): Frame =
    new RangeFrame(of.windows, of.keys)
}

private[spark] final case class SawtoothSpec(kind: SawtoothWindow) extends FrameSpec {
  override def text: String = kind.sql

  override def isImmediate: Boolean = false

  override def movesByPeers: Boolean = true

  override def place: Place[Algorithm] = Place.Ring

  override def isRange: Boolean = true

  override protected def word: String = kind.name

  override def keys(rows: RowsOfFrame): Option[KeysSpec] =
    Some(RangeBounds.sawtooth(rows, kind))

  override def frame(of: FrameParts): Frame = new RangeFrame(of.windows, of.keys)
}

private[spark] final case class GroupsSpec(kind: GroupsWindow) extends FrameSpec {
  override def text: String = kind.sql

  override def isImmediate: Boolean = false

  override def movesByPeers: Boolean = true

  override def place: Place[Algorithm] = Place.Ring

  override protected def word: String = s"groups from $preceding before to $following after"

  override def keys(rows: RowsOfFrame): Option[KeysSpec] = Some(SqlFrameKeys.Peers)

  override def frame(of: FrameParts): Frame =
    new RangeFrame(of.windows, of.keys.groups(-preceding, following))

  /** The number of groups before the current row's group that are in the frame. */
  def preceding: Long = count(kind.preceding)

  def following: Long = count(kind.following)

  private def count(e: Expression): Long = e.eval().asInstanceOf[Number].longValue
}

/** A window that ends at the current row. The kind defines where it begins. */
private[spark] sealed abstract class SuffixSpec(kind: WindowKind) extends FrameSpec {
  override final def text: String = kind.sql

  override final def isImmediate: Boolean = true

  override final def movesByPeers: Boolean = false

  override protected final def word: String = kind.name

  override def place: Place[Algorithm] = Place.Ring
}

private[spark] final case class DeltaSpec(kind: DeltaWindow) extends SuffixSpec(kind) {
  override def keys(rows: RowsOfFrame): Option[KeysSpec] = {
    val (attribute, delta) = Extent.ofNumbers(kind.attribute, kind.delta)
    Some(RangeBounds.back(rows, SortOrder(attribute, Ascending), delta))
  }

  // a stream keeps no attributes of rows, so there a condition compares the window's ends
  override def frame(of: FrameParts): Frame = of.keys match {
    case keys: RangeKeys => new DeltaFrame(of.windows, keys)
    case _               => new PredicateFrame(of.windows, of.condition.get)
  }
}

private[spark] final case class GapSpec(kind: GapWindow) extends SuffixSpec(kind) {
  override def beginning: Option[String] = Some("gap")

  override def keys(rows: RowsOfFrame): Option[KeysSpec] = {
    val order = rows.order.head
    // both extents are compared with keys of one type
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
    new GapFrame(of.windows, of.keys, isBounded = kind.longest.nonEmpty)
}

private[spark] final case class PunctuationSpec(kind: PunctuationWindow)
    extends SuffixSpec(kind) {
  override def beginning: Option[String] = Some("punctuation")

  override def keys(rows: RowsOfFrame): Option[KeysSpec] = {
    val flag = AttributeReference("punctuation", BooleanType)()
    val program = SlotProgram
      .ofRow(rows.input, Seq(flag), Seq(kind.punctuation))
      .copy(holds = Some(flag))
    Some(OwnKeys(program, KeyBound.Unbounded, KeyBound.Unbounded))
  }

  override def frame(of: FrameParts): Frame = new PunctuationFrame(of.windows, of.keys)
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

  override def frame(of: FrameParts): Frame = new OwnRowsFrame(of.windows, of.keys)
}

private[spark] final case class OwnRangeSpec(kind: OwnRangeWindow) extends FrameSpec {
  override def text: String = kind.sql

  override def isImmediate: Boolean = false

  override def movesByPeers: Boolean = true

  override def place: Place[Algorithm] = Place.RingSuffixes

  override protected def word: String = kind.name

  override def keys(rows: RowsOfFrame): Option[KeysSpec] = {
    val order = rows.order.head
    val (by, width) = Extent.ofNumbers(order.child, kind.preceding)
    val of = order.copy(child = by, sameOrderExpressions = Nil)
    Some(RangeBounds.ownWidth(rows, of, width))
  }

  override def frame(of: FrameParts): Frame = new OwnRangeFrame(of.windows, of.keys)
}

/**
 * @param rises whether the bounds lie at fixed distances from a row's own place, so that they
 *   never move back from row to row
 */
private[spark] final case class BoundsSpec(kind: BoundsWindow, rises: Boolean) extends FrameSpec {
  override def text: String = kind.sql

  override def isImmediate: Boolean = false

  override def movesByPeers: Boolean = true

  override def place: Place[Algorithm] =
    if (!rises) Place.RingStretches else if (kind.lower.isEmpty) Place.Growing else Place.Ring

  override def isRange: Boolean = true

  override protected def word: String = kind.name

  override def keys(rows: RowsOfFrame): Option[KeysSpec] =
    Some {
      if (kind.isAtDistances(rows.order)) RangeBounds.atDistances(rows, rows.order.head, kind)
      else RangeBounds.between(rows, rows.order.head, kind)
    }

  // on a stream, a bound of a row never lies before the same bound of an earlier row
  override def frame(of: FrameParts): Frame = of.keys match {
    case keys: RangeKeys if !rises => new BoundsFrame(of.windows, keys)
    case keys                      => new RangeFrame(of.windows, keys)
  }
}

private[spark] final case class PredicateSpec(kind: PredicateWindow) extends SuffixSpec(kind) {
  override def bounding: Option[PredicateWindow] = Some(kind)

  override def keys(rows: RowsOfFrame): Option[KeysSpec] = None

  override def frame(of: FrameParts): Frame = new PredicateFrame(of.windows, of.condition.get)
}

private[spark] final case class JoinedSpec(kind: JoinedWindow, joined: Seq[FrameSpec])
    extends FrameSpec {
  override def text: String = kind.sql

  override def parts: Seq[FrameSpec] = joined.flatMap(_.parts)

  override def isImmediate: Boolean = joined.forall(_.isImmediate)

  override def movesByPeers: Boolean = joined.forall(_.movesByPeers)

  override def place: Place[Algorithm] =
    if (kind.movesBack) Place.RingStretches else Place.Ring

  override def endsWithPeers: Boolean =
    if (kind.ofAll) joined.forall(_.endsWithPeers) else joined.exists(_.endsWithPeers)

  override protected def word: String = if (kind.ofAll) "and" else "or"

  override def signature(bounds: Seq[PartBounds]): String =
    slices(bounds).map { case (part, of) => part.signature(of) }.mkString("(", s" $word ", ")")

  override def keys(rows: RowsOfFrame): Option[KeysSpec] = None

  override def frame(of: FrameParts): Frame = {
    val frames = slices(of.partKeys).map { case (part, keys) =>
      part.frame(FrameParts(Array.empty, keys, condition = None))
    }
    new JoinedFrame(of.windows, frames.toArray, kind.ofAll)
  }

  /** Splits a sequence with one element per part by the joined frames. */
  private def slices[A](ofParts: Seq[A]): Seq[(FrameSpec, Seq[A])] = {
    val ends = joined.map(_.parts.length).scanLeft(0)(_ + _)
    joined.zip(ends.zip(ends.tail).map { case (from, until) => ofParts.slice(from, until) })
  }
}
