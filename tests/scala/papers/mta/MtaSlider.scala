package io.sash.papers.mta

import io.sash.core.{Element, Operation}
import io.sash.core.slots.Partials
import io.sash.core.stored.{HandleCodec, MapStore, StorableColumn}
import io.sash.papers.elements.WindowSlidePolicy
import io.sash.papers.stored.KvsAmta

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
