package io.sash.bench

import java.util.concurrent.TimeUnit

import org.openjdk.jmh.annotations._

import io.sash.core.fat.BaseIntervals
import io.sash.core.inorder.{Recalculate, SlickDequeInvRanges, SlickDequeNonInv}
import io.sash.core.shared.{SharedWindows, SuffixWindows}
import io.sash.core.slots.{Invertible, Selective}
import io.sash.papers.inorder.FlatFit

/** Windows of the ranges 1 to r over one stream: the max-multi-query environment. */
@State(Scope.Thread)
class RangesState {
  @Param(Array("slickdeque_inv"))
  var algorithm: String = _

  @Param(Array("sum"))
  var operation: String = _

  @Param(Array("16"))
  var r: Int = _

  private[this] var windows: SharedWindows = _
  private[this] var column: BenchColumn = _
  private[this] val stream = new AuthorsStream

  @Setup
  def fill(): Unit = {
    column = Named.column(operation)
    windows = (algorithm, column.partials) match {
      case ("slickdeque_inv", c: Invertible)    => new SlickDequeInvRanges(c, r)
      case ("slickdeque_non_inv", c: Selective) => new SuffixWindows(new SlickDequeNonInv(c), r)
      case ("flatfit", c)                       => new SuffixWindows(new FlatFit(c), r)
      case ("b_int", c)                         => new SuffixWindows(new BaseIntervals(c), r)
      case (_, c)                               => new SuffixWindows(new Recalculate(c), r)
    }
    (0 until r).foreach(_ => slide())
  }

  /** One element enters; every window drops what is too old for it and is asked, longest first. */
  def slide(): Long = {
    column.lift(windows.open(), stream.next())
    windows.insert()
    var answers = 0L
    var window = r - 1
    while (window >= 0) {
      if (windows.size(window) > window + 1) windows.evict(window)
      answers += column.lower(windows.query(window))
      window -= 1
    }
    answers
  }
}

/** Throughput of several ranges. */
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
@Fork(3)
class Ranges {
  @Benchmark
  def slide(state: RangesState): Long = state.slide()
}
