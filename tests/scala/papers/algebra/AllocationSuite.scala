package io.sash.papers.algebra

import java.lang.management.ManagementFactory

import com.sun.management.ThreadMXBean
import org.scalatest.exceptions.TestFailedException
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tags.Slow

import io.sash.core.elements.InOrderWindow
import io.sash.papers.elements.WindowSlidePolicy
import io.sash.papers.fat.BaseIntervals
import io.sash.papers.fiba.Fiba
import io.sash.papers.inorder.{Daba, DabaLite, SlickDequeInv, SlickDequeNonInv, TwoStacksLite}
import io.sash.papers.mta.Amta

/** A window of primitives over a primitive column allocates nothing, with any algorithm. */
@Slow
class AllocationSuite extends AnyFunSuite {
  private val threads = ManagementFactory.getThreadMXBean.asInstanceOf[ThreadMXBean]

  private def allocated(body: => Unit): Long = {
    val thread = Thread.currentThread.getId
    val before = threads.getThreadAllocatedBytes(thread)
    body
    threads.getThreadAllocatedBytes(thread) - before
  }

  /**
   * Measured cold, since an optimized loop may avoid a box that its code asks for, and hot, as
   * for a user. A box in each slide would be 16 bytes.
   */
  private def allocatesNothing(slide: Int => Unit): Unit = {
    slide(1000)
    Seq(2000, 500000, 1000000).foreach { slides =>
      val bytes = allocated(slide(slides))
      assert(bytes < slides, s"bytes in $slides slides")
    }
  }

  private def doubles(name: String)(make: => Window[Double, Double, InOrderWindow]): Unit =
    test(s"$name allocates nothing") {
      val window = make
      (0 until 1000).foreach(i => window.insert(i % 17 + 0.5))
      allocatesNothing(slideDoubles(window, _))
    }

  private def longs(name: String)(make: => Window[Long, Long, InOrderWindow]): Unit =
    test(s"$name allocates nothing") {
      val window = make
      (0 until 1000).foreach(i => window.insert(i.toLong))
      allocatesNothing(slideLongs(window, _))
    }

  /** Takes the sums, so that no loop is idle. */
  @volatile var sink = 0.0

  private def slideDoubles(window: Window[Double, Double, InOrderWindow], slides: Int): Unit = {
    var sum = 0.0
    var i = 0
    while (i < slides) {
      window.insert(i % 31 + 0.25)
      window.evict()
      sum += window.query()
      i += 1
    }
    sink = sum
  }

  private def slideLongs(window: Window[Long, Long, InOrderWindow], slides: Int): Unit = {
    var sum = 0L
    var i = 0
    while (i < slides) {
      window.insert(1000000L + i % 31) // past the boxes that Java caches
      window.evict()
      sum += window.query()
      i += 1
    }
    sink = sum.toDouble
  }

  doubles("Two-Stacks Lite of Max[Double]")(TwoStacksLite(Max[Double]))
  doubles("SlickDeque (Non-Inv) of Min[Double]")(SlickDequeNonInv(Min[Double]))
  doubles("Two-Stacks Lite of Sum[Double]")(TwoStacksLite(Sum[Double]))
  doubles("Two-Stacks Lite of Product[Double]")(TwoStacksLite(Product[Double]))
  doubles("Two-Stacks Lite of ArithmeticMean[Double]")(TwoStacksLite(ArithmeticMean[Double]))
  doubles("Two-Stacks Lite of GeometricMean")(TwoStacksLite(GeometricMean))
  doubles("Two-Stacks Lite of SampleStdDev")(TwoStacksLite(SampleStdDev))
  doubles("Two-Stacks Lite of PopulationVariance")(TwoStacksLite(PopulationVariance))
  doubles("Two-Stacks Lite of CoefficientOfVariation")(TwoStacksLite(CoefficientOfVariation))
  doubles("Two-Stacks Lite of Range")(TwoStacksLite(Range))
  doubles("Two-Stacks Lite of RelativeVariation")(TwoStacksLite(RelativeVariation))
  longs("SlickDeque (Inv) of Sum[Long]")(SlickDequeInv(Sum[Long]))
  longs("SlickDeque (Inv) of Count[Long]")(SlickDequeInv(Count[Long]))
  longs("SlickDeque (Non-Inv) of Max[Long]")(SlickDequeNonInv(Max[Long]))
  longs("Two-Stacks Lite of MaxCount[Long]")(TwoStacksLite(MaxCount[Long]))

  longs("AMTA of Sum[Long]")(Amta(Sum[Long]))

  test("B-Int allocates nothing for the answer of a range, and for an element") {
    val window = BaseIntervals(Sum[Long])
    (0 until 1000).foreach(i => window.insert(i.toLong))
    allocatesNothing { slides =>
      var sum = 0L
      var i = 0
      while (i < slides) {
        window.insert(1000000L + i % 31)
        window.evict()
        sum += window.answer(window.algorithm.range(100, 900))
        sum += window.answer(window.algorithm.element(7))
        i += 1
      }
      sink = sum.toDouble
    }
  }

