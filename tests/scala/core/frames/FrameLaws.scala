package io.sash.core.frames

import scala.annotation.tailrec

import org.scalacheck.{Gen, Prop}
import org.scalacheck.Prop.propBoolean

import io.sash.core.{Element, Laws, Operation, TestColumn}
import io.sash.core.inorder.{InOrderWindow, SlickDequeNonInv, TwoStacksLite}

/** The laws of all frames, against a definition of the rows in each row's frame. */
trait FrameLaws extends Laws {
  import FrameLaws._

  /** Partitions whose keys move by `steps`: 0 makes ties. */
  protected def partitions(steps: Gen[Long]): Gen[List[Partition]] = {
    val partition = for {
      moves <- Gen.listOf(steps)
      ahead <- Gen.listOfN(
        moves.length,
        Gen.frequency(4 -> Gen.const(0), 1 -> Gen.choose(0, 8), 1 -> Gen.choose(0, 40))
      )
      asked <- Gen.frequency(
        3 -> Gen.const(moves.indices),
        1 -> Gen.choose(0, moves.length).map(moves.indices.take),
        1 -> Gen.someOf(moves.indices).map(_.sorted)
      )
    } yield Partition(moves.scanLeft(-7L)(_ + _).tail.toVector, ahead.toVector, asked.toSeq)
    Gen.choose(1, 4).flatMap(Gen.listOfN(_, partition))
  }

  /** Several windows over the same rows. They give the rows, their maximum and their sum. */
  protected final class Windows {
    private val rows = TestColumn(Operation.Collect)
    private val maxima = TestColumn.selective(Operation.Max)
    private val sums = TestColumn(Operation.Sum)
    private val row = new TwoStacksLite(rows)
    private val max = new SlickDequeNonInv(maxima)
    val sum = new TwoStacksLite(sums)

    def all: Array[InOrderWindow] = Array(row, max, sum)

    def arrive(element: Element): Unit = {
      rows.lift(row.open(), element)
      maxima.lift(max.open(), element)
      sums.lift(sum.open(), element)
    }

    def sumAt(slot: Int): Long = sums(slot)

    def answers: (Any, Any, Any) =
      (rows(row.query()), maxima(max.query()), sums(sum.query()))
  }

  /** For frames without keys or attributes. */
  protected val noKeys: Long => Unit = _ => ()

  /**
   * Slides over partitions. A frame must be complete exactly when no row that may still come can
   * belong to it. It must then hold the rows of the definition. `inFrame` gives their numbers, in
   * order, from the keys of all rows and the current row's number.
   *
   * @param arrive takes the key of a row that arrives
   */
  protected def slides(
      partitions: Seq[Partition],
      windows: Windows,
      frame: Frame,
      arrive: Long => Unit
  )(inFrame: (Vector[Long], Int) => Seq[Int]): Prop = {
    val wrong = partitions.zipWithIndex.flatMap { case (partition, i) =>
      frame.clear()
      new Arrivals(partition, windows, frame, arrive, inFrame).wrong.map(w => s"partition $i, $w")
    }
    wrong.isEmpty :| wrong.mkString("; ")
  }

  private final class Arrivals(
      partition: Partition,
      windows: Windows,
      frame: Frame,
      arrive: Long => Unit,
      inFrame: (Vector[Long], Int) => Seq[Int]
  ) {
    private val keys = partition.keys
    private val elements = keys.indices.map(row => Element(keys(row).toInt, row))
    private var arrived = 0

    /** The fault of the first wrong frame. */
    def wrong: Option[String] =
      partition.asked.iterator.flatMap(wrongAt(_)).nextOption()

    private def wrongAt(current: Int): Option[String] = {
      arriveUpTo(current + 1 + partition.ahead(current))
      val before = frame.evictions
      waited(current).orElse {
        val rows = inFrame(keys, current).map(elements)
        val expected = (
          Operation.Collect.aggregate(rows),
          Operation.Max.aggregate(rows),
          Operation.Sum.aggregate(rows)
        )
        val found = (windows.answers, windows.sum.size)
        if (found != ((expected, rows.length))) Some(s"row $current: $found, not $expected")
        else if (frame.evictions < before || frame.peakRows < rows.length)
          Some(s"row $current: ${frame.evictions} evictions, at most ${frame.peakRows} rows")
        else None
      }
    }

    private def arriveUpTo(rows: Int): Unit =
      while (arrived < math.min(rows, keys.length)) {
        windows.arrive(elements(arrived))
        arrive(keys(arrived))
        arrived += 1
      }

    /** Lets rows arrive until the frame is complete, or all have come. */
    @tailrec private def waited(current: Int): Option[String] = {
      val complete = frame.moveTo(current.toLong, arrived.toLong, ended = false)
      if (complete == mayGrow(current)) {
        Some(s"row $current is complete after $arrived rows: $complete")
      } else if (complete) {
        None
      } else if (arrived == keys.length) {
        val ended = frame.moveTo(current.toLong, arrived.toLong, ended = true)
        if (ended) None else Some(s"row $current is not complete when all rows have come")
      } else {
        arriveUpTo(arrived + 1)
        waited(current)
      }
    }

    /**
     * Whether peers of the youngest row, and rows with any later keys, could belong to the frame.
     */
    private def mayGrow(current: Int): Boolean = {
      val known = keys.take(arrived)
      inFrame(known ++ (0L to 20L).map(known.last + _), current).exists(_ >= arrived)
    }
  }
}

object FrameLaws {

  /**
   * @param keys the rows' keys, by which the rows may be ordered
   * @param ahead the least number of rows that have come after each row when its frame is asked
   *   for
   * @param asked the rows whose frames are asked for, before the next partition begins
   */
  final case class Partition(keys: Vector[Long], ahead: Vector[Int], asked: Seq[Int])
}
