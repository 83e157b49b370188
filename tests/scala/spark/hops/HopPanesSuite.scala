package io.sash.spark.hops

import org.scalacheck.Gen
import org.scalacheck.Prop.forAllNoShrink
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.Checkers

/** Panes of hops, against windows as Spark's `window` defines them. */
class HopPanesSuite extends AnyFunSuite with Checkers {

  private val hops: Gen[HopPanes] = for {
    slide <- Gen.choose(3L, 30L)
    size <- Gen.choose(slide, 100L)
    start <- Gen.choose(-29L, 29L)
  } yield HopPanes(size, slide, start)

  private val times = Gen.choose(-500L, 500L)

  test("a time is in just those windows that have its pane") {
    check(forAllNoShrink(hops, times) { (hops, time) =>
      val pane = hops.paneOf(time)
      (-700L to 700L).forall { w =>
        val isIn = hops.startOf(w) <= time && time < hops.endOf(w)
        isIn == (hops.firstPaneOf(w) <= pane && pane < hops.endPaneOf(w))
      }
    })
  }

  test("the first and the last window of a pane, and when they end") {
    check(forAllNoShrink(hops, times) { (hops, time) =>
      val in = (-700L to 700L).filter(w => hops.startOf(w) <= time && time < hops.endOf(w))
      val pane = hops.paneOf(time)
      in.head == hops.firstWindowOf(pane) && in.last == hops.lastWindowOf(pane) &&
      hops.boundOf(pane, last = true, end = true) == hops.endOf(in.last) &&
      in.length <= hops.overlapping
    })
  }

  test("the first window that ends after a time") {
    check(forAllNoShrink(hops, times) { (hops, time) =>
      (-700L to 700L).find(hops.endOf(_) > time).get == hops.firstEndingAfter(time)
    })
  }

  test("numbered since 1970, windows are the same, and no open one's pane is negative") {
    check(forAllNoShrink(hops) { hops =>
      val since = hops.sinceEpoch
      val first = since.firstEndingAfter(0)
      (hops.startOf(0) - since.startOf(0)) % hops.slide == 0 && since.firstPaneOf(first) >= 0
    })
  }
}
