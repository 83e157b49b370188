package io.sash.bench

import java.nio.file.{Files, Paths}
import java.time.LocalDateTime
import java.time.ZoneOffset.UTC
import java.util.concurrent.TimeUnit

import scala.jdk.StreamConverters._

import org.openjdk.jmh.annotations._

import io.sash.papers.fiba.Fiba

/**
 * Rides on bikes, each with its start, through a window of some time. They come in another order,
 * so the elements of the window, the distances of insertions and the sizes of evictions vary. The
 * rides begin anew when all have come, and go on in time.
 */
@State(Scope.Thread)
class RidesState {
  @Param(Array("fiba4"))
  var algorithm: String = _

  @Param(Array("sum"))
  var operation: String = _

  /** How long the window is. */
  @Param(Array("24"))
  var hours: Int = _

  /** The rides, as the authors' program reads them: a CSV file of Citi Bike's columns. */
  @Param(Array(""))
  var file: String = _

  private[this] var times: Array[Long] = _ // milliseconds
  private[this] var durations: Array[Int] = _
  private[this] var span = 0L
  private[this] var width = 0L

  private[this] var column: BenchColumn = _
  private[this] var fiba: Fiba = _
  private[this] var next = 0
  private[this] var before = 0L
  private[this] var youngest = Long.MinValue

  /** Reads the file, and fills the window. */
  @Setup
  def fill(): Unit = {
    val rides = Files.lines(Paths.get(file)).skip(1).toScala(Iterator).map { line =>
      val Array(duration, start, _*) = line.split(",", 3)
      val time = LocalDateTime.parse(start.replace(' ', 'T')).toInstant(UTC).toEpochMilli
      (time, duration.toInt)
    }
    val (starts, lengths) = rides.toArray.unzip
    times = starts
    durations = lengths
    val first = times.min
    span = times.max - first
    width = TimeUnit.HOURS.toMillis(hours.toLong)
    column = Named.column(operation)
    fiba = Named.fiba(algorithm, column)
    while (youngest < first + width) slide()
  }

  /** An insert, a bulk evict of all that is too old now, a query. */
  def slide(): Long = {
    if (next == times.length) {
      next = 0
      before += span
    }
    val time = before + times(next)
    if (fiba.isEmpty || youngest - time <= width) {
      column.lift(fiba.open(), durations(next))
      fiba.insert(time)
      youngest = math.max(youngest, time)
      if (youngest - fiba.oldest > width) fiba.bulkEvict(youngest - width - 1)
    }
    next += 1
    column.lower(fiba.query())
  }
}

/** Windows of time over rides that come late. */
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
@Fork(3)
class Rides {

  @Benchmark
  def slide(state: RidesState): Long = state.slide()
}
