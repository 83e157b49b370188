package io.sash.spark.streams.program

import io.sash.core.frames.{Frame, KeyBound, Rows, BoundingCondition, Slide}
import io.sash.core.stored.{PeerMarks, TreeRows, TreeWindow}
import io.sash.spark.windows._

/**
 * The rows in a row's window, and the rows that have an answer. Two shapes are equal if a state
 * describes them alike.
 *
 * @param bounds the bounds of each part of the frame
 * @param panes the rows' panes, if the slide is by time
 */
private[spark] final class StreamShape(
    frame: FrameSpec,
    bounds: Seq[StreamBounds],
    slide: Option[SlideSpec],
    panes: Option[StreamBounds]
) extends Serializable {

  /** The window in the description of a state. */
  val signature: String = (frame.signature(bounds) +: slide.map(_.signature(panes)).toSeq)
    .mkString(" ")

  /** Makes the frame of the core, which says where a row's window begins and ends. */
  def createFrame(rows: StreamBounds => Rows, condition: Option[BoundingCondition]): Frame =
    frame.frame(FrameParts(Array.empty, bounds.map(b => Some(rows(b))), condition))

  /** Makes the slide of the core; null if every row has an answer. */
  def createSlide(rows: StreamBounds => Rows): Slide =
    slide.map(_.slide(panes.map(rows).orNull)).orNull

  /** Whether windows end with the row's peers, so that they move when all peers have come. */
  def isOfPeers: Boolean = frame.endsWithPeers

  /** Whether rows leave a window of peers from one peer to the next. */
  def movesWithinPeers: Boolean = isOfPeers && frame.parts.length > 1

  /** Whether elements are stored by their group of peers, and not by their time. */
  def countsGroups: Boolean = frame.parts.exists(_.isInstanceOf[GroupsSpec])

  /** The number of the condition that bounds the window, if there is one. */
  def condition: Option[Int] = bounds.head.condition

  /** How many rows, and groups of peers, have to come after the row before it is answered. */
  def rowsAhead: Long = frame match {
    case rows: RowsSpec => math.max(0L, rows.upper)
    case _              => 0L
  }

  def groupsAhead: Long = frame match {
    case groups: GroupsSpec => groups.following
    case _                  => 0L
  }

  /** The mark of the time that the watermark has to pass, if the window looks ahead in time. */
  def due: Option[Int] = bounds.flatMap(_.due).headOption

  /**
   * The reason why the window cannot stand beside one that looks ahead, where rows are taken in
   * before they are answered; None if it can.
   */
  def whyNotAhead: Option[String] =
    (slide
      .map(_ => "slide") ++ frame.parts.flatMap(_.beginning).map("begin at a " + _)).headOption

  /**
   * The earlier rows that windows after a moment may hold; None if they may hold any.
   *
   * @param marks the marks of the moment, which is after these rows
   */
  def reach(marks: Array[Long]): Option[StreamReach] =
    if (slide.nonEmpty) None
    else
      frame.parts.zip(bounds).map { case (part, of) => reach(part, of, marks) }.reduce {
        (some, others) => for (one <- some; other <- others) yield one.or(other)
      }

  private def reach(part: FrameSpec, of: StreamBounds, marks: Array[Long]): Option[StreamReach] =
    part match {
      case r: RowsSpec =>
        Option.when(r.lower > Long.MinValue)(StreamReach(math.max(0L, -r.lower), Long.MaxValue))
      // all rows are in the windows of other parts
      case _: OwnRowsSpec | _: OwnRangeSpec => Some(StreamReach.Nothing)
      case range if range.isRange =>
        of.lower match {
          case KeyBound.Unbounded        => None
          case KeyBound.CurrentRow       => Some(StreamReach.Nothing)
          case KeyBound.Shifted(mark, _) => Some(StreamReach(0L, marks(mark)))
        }
      case _ => None
    }

  override def equals(other: Any): Boolean = other match {
    case that: StreamShape => signature == that.signature
    case _                 => false
  }

  override def hashCode: Int = signature.hashCode
}

/**
 * The bounds of a part of a frame, by the numbers of marks.
 *
 * @param key the mark by which rows are compared; None if it is their time
 * @param lower the bound of the first row; its shift is the number of a mark
 * @param upper the bound of the last row
 * @param isAhead whether the upper bound may lie after its row
 * @param holds the mark that is 1 if the part's condition holds for a row
 * @param width the mark of the number of rows that a row asks for
 * @param condition the number of the condition on the window's content
 */
private[spark] final case class StreamBounds(
    key: Option[Int] = None,
    lower: KeyBound = KeyBound.Unbounded,
    upper: KeyBound = KeyBound.Unbounded,
    isAhead: Boolean = false,
    holds: Option[Int] = None,
    width: Option[Int] = None,
    condition: Option[Int] = None
) extends PartBounds {

  /** The rows of a key with these bounds. */
  def rows(peers: PeerMarks, window: => TreeWindow): Rows =
    new TreeRows(peers, window, lower, upper, key, holds, width)

  /** The mark of the upper bound, if that may lie after its row. */
  def due: Option[Int] = upper match {
    case KeyBound.Shifted(mark, _) => Option.when(isAhead)(mark)
    case _                         => None
  }

  override def text(word: String): String = {
    def of(bound: KeyBound) = bound match {
      case KeyBound.Unbounded     => "the first"
      case KeyBound.CurrentRow    => "the row"
      case KeyBound.Shifted(m, _) => s"bound $m"
    }
    val between = Option.when(Seq(lower, upper).exists(_ != KeyBound.Unbounded))(
      s"from ${of(lower)} to ${of(upper)}" + (if (isAhead) " ahead" else "")
    )
    val others = condition.map(_.toString) ++ key.map(k => s"of bound $k") ++
      width.map(w => s"of bound $w") ++ holds.map(h => s"at bound $h")
    (word +: (others ++ between).toSeq).mkString(" ")
  }
}
