package io.sash.papers

import scala.collection.mutable

import io.sash.core.{Operation, TestColumn}
import io.sash.core.slots.Partials
import io.sash.papers.slots.Chunked

/** A column in chunks, for tests. Using a slot of a chunk that is not open fails. */
final class ChunkedTestColumn[A](operation: Operation[A], override val chunkSize: Int)
    extends TestColumn(operation)
    with Chunked {
  private[this] var chunks = mutable.Map(0 -> new Array[AnyRef](chunkSize))

  /** The number of chunks opened so far. */
  var opened = 0L

  /** The number of open chunks. */
  def open: Int = chunks.size

  override protected def read(slot: Int): AnyRef = chunks(slot / chunkSize)(slot % chunkSize)

  override protected def write(slot: Int, value: AnyRef): Unit =
    chunks(slot / chunkSize)(slot % chunkSize) = value

  override def openChunk(slot: Int): Unit =
    if (!chunks.contains(slot / chunkSize)) {
      mayFail()
      opened += 1
      chunks(slot / chunkSize) = new Array[AnyRef](chunkSize)
    }

  override def closeChunk(slot: Int): Unit = {
    require(slot >= chunkSize, "the first chunk stays open")
    require(chunks.remove(slot / chunkSize).isDefined, s"slot $slot has no open chunk")
  }

  override def closeChunks(): Unit = chunks = mutable.Map(0 -> chunks(0))

  override def grow(slots: Int): Partials = {
    require(slots <= chunkSize, s"$slots slots are no chunk")
    this
  }

  override def moved(): TestColumn[A] = {
    val other = new ChunkedTestColumn(operation, chunkSize)
    other.takeOver(chunks)
    chunks = mutable.Map.empty
    other
  }

  private def takeOver(from: mutable.Map[Int, Array[AnyRef]]): Unit = chunks = from
}
