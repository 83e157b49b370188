package io.sash.spark.split

import scala.util.{Left, Right}

import org.apache.spark.Partition
import org.apache.spark.sql.catalyst.InternalRow

import io.sash.spark.split.Surroundings.Element
import io.sash.spark.windows.{Neighbours, Total}

/** The rows around a task's own rows that its windows of one stage hold. */
private[split] sealed abstract class Surroundings extends Serializable {

  /** The partitions that the task reads, as far as they are known before it runs. */
  def parents: Seq[Partition]

  /** The rows and totals as the windows take them. */
  def neighbours(reader: StretchReader): Neighbours
}

private[split] object Surroundings {

  /** Rows, or the total of rows in their place. */
  type Element = Either[StretchRows, Total]
}

/**
 * Rows that are known by the first pass.
 *
 * @param older rows and totals before the own rows
 * @param younger rows and totals behind the own rows
 */
private[split] final case class KnownSurroundings(
    older: Seq[Element],
    younger: Seq[Element]
) extends Surroundings {
  private def rows: Seq[StretchRows] = (older ++ younger).collect { case Left(r) => r }

  override def parents: Seq[Partition] = rows.map(_.partition)

  /** How many rows these windows take of other stretches. The task reads whole stretches. */
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
 * The nearest rows before and behind the own rows, without a first pass.
 *
 * @param older the stretches before the own ones, the youngest first
 * @param before the number of rows that windows hold before the own rows
 * @param younger the stretches behind the own ones
 * @param after the number of rows that windows hold behind the own rows
 */
private[split] final case class NearestSurroundings(
    older: Seq[Partition],
    before: Int,
    younger: Seq[Partition],
    after: Int
) extends Surroundings {

  /** A task reads farther ones only if the nearest ones have too few rows. */
  override def parents: Seq[Partition] =
    older.headOption.filter(_ => before > 0).toSeq ++ younger.headOption.filter(_ => after > 0)

  override def neighbours(reader: StretchReader): Neighbours = new Neighbours(
    last(reader).map(Left(_)),
    reader.neighbours(younger.map(StretchRows(_, None))).take(after).map(Left(_))
  )

  /** The last rows before the own ones. */
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
