package io.sash.bench

import java.util.concurrent.TimeUnit

import io.sash.core.fiba.Fiba
import io.sash.core.mta.Amta
import org.openjdk.jmh.annotations._

/** A window whose elements come at the times 0, 1, 2, … and leave in bulks. */
abstract class BulkWindow {
  def insert(value: Int): Unit
  def bulkInsert(values: Array[Int], m: Int): Unit

  /** Drops the oldest `m`. */
  def bulkEvict(m: Int): Unit
  def query(): Long
}

/** FiBA; the youngest `d` elements lie ahead of all that are inserted, as the authors have it. */
final class FibaWindow(column: BenchColumn, minArity: Int, d: Int) extends BulkWindow {
  private[this] val fiba = new Fiba(column, minArity)
  private[this] val times = new Array[Long](1 << 16)
  private[this] var next = 0L
  private[this] var oldest = 0L

  {
    var i = 0
    while (i < d) {
      column.lift(fiba.open(), Named.value(i))
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

  override def bulkEvict(m: Int): Unit = {
    oldest += m
    fiba.bulkEvict(oldest - 1)
  }

  override def query(): Long = column.lower(fiba.query())
}

final class AmtaWindow(column: BenchColumn) extends BulkWindow {
  private[this] val amta = new Amta(column)

  override def insert(value: Int): Unit = {
    column.lift(amta.open(), value)
    amta.insert()
  }

  override def bulkInsert(values: Array[Int], m: Int): Unit = {
    var i = 0
    while (i < m) {
      insert(values(i))
      i += 1
    }
  }

  override def bulkEvict(m: Int): Unit = amta.evict(m)

  override def query(): Long = column.lower(amta.query())
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
  private[this] var i = 0
  private[this] val values = new Array[Int](1 << 16)

  @Setup
  def fill(): Unit = {
    val column = Named.column(operation)
    window =
      if (algorithm == "amta") new AmtaWindow(column)
      else new FibaWindow(column, algorithm.stripPrefix("fiba").toInt, d)
    (0 until n - d).foreach(_ => insert())
  }

  def insert(): Unit = {
    window.insert(Named.value(i))
    i = if (i == 100) 0 else i + 1
  }

  def bulkInsert(): Unit = {
    var k = 0
    while (k < m) {
      values(k) = Named.value(i)
      i = if (i == 100) 0 else i + 1
      k += 1
    }
    window.bulkInsert(values, m)
  }
}

/** Bulks of m elements out of, and into, a window of n. */
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
@Fork(3)
class Bulk {

  /** A bulk evict, m single inserts, a query. */
  @Benchmark
  def evict(state: BulkState): Long = {
    state.window.bulkEvict(state.m)
    var k = 0
    while (k < state.m) {
      state.insert()
      k += 1
    }
    state.window.query()
  }

  /** A bulk evict, a bulk insert, a query. */
  @Benchmark
  def evictAndInsert(state: BulkState): Long = {
    state.window.bulkEvict(state.m)
    state.bulkInsert()
    state.window.query()
  }
}
