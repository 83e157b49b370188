package io.sash.core.frames

import org.scalacheck.{Gen, Prop}
import org.scalacheck.Prop.{forAll, propBoolean}

import io.sash.core.{Element, Laws, Operation, TestColumn}
import io.sash.core.fat.BaseIntervals
import io.sash.core.inorder.{InOrderWindow, PrefixAggregates, Recalculate, Stretches}

/** Frames whose windows answer for ranges of rows: rows of own widths, and exclusions. */
class StretchFramesSuite extends Laws {
  import StretchFramesSuite._

  private val partitions: Gen[List[Vector[Row]]] = {
    val row = for {
      step <- Gen.choose(0L, 2L)
      width <- Gen.frequency(1 -> Gen.const(None), 6 -> Gen.choose(-2L, 12L).map(Option(_)))
      ahead <- Gen.choose(-9L, 5L)
    } yield Row(step, width, ahead)
    val partition = Gen.listOf(row).map { rows =>
      val keys = rows.map(_.key).scanLeft(-7L)(_ + _).tail
      rows.zip(keys).map { case (row, key) => row.copy(key = key) }.toVector
    }
    Gen.choose(1, 3).flatMap(Gen.listOfN(_, partition))
  }

  private val what: Gen[Excluded] = Gen.oneOf(NoRow, CurrentRow, Group, Ties)

  private def windows()
      : Seq[(String, TestColumn[Vector[Element]], InOrderWindow with Stretches)] = {
    def column() = TestColumn(Operation.Collect)
    val Seq(a, b, c) = Seq.fill(3)(column())
    val d = TestColumn.invertible(Operation.Collect)
    Seq(
      ("B-Int", a, new BaseIntervals(a)),
      ("Prefix aggregates", d, new PrefixAggregates(d)),
      ("Recalculate", b, new Recalculate(b)),
      ("Recalculate from the identity", c, new Recalculate(c, fromIdentity = true))
    )
  }

  /**
   * Asks for every row's answer, some rows after the row has come. Compares it with `inFrame` of
   * all rows, without the excluded ones.
   */
  private def slides(
      partitions: Seq[Vector[Row]],
      excluded: Excluded,
      ahead: Int,
      newKeys: => Keys = new Keys
  )(
      make: (Array[InOrderWindow], Keys) => Frame
  )(inFrame: (Vector[Row], Int) => Seq[Int]): Prop = {
    val wrong = windows().flatMap { case (name, column, window) =>
      val keys = newKeys
      val frame = make(Array(window), keys)
      val peers = new LongKeys(Array.empty)
      val ofPeers = new RangeKeys(peers, KeyBound.CurrentRow, KeyBound.CurrentRow)
      val exclusion = excluded match {
        case NoRow      => null
        case CurrentRow => new Exclusion(null, keepsRow = false)
        case Group      => new Exclusion(ofPeers, keepsRow = false)
        case Ties       => new Exclusion(ofPeers, keepsRow = true)
      }
      partitions.flatMap { rows =>
        frame.clear()
        if (exclusion != null) exclusion.clear()
        var arrived = 0
        def arrive(until: Int): Unit = while (arrived < math.min(until, rows.length)) {
          column.lift(window.open(), Element(0, arrived))
          keys.arrive(rows(arrived))
          if (excluded == Group || excluded == Ties) peers.lift(ofPeers.open(), rows(arrived).key)
          arrived += 1
        }
        rows.indices.flatMap { current =>
          arrive(current + 1 + ahead)
          while (!frame.moveTo(current.toLong, arrived.toLong, arrived == rows.length))
            arrive(arrived + 1)
          if (exclusion != null) exclusion.moveTo(current.toLong, frame)
          val slot =
            if (exclusion == null) frame.query(window) else exclusion.query(frame, window)
          val left = inFrame(rows, current).filterNot { i =>
            excluded match {
              case NoRow      => false
              case CurrentRow => i == current
              case Group      => rows(i).key == rows(current).key
              case Ties       => i != current && rows(i).key == rows(current).key
            }
          }
          val expected = Operation.Collect.aggregate(left.map(i => Element(0, i)))
          val found = column(slot)
          Option.when(found != expected)(s"$name, row $current: $found, not $expected")
        }
      }
    }
    wrong.isEmpty :| wrong.take(3).mkString("; ")
  }

  law("rows of own widths") {
    forAll(partitions, what) { (partitions, excluded) =>
      slides(partitions, excluded, ahead = 0)((windows, keys) =>
        new OwnRowsFrame(windows, keys.ring)
      ) { (rows, current) =>
        val width = rows(current).width.getOrElse(-1L)
        rows.indices.filter(i => width >= 0 && i <= current && i >= current - width)
      }
    }
  }

  law("ranges of own widths") {
    forAll(partitions, what, Gen.choose(0, 5)) { (partitions, excluded, ahead) =>
      slides(partitions, excluded, ahead)((windows, keys) =>
        new OwnRangeFrame(windows, keys.ring)
      ) { (rows, current) =>
        val Row(key, width, _) = rows(current)
        rows.indices.filter(i => width.exists(w => rows(i).key >= key - w && rows(i).key <= key))
      }
    }
  }

