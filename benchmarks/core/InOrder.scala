package io.sash.bench

import java.util.concurrent.TimeUnit

import org.openjdk.jmh.annotations._

import io.sash.core.inorder.InOrderWindow

/** A window that benchmarks slide, in whose process no other algorithm need be loaded. */
@State(Scope.Thread)
class InOrderState {
  @Param(Array("two_stacks_lite"))
  var algorithm: String = _

  @Param(Array("sum"))
  var operation: String = _

  @Param(Array("1024"))
  var n: Int = _

  /** Whether other classes of aggregates were used before, so that calls are megamorphic. */
  @Param(Array("false"))
  var polluted: Boolean = _

  private[this] var window: InOrderWindow = _
  private[this] var column: BenchColumn = _
  private[this] val stream = new AuthorsStream

  @Setup
  def fill(): Unit = {
    if (polluted) pollute()
    column = Named.column(operation)
    window = Named.window(algorithm, column)
    var k = 0
    while (k < n) {
      insert()
      k += 1
    }
  }

  /** Uses the algorithm with every aggregate that it takes, until they are compiled. */
  private def pollute(): Unit =
    for (other <- Seq("sum", "max", "geomean", "bloom")) {
      try {
        column = Named.column(other)
        window = Named.window(algorithm, column)
        (0 until 64).foreach(_ => insert())
        (0 until 200).foreach(_ => slide(1000))
      } catch { case _: IllegalArgumentException => () }
    }

  /** Begins anew, with no element and no memory from before. */
  def empty(): Unit = {
    column = Named.column(operation)
    window = Named.window(algorithm, column)
  }

  def insert(): Unit = {
    column.lift(window.open(), stream.next())
    window.insert()
  }

  def evict(): Unit = window.evict()

  def query(): Long = column.lower(window.query())

  def size: Int = window.size

  /** So many slides. The window is in a local variable, as in the authors' loop. */
  def slide(times: Int): Long = {
    val window = this.window
    val column = this.column
    val stream = this.stream
    var answers = 0L
    var k = 0
    while (k < times) {
      column.lift(window.slide(), stream.next())
      window.insert()
      answers += column.lower(window.query())
      k += 1
    }
    answers
  }
}

/** A window of n elements, and one that fills and drains. */
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
@Fork(3)
class InOrder {

  /** evict + insert + query. */
  @Benchmark
  @OperationsPerInvocation(1000)
  def slide(state: InOrderState): Long = state.slide(1000)

  /** Up to n elements with a query after each, and down to none; the time is that of it all. */
  @Benchmark
  def fillAndDrain(state: InOrderState): Long = {
    var answers = 0L
    while (state.size > 0) state.evict()
    var k = 0
    while (k < state.n) {
      state.insert()
      answers += state.query()
      k += 1
    }
    answers
  }
}
