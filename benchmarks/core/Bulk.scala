package io.sash.bench

import java.util.concurrent.TimeUnit

import org.openjdk.jmh.annotations._

import io.sash.core.inorder.InOrderWindow
import io.sash.papers.elements.WindowSlidePolicy
import io.sash.papers.mta.MonoidTreeAggregator

/** A window whose elements come at the times 0, 1, 2, … and leave in bulks. */
abstract class BulkWindow {
  def insert(value: Int): Unit
  def bulkInsert(values: Array[Int], m: Int): Unit

  /** Drops the oldest. */
  def evict(): Unit

  /** Drops the oldest `m`. */
  def bulkEvict(m: Int): Unit

  /** Drops the oldest until the aggregate, a count, is `kept`: a window slide policy. */
  def slide(kept: Int): Unit

  def query(): Long
}

/** FiBA; the youngest `d` elements lie ahead of all that are inserted, as the authors have it. */
final class FibaWindow(column: BenchColumn, algorithm: String, d: Int) extends BulkWindow {
  private[this] val fiba = Named.fiba(algorithm, column)
  private[this] var times = new Array[Long](0)
  private[this] var next = 0L
  private[this] var oldest = 0L

  {
    val stream = new AuthorsStream
    var i = 0
    while (i < d) {
      column.lift(fiba.open(), stream.next())
      fiba.insert(Long.MaxValue - d + i)
      i += 1
    }
  }

  override def insert(value: Int): Unit = {
    column.lift(fiba.open(), value)
    fiba.insert(next)
    next += 1
  }

  override def bulkInsert(values: Array[Int], m: Int): Unit = {
    if (times.length < m) times = new Array[Long](m)
    val first = fiba.openBulk(m)
    var i = 0
    while (i < m) {
      column.lift(first + i, values(i))
      times(i) = next + i
      i += 1
    }
    fiba.bulkInsert(times, m)
    next += m
  }

  override def evict(): Unit = {
    oldest += 1
    fiba.evict()
  }

  override def bulkEvict(m: Int): Unit = {
    oldest += m
    fiba.bulkEvict(oldest - 1)
  }

  override def slide(kept: Int): Unit = bulkEvict((next - oldest).toInt - kept)

  override def query(): Long = column.lower(fiba.query())
}

/** A window of arrival in order, whose elements enter and leave one by one. */
class SingleWindow(column: BenchColumn, window: InOrderWindow) extends BulkWindow {
  override def insert(value: Int): Unit = {
    column.lift(window.open(), value)
    window.insert()
  }

  override def bulkInsert(values: Array[Int], m: Int): Unit = {
    var i = 0
    while (i < m) {
      insert(values(i))
      i += 1
    }
  }

  override def evict(): Unit = window.evict()

  override def bulkEvict(m: Int): Unit = {
    var i = 0
    while (i < m) {
      window.evict()
      i += 1
    }
  }

  override def slide(kept: Int): Unit =
    while (column.lower(window.query()) > kept) window.evict()

  override def query(): Long = column.lower(window.query())
}

/** Log MTA or AMTA, which evict in bulk. */
final class MtaWindow(column: BenchColumn, mta: MonoidTreeAggregator)
    extends SingleWindow(column, mta) {
  private[this] var kept = 0

  // a class of its own, since JOL cannot weigh a lambda
  private[this] val keep = new WindowSlidePolicy {
    override def evicts(total: Int, prefix: Int): Boolean =
      column.lower(total) - column.lower(prefix) >= kept
  }

  override def bulkEvict(m: Int): Unit = mta.evict(m)

  override def slide(kept: Int): Unit = {
    this.kept = kept
    mta.evict(keep)
  }
}

@State(Scope.Thread)
class BulkState {
  @Param(Array("fiba4"))
  var algorithm: String = _

  @Param(Array("sum"))
  var operation: String = _

  @Param(Array("4194304"))
  var n: Int = _

  /** Elements of a bulk. */
  @Param(Array("1"))
  var m: Int = _

  /** Elements younger than those that are inserted. */
  @Param(Array("0"))
  var d: Int = _

  var window: BulkWindow = _
  private[this] val stream = new AuthorsStream
  private[this] val values = new Array[Int](1 << 20)

  @Setup
  def fill(): Unit = {
    val column = Named.column(operation)
    window = if (algorithm.startsWith("fiba")) {
      new FibaWindow(column, algorithm, d)
    } else {
      Named.window(algorithm, column) match {
        case mta: MonoidTreeAggregator => new MtaWindow(column, mta)
        case other                     => new SingleWindow(column, other)
      }
    }
    (0 until n - d).foreach(_ => insert())
  }

  def insert(): Unit = window.insert(stream.next())

  /** Values for the next bulk. */
  def prepare(): Unit = {
    var k = 0
    while (k < m) {
      values(k) = stream.next()
      k += 1
    }
  }

  def bulkInsert(): Unit = window.bulkInsert(values, m)

  /** A bulk evict, m single inserts, a query. */
  def slide(): Long = {
    window.bulkEvict(m)
    var k = 0
    while (k < m) {
      insert()
      k += 1
    }
    window.query()
  }
}

/** Bulks of m elements out of, and into, a window of n. */
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
@Fork(3)
class Bulk {

  /** An evict, an insert, a query: the authors' slide of elements that come out of order. */
  @Benchmark
  def single(state: BulkState): Long = {
    state.window.evict()
    state.insert()
    state.window.query()
  }

  /** A bulk evict, m single inserts, a query. */
  @Benchmark
  def evict(state: BulkState): Long = state.slide()

  /** A bulk evict, a bulk insert, a query. */
  @Benchmark
  def evictAndInsert(state: BulkState): Long = {
    state.window.bulkEvict(state.m)
    state.prepare()
    state.bulkInsert()
    state.window.query()
  }
}
