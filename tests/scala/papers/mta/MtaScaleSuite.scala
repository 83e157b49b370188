package io.sash.papers.mta

import java.lang.management.ManagementFactory

import com.sun.management.ThreadMXBean
import org.scalatest.funsuite.AnyFunSuite

import io.sash.core.stored.LongSums
import io.sash.papers.elements.WindowSlidePolicy

/** Windows of millions, and no garbage while they slide. */
class MtaScaleSuite extends AnyFunSuite {
  private def windows: Seq[(LongSums, MonoidTreeAggregator)] = {
    val (log, amortized) = (new LongSums, new LongSums)
    Seq(log -> new LogMta(log), amortized -> new Amta(amortized))
  }

  test("grows from 1 to 2^22 elements and drains, one by one; Log MTA to 2^18") {
    windows.zip(Seq(1 << 18, 1 << 22)).foreach { case ((column, window), most) =>
      var next = 0
      while (next < most) {
        InsertedSums.insert(window, column, next.toLong, 1)
        next += 1
        if (Integer.bitCount(next) == 1) {
          assert(column(window.query()) == LongSums.expected(0, next))
        }
      }
      var gone = 0
      while (gone < most) {
        window.evict()
        gone += 1
        if (gone % 65521 == 0 || gone > most - 9) {
          assert(column(window.query()) == LongSums.expected(gone.toLong, most - gone))
        }
      }
      assert(window.size == 0)
    }
  }

  test("bulk evictions of any length from 2^20 elements") {
    windows.foreach { case (column, window) =>
      var (first, size) = (0L, 0)
      var m = 1
      while (m < (1 << 20)) {
        InsertedSums.insert(window, column, first + size, (1 << 20) - size)
        window.evict(m)
        first += m
        size = (1 << 20) - m
        assert(window.size == size)
        assert(column(window.query()) == LongSums.expected(first, size))
        m += m / 2 + 1
      }
    }
  }

  test("a window that slides allocates nothing") {
    val threads = ManagementFactory.getThreadMXBean.asInstanceOf[ThreadMXBean]
    windows.foreach { case (column, window) =>
      val policy: WindowSlidePolicy =
        (total, old) => column(total) - column(old) >= 100 * column(total) / 101
      def slide(times: Int): Unit = {
        var i = 0
        while (i < times) {
          InsertedSums.insert(window, column, 1L, 2)
          window.evict()
          window.query()
          window.evict(policy)
          if (window.size > 5000) window.evict(4000)
          i += 1
        }
      }
      InsertedSums.insert(window, column, 1L, 5000)
      slide(5000)
      val before = threads.getCurrentThreadAllocatedBytes
      slide(20000)
      val bytes = threads.getCurrentThreadAllocatedBytes - before
      assert(bytes < 4096, s"$bytes bytes for 20000 slides") // the measurement allocates, too
    }
  }
}
