package io.sash.core.algebra

import java.lang.management.ManagementFactory

import com.sun.management.ThreadMXBean
import org.scalatest.funsuite.AnyFunSuite

import io.sash.core._

/** Over a primitive column a window of primitives allocates nothing, whatever the algorithm. */
class AllocationSuite extends AnyFunSuite {
  private val threads = ManagementFactory.getThreadMXBean.asInstanceOf[ThreadMXBean]
  private val slides = 1000000

  private def allocated(body: => Unit): Long = {
    val thread = Thread.currentThread.getId
    val before = threads.getThreadAllocatedBytes(thread)
    body
    threads.getThreadAllocatedBytes(thread) - before
  }

  private def doubles(name: String)(make: => Window[Double, Double]): Unit =
    test(s"$name allocates nothing") {
      val window = make
      fill(window)
      var sum = 0.0
      val bytes = allocated { sum = slide(window) }
      assert(bytes < slides / 100, s"$bytes bytes in $slides slides, and $sum")
    }

  private def fill(window: Window[Double, Double]): Unit = {
    var i = 0
    while (i < 1000) {
      window.insert(i % 17 + 0.5)
      i += 1
    }
    slide(window)
    ()
  }

  private def slide(window: Window[Double, Double]): Double = {
    var sum = 0.0
    var i = 0
    while (i < slides) {
      window.insert(i % 31 + 0.25)
      window.evict()
      sum += window.query()
      i += 1
    }
    sum
  }

  private def longs(name: String)(make: => Window[Long, Long]): Unit =
    test(s"$name allocates nothing") {
      val window = make
      (0 until 1000).foreach(i => window.insert(i.toLong))
      slideLongs(window)
      var sum = 0L
      val bytes = allocated { sum = slideLongs(window) }
      assert(bytes < slides / 100, s"$bytes bytes in $slides slides, and $sum")
    }

  private def slideLongs(window: Window[Long, Long]): Long = {
    var sum = 0L
    var i = 0
    while (i < slides) {
      window.insert(1000000L + i % 31) // past the boxes that Java caches
      window.evict()
      sum += window.query()
      i += 1
    }
    sum
  }

  doubles("Two-Stacks Lite of Max[Double]")(TwoStacksLite(Max[Double]))
  doubles("SlickDeque (Non-Inv) of Min[Double]")(SlickDequeNonInv(Min[Double]))
  doubles("Two-Stacks Lite of Sum[Double]")(TwoStacksLite(Sum[Double]))
  doubles("Two-Stacks Lite of Product[Double]")(TwoStacksLite(Product[Double]))
  doubles("Two-Stacks Lite of ArithmeticMean[Double]")(TwoStacksLite(ArithmeticMean[Double]))
  doubles("Two-Stacks Lite of GeometricMean")(TwoStacksLite(GeometricMean))
  doubles("Two-Stacks Lite of SampleStdDev")(TwoStacksLite(SampleStdDev))
  doubles("Two-Stacks Lite of Range")(TwoStacksLite(Range))
  longs("SlickDeque (Inv) of Sum[Long]")(SlickDequeInv(Sum[Long]))
  longs("SlickDeque (Inv) of Count[Long]")(SlickDequeInv(Count[Long]))
  longs("SlickDeque (Non-Inv) of Max[Long]")(SlickDequeNonInv(Max[Long]))
  longs("Two-Stacks Lite of MaxCount[Long]")(TwoStacksLite(MaxCount[Long]))

  test("inputs and answers of different primitive types, and ints") {
    val counts = TwoStacksLite(MaxCount[Double])
    val means = SlickDequeInv(ArithmeticMean[Long])
    val sums = SlickDequeInv(Sum[Int])
    (0 until 1000).foreach { i =>
      counts.insert(i.toDouble)
      means.insert(i.toLong)
      sums.insert(i)
    }
    def slide(): Double = {
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
      sum
    }
    slide()
    var sum = 0.0
    val bytes = allocated { sum = slide() }
    assert(bytes < slides / 100, s"$bytes bytes in $slides slides, and $sum")
  }

  test("the measure sees a box") {
    val window = TwoStacksLite(First[Double])
    window.insert(0.0)
    val bytes = allocated {
      var i = 0
      while (i < slides) {
        window.insert(i.toDouble)
        window.evict()
        i += 1
      }
    }
    assert(bytes > slides)
  }
}
