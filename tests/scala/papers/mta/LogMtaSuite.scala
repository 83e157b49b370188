package io.sash.papers.mta

import org.scalacheck.Gen
import org.scalacheck.Prop.{forAll, propBoolean}

import io.sash.core.{Element, Laws, Operation}

/** Log MTA: figure 1 and the costs of section 4.1. */
class LogMtaSuite extends Laws {
  private def slider[A](operation: Operation[A]): MtaSlider[A] =
    new MtaSlider(MtaAlgorithm.Log, operation)

  private def filled(elements: Int): MtaSlider[Long] = {
    val s = slider(Operation.Sum)
    (0 until elements).foreach(i => s.insert(Element(i, i)))
    s
  }

  private def log2(n: Int): Int = 32 - Integer.numberOfLeadingZeros(n - 1) // rounded up

  test("figure 1: the levels over 1, 2, 1, 2, 1, 2") {
    val s = slider(Operation.Sum)
    Seq(1, 2, 1, 2, 1, 2).foreach(v => s.insert(Element(v, 0)))
    val window = new LogMtaView(s)
    assert(window.levels == Seq(Seq(1, 2, 1, 2, 1, 2), Seq(3, 3, 3), Seq(6, 3)))
    assert(s.query() == 9)

    s.window.evict() // an empty branch on the left, and the values above it up to the root
    assert(window.levels == Seq(Seq(2, 1, 2, 1, 2), Seq(2, 3, 3), Seq(5, 3)))
    assert(s.query() == 8)
  }

  law("insert takes at most ⌈log2 n⌉ + 1 combines, evict ⌈log2 n⌉, query 1", runs = 50) {
    forAll(Gen.choose(1, 300), Gen.choose(0, 300)) { (n, slides) =>
      val s = filled(n - 1)
      (0 to slides).forall { i =>
        val inserting = s.cost(s.insert(Element(i, i)))
        val querying = s.cost(s.query())
        val evicting = s.cost(s.window.evict())
        inserting <= log2(n) + 1 && evicting <= log2(n) && querying <= 1
      }
    }
  }

  law("a bulk eviction takes at most ⌈log2 n⌉ combines, by a policy 2⌈log2 n⌉ + 2", runs = 50) {
    forAll(Gen.choose(1, 5000), Gen.choose(0, 5000), Gen.choose(0, 1000)) { (n, m, gone) =>
      val evicted = math.min(m, n)
      val Seq(byCount, byPolicy) = Seq.fill(2) {
        val s = filled(n + gone)
        s.window.evict(gone)
        s
      }
      val first = gone.toLong
      val counting = byCount.cost(byCount.window.evict(evicted))
      // sums of first + first + 1 + … show the length of a prefix
      val longest = (first until first + evicted).sum
      var asked = 0
      val sliding = byPolicy.cost(byPolicy.evict { (_, prefix) =>
        asked += 1
        prefix <= longest && evicted > 0
      })
      val same = byPolicy.query() == byCount.query()
      val few = sliding <= 2 * log2(n) + 2 && asked <= log2(n) + 2
      (counting <= log2(n) && few && same) :|
        s"$counting and $sliding combines to evict $evicted of $n"
    }
  }

  law("space: grow asks for 4n slots and a few, rounded up by doubling", runs = 20) {
    forAll(Gen.choose(1, 5000)) { n =>
      val capacity = filled(n).column.capacity
      (capacity >= 4 * n && capacity <= math.max(64, 8 * n) + 3) :| s"$capacity slots for $n"
    }
  }
}

/** The values of the tree's levels, leaves first. */
final class LogMtaView[A](slider: MtaSlider[A]) {
  def levels: Seq[Seq[A]] = slider.window match {
    case w: LogMta =>
      (0 to w.height).map { level =>
        (w.firstNode(level) to w.lastNode(level)).map(n => slider.column(w.node(level, n)))
      }
    case other => throw new IllegalArgumentException(s"no Log MTA: $other")
  }
}
