package io.sash.spark.split

import org.apache.spark.Partition
import org.apache.spark.sql.catalyst.InternalRow

import io.sash.spark.windows.{Neighbours, Total}

/** The rows around a task's own rows that its windows of one stage hold. */
private[split] sealed abstract class Surroundings extends Serializable {

  /** The partitions that the task reads, as far as they are known before it runs. */
  def parents: Seq[Partition]

  /** The rows and totals as the windows take them. */
  def neighbours(reader: StretchReader): Neighbours
}

/**
 * Rows that are known by the first pass: see [[Neighbours]].
 *
 * @param youngerTotal the rows behind `younger`, if windows reach the end
 */
private[split] final case class KnownSurroundings(
    far: Seq[StretchRows] = Nil,
    total: Option[Total] = None,
    near: Seq[StretchRows] = Nil,
    younger: Seq[StretchRows] = Nil,
    youngerTotal: Option[Total] = None
) extends Surroundings {
  override def parents: Seq[Partition] = (far ++ near ++ younger).map(_.partition)

  override def neighbours(reader: StretchReader): Neighbours = new Neighbours(
    reader.neighbours(far),
    total,
    reader.neighbours(near),
    reader.neighbours(younger).map(scala.util.Left(_)) ++ youngerTotal.map(scala.util.Right(_))
  )
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
    last(reader),
    None,
    Iterator.empty,
    reader.neighbours(younger.map(StretchRows(_, None))).take(after).map(scala.util.Left(_))
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
