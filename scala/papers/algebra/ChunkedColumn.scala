package io.sash.papers.algebra

import java.nio.ByteBuffer

import io.sash.core.slots.{Bytes, Slots}
import io.sash.papers.slots.ChunkedPartials

/**
 * A column in chunks, each a column of the same aggregation. See
 * [[io.sash.papers.slots.ChunkedPartials]].
 */
class ChunkedColumn[
    @specialized(Int, Long, Double) In,
    @specialized(Int, Long, Double) Out
] private[algebra] (make: () => Column[In, Out], logSize: Int)
    extends ChunkedPartials[Column[In, Out]](make, logSize)
    with Column[In, Out] {

  override def lift(slot: Int, in: In): Unit = chunk(slot).lift(at(slot), in)

  override def lower(slot: Int): Out = chunk(slot).lower(at(slot))

  override def write(slots: Slots, slot: Int, out: Bytes): Unit =
    chunk(slot).write(chunk(slot), at(slot), out)

  override def read(slots: Slots, slot: Int, in: ByteBuffer): Unit =
    chunk(slot).read(chunk(slot), at(slot), in)
}
