package io.sash.core.slots

import java.nio.ByteBuffer

/**
 * Turns the content of slots into bytes and back, for slots that live in a store or in a file.
 */
trait SlotCodec {

  /** Writes the content of a slot to the end of `out`. */
  def write(slots: Slots, slot: Int, out: Bytes): Unit

  /** `slot <-` the next bytes of `in`, as `write` wrote them. The bytes say where they end. */
  def read(slots: Slots, slot: Int, in: ByteBuffer): Unit
}
