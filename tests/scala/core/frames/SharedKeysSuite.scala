package io.sash.core.frames

import org.scalacheck.Gen
import org.scalacheck.Prop.{forAll, propBoolean}

import io.sash.core.{Element, Laws, Operation, TestColumn}
import io.sash.core.inorder.TwoStacksLite

/** Several frames over one ring of keys, which move from row to row together. */
class SharedKeysSuite extends Laws {

  private val bounds: Gen[Seq[(Long, Long)]] =
    Gen
      .choose(1, 4)
      .flatMap(Gen.listOfN(_, Gen.listOfN(2, Gen.choose(-9L, 9L)).map(_.sorted)))
      .map(_.map(b => (b.head, b.last)))

  private val partitions: Gen[List[Vector[Long]]] =
    Gen
      .choose(1, 3)
      .flatMap(
        Gen.listOfN(_, Gen.listOf(Gen.choose(0L, 2L)).map(_.scanLeft(-7L)(_ + _).tail.toVector))
      )

  law("each frame holds the rows within its bounds") {
    forAll(partitions, bounds, Gen.choose(0, 9)) { (partitions, bounds, ahead) =>
      val keys = new LongKeys(bounds.flatMap(b => Seq(b._1, b._2)).toArray)
      val ring = new KeyRing(keys, bounds.length)
      val windows = bounds.map(_ => new TwoStacksLite(TestColumn(Operation.Collect)))
      val frames = bounds.indices.map { i =>
        new RangeFrame(
          Array(windows(i)),
          new RangeKeys(ring, i, KeyBound.Shifted(2 * i), KeyBound.Shifted(2 * i + 1))
        )
      }
      val wrong = partitions.flatMap { rows =>
        frames.foreach(_.clear())
        var arrived = 0
        def arrive(until: Int): Unit = while (arrived < math.min(until, rows.length)) {
          windows.foreach { w =>
            val slot = w.open()
            w.column.asInstanceOf[TestColumn[Vector[Element]]].lift(slot, Element(0, arrived))
          }
          val slot = ring.open()
          keys.lift(slot, rows(arrived))
          arrived += 1
        }
        rows.indices.flatMap { current =>
          arrive(current + 1 + ahead)
          while (
            frames
              .map(_.moveTo(current.toLong, arrived.toLong, arrived == rows.length))
              .contains(false)
          ) arrive(arrived + 1)
          bounds.zip(windows).flatMap { case ((lower, upper), window) =>
            val inside = rows.indices
              .filter(i => rows(i) >= rows(current) + lower && rows(i) <= rows(current) + upper)
            val expected = Operation.Collect.aggregate(inside.map(Element(0, _)))
            val found = window.column.asInstanceOf[TestColumn[Vector[Element]]](window.query())
            Option.when(found != expected)(s"row $current: $found, not $expected")
          }
        }
      }
      wrong.isEmpty :| wrong.take(3).mkString("; ")
    }
  }
}
