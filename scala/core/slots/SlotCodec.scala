package io.sash.core.slots

/** Turns what slots hold into bytes and back, for slots that live in a store or in a file. */
trait SlotCodec {

  /** The bytes of a slot, in an array that the caller may keep. */
  def write(slots: Slots, slot: Int): Array[Byte]

  /** `slot <- value`, bytes that `write` has made. */
  def read(slots: Slots, slot: Int, value: Array[Byte]): Unit
}
