package io.sash.core.slots

import java.nio.ByteBuffer

/** Turns what slots hold into bytes and back, for slots that live in a store or in a file. */
trait SlotCodec {

  /** Writes a slot to the end of `out`. */
  def write(slots: Slots, slot: Int, out: Bytes): Unit

  /** `slot <-` what `write` has written, which comes next in `in` and says itself where it ends. */
  def read(slots: Slots, slot: Int, in: ByteBuffer): Unit
}