  law("own widths that are joined with a frame that moves forwards") {
    forAll(partitions, what, Gen.choose(0, 4)) { (partitions, excluded, most) =>
      slides(partitions, excluded, ahead = 0)((windows, keys) =>
        new JoinedFrame(
          windows,
          Array(
            new OwnRowsFrame(Array.empty, keys.ring),
            new RowsFrame(Array.empty, -most.toLong, 0)
          ),
          ofAll = true
        )
      ) { (rows, current) =>
        val width = math.min(rows(current).width.getOrElse(-1L), most.toLong)
        rows.indices.filter(i => width >= 0 && i <= current && i >= current - width)
      }
    }
  }

  law("two bounds of the row's own, which may move back") {
    val either = Gen.oneOf(false, true)
    forAll(partitions, either, either, Gen.choose(0, 5)) {
      (partitions, lowerOpen, upperOpen, ahead) =>
        def newKeys = new Keys(KeyBound.Shifted(1, upperOpen), lowerOpen)
        slides(partitions, NoRow, ahead, newKeys)((windows, keys) =>
          new BoundsFrame(windows, keys.ring)
        ) { (rows, current) =>
          val row = rows(current)
          rows.indices.filter { i =>
            row.width.exists { width =>
              val (fromLower, toUpper) =
                (rows(i).key - (row.key - width), row.key + row.ahead - rows(i).key)
              (if (lowerOpen) fromLower > 0 else fromLower >= 0) &&
              (if (upperOpen) toUpper > 0 else toUpper >= 0)
            }
          }
        }
    }
  }

  law("what is excluded of rows") {
    val bounds = Gen.listOfN(2, Gen.choose(-6L, 6L)).map(_.sorted)
    forAll(partitions, what, bounds, Gen.choose(0, 9)) { (partitions, excluded, bounds, ahead) =>
      val Seq(lower, upper) = bounds.toSeq: @unchecked
      slides(partitions, excluded, ahead)((windows, _) => new RowsFrame(windows, lower, upper)) {
        (rows, current) => rows.indices.filter(i => i >= current + lower && i <= current + upper)
      }
    }
  }

  law("what is excluded of groups") {
    val bounds = Gen.zip(Gen.choose(-3L, 1L), Gen.choose(1L, 3L))
    forAll(partitions, what, bounds, Gen.choose(0, 9)) { (partitions, excluded, bounds, ahead) =>
      val (lower, upper) = bounds
      slides(partitions, excluded, ahead)((windows, keys) =>
        new RangeFrame(windows, keys.ring.groups(lower, upper))
      ) { (rows, current) =>
        val groups = rows.map(_.key).distinct
        def group(i: Int) = groups.indexOf(rows(i).key)
        rows.indices.filter(i =>
          group(i) >= group(current) + lower && group(i) <= group(current) + upper
        )
      }
    }
  }

  law("slides by count and by pane") {
    forAll(partitions, Gen.choose(1L, 5L)) { (partitions, every) =>
      val keys = new Keys
      val slides = Seq(new CountSlide(every), new PaneSlide(keys.ring))
      partitions.forall { rows =>
        slides.foreach(_.clear())
        rows.indices.forall { i =>
          keys.arrive(rows(i))
          slides.foreach(_.moveTo(i.toLong))
          rows(i).width.isEmpty || slides.map(_.isAt(i.toLong)) ==
            Seq(i % every == every - 1, i == 0 || rows(i).key != rows(i - 1).key)
        }
      }
    }
  }

  test("a slide keeps few keys, though no row is asked for") {
    val keys = new Keys
    val slide = new PaneSlide(keys.ring)
    for (row <- 0L until 1000L) {
      keys.arrive(Row(row, None, 0L))
      slide.moveTo(row)
    }
    assert(keys.places < 100)
  }
}

object StretchFramesSuite {

  /**
   * @param width how far the row looks back; no row has a frame without it
   * @param ahead how far the row looks ahead, where it has two bounds
   */
  final case class Row(key: Long, width: Option[Long], ahead: Long)

  sealed trait Excluded
  case object NoRow extends Excluded
  case object CurrentRow extends Excluded
  case object Group extends Excluded
  case object Ties extends Excluded

  /**
   * Keys with a width each, and a distance ahead. The bounds are the key minus the width, and the
   * key plus the distance.
   */
  final class Keys(
      upper: KeyBound = KeyBound.CurrentRow,
      lowerOpen: Boolean = false
  ) {
    private var keys = Array.empty[Row]

    private object Column extends io.sash.core.slots.Keys {
      override def compare(left: Int, right: Int): Int =
        java.lang.Long.compare(keys(left).key, keys(right).key)
      override def shift(which: Int, dst: Int, src: Int): Unit =
        keys(dst) = {
          val row = keys(src)
          Row(if (which == 0) row.key - row.width.get else row.key + row.ahead, None, 0L)
        }
      override def holds(slot: Int): Boolean = keys(slot).width.nonEmpty
      override def width(slot: Int): Long = keys(slot).width.getOrElse(-1L)
      override def copy(dst: Int, src: Int): Unit = keys(dst) = keys(src)
      override def grow(slots: Int): io.sash.core.slots.Keys = {
        if (slots > keys.length) keys = java.util.Arrays.copyOf(keys, slots)
        this
      }
    }

    def places: Int = keys.length

    val ring =
      new RangeKeys(Column, KeyBound.Shifted(0, lowerOpen), upper)

    def arrive(row: Row): Unit = {
      val slot = ring.open() // this may replace the array
      keys(slot) = row
    }
  }
}
