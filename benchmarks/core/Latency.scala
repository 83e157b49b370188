package io.sash.bench

import java.util.concurrent.TimeUnit

import org.HdrHistogram.Histogram
import org.openjdk.jmh.annotations._
import org.openjdk.jmh.infra.IterationParams
import org.openjdk.jmh.runner.IterationType

/** The time of each single call. */
@State(Scope.Thread)
class Latencies {
  private[this] val histogram = new Histogram(3)

  def add(nanos: Long): Unit = histogram.recordValue(nanos)

  @TearDown(Level.Iteration)
  def forgetWarmUp(iteration: IterationParams): Unit =
    if (iteration.getType == IterationType.WARMUP) histogram.reset()

  @TearDown
  def report(): Unit = Latencies.Percentiles.foreach { percentile =>
    println(s"latency at $percentile %: ${histogram.getValueAtPercentile(percentile)}")
  }
}

object Latencies {
  private val Percentiles = Seq(50.0, 99.0, 99.9, 99.99, 99.999, 100.0)
}

/** A window from which m elements have just gone is filled up before the next call. */
class Refilled extends BulkState {
  private[this] var missing = 0

  @Setup(Level.Invocation)
  def refill(): Unit = {
    while (missing > 0) {
      insert()
      missing -= 1
    }
    missing = m
  }
}

/** A window lacks m elements before each call. */
class Thinned extends BulkState {

  @Setup(Level.Invocation)
  def thin(): Unit = {
    window.bulkEvict(m)
    prepare()
  }
}

/**
 * Times every call by itself, as the authors' programs do. JMH's own sampling leaves out most, and
 * what it adds to those that it times is more than what most of them take.
 */
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
@Fork(3)
class Latency {

  /** An evict, an insert, a query of a window in order. */
  @Benchmark
  def slide(state: InOrderState, latencies: Latencies): Long = {
    val start = System.nanoTime()
    val answer = state.slide(1)
    latencies.add(System.nanoTime() - start)
    answer
  }

  /** Each of the insertions by which a window grows to n elements. */
  @Benchmark
  def grow(state: InOrderState, latencies: Latencies): Unit = {
    state.empty()
    var k = 0
    while (k < state.n) {
      val start = System.nanoTime()
      state.insert()
      latencies.add(System.nanoTime() - start)
      k += 1
    }
  }

  /** A bulk evict, m single inserts, a query. */
  @Benchmark
  def bulkSlide(state: BulkState, latencies: Latencies): Long = {
    val start = System.nanoTime()
    val answer = state.slide()
    latencies.add(System.nanoTime() - start)
    answer
  }

  /** A bulk evict of as many as are asked for. */
  @Benchmark
  def evict(state: Refilled, latencies: Latencies): Unit = {
    val start = System.nanoTime()
    state.window.bulkEvict(state.m)
    latencies.add(System.nanoTime() - start)
  }

  /** A bulk evict of as many as a window slide policy says. */
  @Benchmark
  def policy(state: Refilled, latencies: Latencies): Unit = {
    val start = System.nanoTime()
    state.window.slide(state.n - state.m)
    latencies.add(System.nanoTime() - start)
  }

  /** A bulk insert, d elements before the youngest. */
  @Benchmark
  def insert(state: Thinned, latencies: Latencies): Unit = {
    val start = System.nanoTime()
    state.bulkInsert()
    latencies.add(System.nanoTime() - start)
  }

  /** Nothing: what the timer itself takes. */
  @Benchmark
  def timer(latencies: Latencies): Unit = {
    val start = System.nanoTime()
    latencies.add(System.nanoTime() - start)
  }
}