  /** Slides a window until it opens only chunks that it has closed before. */
  private def slid[In, A <: InOrderWindow](
      window: Window[In, In, A],
      value: In
  ): Window[In, In, A] = {
    (0 until 1000).foreach(_ => window.insert(value))
    (0 until 5000).foreach { _ =>
      window.insert(value)
      window.evict()
    }
    window
  }

  doubles("DABA Lite in chunks of Max[Double]")(slid(DabaLite.inChunks(Max[Double]), 0.5))
  doubles("DABA in chunks of SampleStdDev")(slid(Daba.inChunks(SampleStdDev), 0.5))
  longs("DABA Lite in chunks of Sum[Long]")(slid(DabaLite.inChunks(Sum[Long]), 1L))

  /** The most bytes that one insertion allocates while a window grows to n values. */
  private def mostAllocated(window: Window[Long, Long, InOrderWindow], n: Int): Long =
    (0 until n).map(i => allocated(window.insert(i.toLong))).max

  test("in chunks, an insertion allocates no more, however long the window") {
    for (make <- Seq(DabaLite.inChunks(Sum[Long]), Daba.inChunks(Sum[Long]))) {
      mostAllocated(make, 1 << 18) // loads classes
      val chunk = 8 * 1026
      val directory = 8 * 1024
      val most = mostAllocated(make, 1 << 20)
      assert(most >= chunk && most <= 2 * (chunk + directory) + 1024)
    }
    assert(mostAllocated(DabaLite(Sum[Long]), 1 << 20) > 8 * (1 << 20))
  }

  for (minArity <- Seq(2, 4, 8)) {
    test(s"FiBA of minimum arity $minArity allocates nothing, in order, out of order, in bulks") {
      val window = Fiba(Max[Double], minArity)
      val times = Array(0L, 0L, 0L, 0L)
      val values = Array(4.0, 1.0, 3.0, 2.0)
      var now = 0L
      (0 until 20000).foreach { i =>
        window.insert(i.toLong, i.toDouble)
        now += 1
      }
      window.bulkEvict(now - 5001) // all but the list of freed nodes has its final size
      // each step takes seven in and lets seven go
      allocatesNothing { slides =>
        var sum = 0.0
        var i = 0
        while (i < slides / 10) {
          window.insert(now + 2, i % 31 + 0.25)
          window.insert(now, i % 17 + 0.25)
          window.insert(now - 1000, 0.5) // a time that the window already has
          window.insert(now + 1, 0.5)
          var k = 0
          while (k < 4) {
            times(k) = now + 3 + k
            k += 1
          }
          window.bulkInsert(times, values)
          now += 7
          window.evict()
          window.bulkEvict(now - 5001)
          sum += window.query() + window.range(now - 3000, now - 100)
          i += 1
        }
        sink = sum
      }
    }
  }

  test("AMTA allocates nothing when a policy makes values leave in bulk") {
    val window = new Amta(Sum[Long].newColumn())
    val column = window.column.asInstanceOf[Column[Long, Long]]
    val keep: WindowSlidePolicy =
      (total, prefix) => column.lower(total) - column.lower(prefix) >= 1000
    def slide(slides: Int): Unit = {
      var i = 0
      while (i < slides) {
        column.lift(window.open(), 1L)
        window.insert()
        if (i % 100 == 0) window.evict(keep)
        i += 1
      }
      sink = column.lower(window.query()).toDouble
    }
    slide(5000) // until the window has reached its final size
    allocatesNothing(slide)
  }

  test("inputs and answers of different primitive types, and ints") {
    val counts = TwoStacksLite(MaxCount[Double])
    val means = SlickDequeInv(ArithmeticMean[Long])
    val sums = SlickDequeInv(Sum[Int])
    (0 until 1000).foreach { i =>
      counts.insert(i.toDouble)
      means.insert(i.toLong)
      sums.insert(i)
    }
    allocatesNothing { slides =>
      var sum = 0.0
      var i = 0
      while (i < slides) {
        counts.insert(i % 31 + 0.25)
        counts.evict()
        means.insert(1000000L + i % 31)
        means.evict()
        sums.insert(1000000 + i % 31)
        sums.evict()
        sum += counts.query() + means.query() + sums.query()
        i += 1
      }
      sink = sum
    }
  }

  test("the measure sees a box") {
    val window = TwoStacksLite(First[Double])
    window.insert(0.0)
    assertThrows[TestFailedException](allocatesNothing { slides =>
      var i = 0
      while (i < slides) {
        window.insert(i.toDouble)
        window.evict()
        i += 1
      }
    })
  }
}
