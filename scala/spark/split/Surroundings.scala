package io.sash.spark.split

import scala.util.{Left, Right}

import org.apache.spark.Partition
import org.apache.spark.sql.catalyst.InternalRow

import io.sash.spark.split.Surroundings.Element
import io.sash.spark.windows.{Neighbours, Total}

/** The rows of other tasks that are in the windows of a task's own rows, for one stage. */
private[split] sealed abstract class Surroundings extends Serializable {

  /** The partitions that the task reads for these rows, as far as they are known beforehand. */
  def parents: Seq[Partition]

  /** The rows and totals, in the order in which they enter the windows. */
  def neighbours(reader: StretchReader): Neighbours
}

private[split] object Surroundings {

  /** Rows, or a total that replaces rows. */
  type Element = Either[StretchRows, Total]
}

/**
 * The surroundings that a first pass has found.
 *
 * @param older rows and totals before the own rows
 * @param younger rows and totals after the own rows
 */
private[split] final case class KnownSurroundings(
    older: Seq[Element],
    younger: Seq[Element]
) extends Surroundings {
  private def rows: Seq[StretchRows] = (older ++ younger).collect { case Left(r) => r }

  override def parents: Seq[Partition] = rows.map(_.partition)

  /** The number of rows of other stretches in these windows. The task reads whole stretches. */
  def count: Long = rows.map(r => r.until - r.from).sum

  override def neighbours(reader: StretchReader): Neighbours =
    new Neighbours(elements(reader, older), elements(reader, younger))

  private def elements(
      reader: StretchReader,
      of: Seq[Element]
  ): Iterator[Either[InternalRow, Total]] = of.iterator.flatMap {
    case Left(rows)   => reader.neighbours(Seq(rows)).map(Left(_))
    case Right(total) => Iterator.single(Right(total))
  }
}

/**
 * The nearest rows before and after the own rows, found without a first pass.
 *
 * @param older the stretches before the own ones, the youngest first
 * @param before the number of rows before the own rows that windows may hold
 * @param younger the stretches after the own ones, the oldest first
 * @param after the number of rows after the own rows that windows may hold
 */
private[split] final case class NearestSurroundings(
    older: Seq[Partition],
    before: Int,
    younger: Seq[Partition],
    after: Int
) extends Surroundings {

  /** The nearest stretches. A task reads farther ones only if these have too few rows. */
  override def parents: Seq[Partition] =
    older.headOption.filter(_ => before > 0).toSeq ++ younger.headOption.filter(_ => after > 0)

  override def neighbours(reader: StretchReader): Neighbours = new Neighbours(
    last(reader).map(Left(_)),
    reader.neighbours(younger.map(StretchRows(_, None))).take(after).map(Left(_))
  )

  /** The last `before` rows before the own rows, or all if there are fewer. */
  private def last(reader: StretchReader): Iterator[InternalRow] = {
    var (rows, count, left) = (List.empty[LastRows], 0, older)
    while (count < before && left.nonEmpty) {
      val all = reader.neighbours(Seq(StretchRows(left.head, None)))
      rows = new LastRows(all, before - count) :: rows
      count += rows.head.knownSize
      left = left.tail
    }
    rows.iterator.flatten
  }
}
