package io.sash.papers.policy

import scala.collection.mutable.ArrayBuffer

import org.scalacheck.Gen
import org.scalacheck.Prop.{forAllNoShrink, propBoolean}

import io.sash.core.{Element, Laws, Operation, TestColumn}
import io.sash.core.inorder.TwoStacksLite

/** Partitions by key: sections 2.2 and 5.4 of the Reactive Aggregator's paper. */
class PerKeySuite extends Laws {
  private final class Keyed(policy: () => WindowPolicy) {
    val triggers: ArrayBuffer[(String, Vector[Element])] = ArrayBuffer.empty

    val windows = new PerKey((key: String) => {
      val column = TestColumn(Operation.Collect)
      val output: Output = answer => triggers += ((key, column(answer)))
      new WindowByPolicy(new TwoStacksLite(column), policy(), output)
    })

    def arrive(key: String, time: Long, arrival: Int): Unit = {
      val window = windows(key)
      val column = window.column.asInstanceOf[TestColumn[Vector[Element]]]
      column.lift(window.arrive(time), Element(0, arrival))
      window.insert()
    }
  }

  law("each key has the windows that it would have alone") {
    forAllNoShrink(Gen.listOf(Gen.zip(Gen.oneOf("a", "b", "c"), Gen.choose(0L, 5L)))) { steps =>
      val times = steps.map(_._2).scanLeft(0L)(_ + _).drop(1)
      val keyed = new Keyed(() => new TimePolicy(6, 2))
      for (((key, _), i) <- steps.zipWithIndex) keyed.arrive(key, times(i), i)
      keyed.windows.punctuate(Long.MaxValue)
      val wrong = Seq("a", "b", "c").find { key =>
        val alone = times.indices.filter(i => steps(i)._1 == key).map(times(_))
        keyed.triggers.toSeq.filter(_._1 == key).map(_._2.map(e => times(e.arrival))) !=
          Watched.windows(new TimePolicy(6, 2), alone)
      }
      wrong.isEmpty :| s"key $wrong" &&
      (keyed.windows.size == steps.map(_._1).distinct.length) :| s"${keyed.windows.size} keys"
    }
  }

  test("a key that is removed begins anew, and an unknown one cannot be") {
    val keyed = new Keyed(() => new SessionPolicy(10))
    keyed.arrive("a", 100, 0)
    keyed.arrive("b", 100, 1)
    keyed.windows.remove("a")
    assert(keyed.windows.size == 1)
    val error = intercept[NoSuchElementException](keyed.windows.remove("a"))
    assert(error.getMessage == "remove(a): no window has this key")
    keyed.arrive("a", 1, 2)
    keyed.windows.punctuate(110)
    assert(
      keyed.triggers.map(t => t._1 -> t._2.map(_.arrival)) == Seq(
        "b" -> Vector(1),
        "a" -> Vector(2)
      )
    )
  }
}
