package io.sash.core.mta

import java.nio.ByteBuffer

import scala.collection.mutable
import scala.util.Try

import io.sash.core.{Element, Operation, TestColumn}
import io.sash.core.slots.{Bytes, Partials, SlotCodec, Slots}
import io.sash.core.stored.{KeyValueStore, KvsAmta}

/** An MTA window over a test column, driven by values. */
final class MtaSlider[A](val algorithm: MtaAlgorithm, val operation: Operation[A]) {
  val window: MonoidTreeAggregator = algorithm.window(new StorableColumn(operation))

  def column: StorableColumn[A] = window.column.asInstanceOf[StorableColumn[A]]

  def open(element: Element): Unit = {
    val slot = window.open()
    column.lift(slot, element) // opening may have replaced the column
  }

  def insert(element: Element): Unit = {
    open(element)
    window.insert()
  }

  def query(): A = column(window.query())

  /** Slides by a policy over (total, prefix). */
  def evict(evicts: (A, A) => Boolean): Unit = {
    val policy: WindowSlidePolicy =
      (total: Int, prefix: Int) => evicts(column(total), column(prefix))
    window.evict(policy)
  }

  /** The number of `combine` calls that `body` makes. */
  def cost(body: => Unit): Long = {
    val before = column.operations
    body
    column.operations - before
  }
}

/** A test column whose values may leave it and come back. */
class StorableColumn[A](operation: Operation[A]) extends TestColumn[A](operation) {
  private[this] var gone = false

  def set(slot: Int, value: A): Unit = put(slot, value)

  override def apply(slot: Int): A = {
    require(!gone, "the window has moved to another column")
    super.apply(slot)
  }

  override def moved(): StorableColumn[A] = {
    val other = new StorableColumn(operation)
    other.grow(capacity)
    (0 until capacity).foreach(slot => Try(this(slot)).foreach(other.set(slot, _)))
    other.combines = combines
    gone = true
    other
  }
}

abstract class MtaAlgorithm(val name: String) {
  def window(column: Partials): MonoidTreeAggregator
  override def toString: String = name
}

object MtaAlgorithm {
  object Log extends MtaAlgorithm("Log MTA") {
    override def window(column: Partials): LogMta = new LogMta(column)
  }

  object Amortized extends MtaAlgorithm("AMTA") {
    override def window(column: Partials): Amta = new Amta(column)
  }

  /**
   * Over a map, with the smallest nodes, so that almost every element passes through the map.
   *
   * @param failing whether calls fail; a node is then written again where its call is repeated
   */
  final class Kvs(failing: Boolean) extends MtaAlgorithm("KVS-AMTA") {
    override def window(column: Partials): KvsAmta =
      new KvsAmta(column, new MapStore(changing = failing), new HandleCodec, logFanOut = 1)
  }

  val All: Seq[MtaAlgorithm] = Seq(Log, Amortized, new Kvs(failing = false))

  val Failing: Seq[MtaAlgorithm] = Seq(Log, Amortized, new Kvs(failing = true))
}

/**
 * A store that refuses calls that a window must not make, and counts the calls.
 *
 * @param changing whether nodes may change, and be missing
 */
final class MapStore(changing: Boolean = false) extends KeyValueStore {
  private[this] val values = mutable.HashMap.empty[(Int, Long), Array[Byte]]

  var puts = 0L
  var gets = 0L
  var removes = 0L

  def size: Int = values.size

  override def put(level: Int, first: Long, batch: Array[Array[Byte]]): Unit = {
    puts += 1
    batch.zipWithIndex.foreach { case (value, i) =>
      val was = values.put((level, first + i), value)
      require(changing || was.isEmpty, s"${(level, first + i)} was there")
    }
  }

  override def get(level: Int, first: Long, count: Int): Array[Array[Byte]] = {
    gets += 1
    Array.tabulate(count) { i =>
      if (changing) values.getOrElse((level, first + i), null) else values((level, first + i))
    }
  }

  override def remove(level: Int, from: Long, until: Long): Unit = {
    removes += 1
    (from until until).foreach(number => values.remove((level, number)))
  }
}

/** Turns any value into eight bytes, by keeping it and giving out its number. */
final class HandleCodec extends SlotCodec {
  private[this] val values = mutable.ArrayBuffer.empty[Any]

  override def write(column: Slots, slot: Int, out: Bytes): Unit = {
    values += column.asInstanceOf[StorableColumn[Any]](slot)
    out.putLong(values.size - 1L)
  }

  override def read(column: Slots, slot: Int, in: ByteBuffer): Unit =
    column
      .asInstanceOf[StorableColumn[Any]]
      .set(slot, values(in.getLong().toInt))
}
