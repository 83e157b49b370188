package io.sash.core.slots

import java.nio.ByteBuffer

/** A buffer of bytes that grows as values are put at its end. A ByteBuffer reads them again. */
final class Bytes {
  private[this] var buffer = ByteBuffer.allocate(256)

  def clear(): this.type = {
    buffer.clear()
    this
  }

  /**
   * Puts a number, seven bits in each byte: a small number takes one byte, a negative one ten.
   */
  def putNumber(value: Long): Unit = {
    ensure(10)
    var rest = value
    while ((rest & ~0x7fL) != 0L) {
      buffer.put((rest | 0x80).toByte)
      rest >>>= 7
    }
    buffer.put(rest.toByte)
  }

  /** Puts a number of either sign. The nearer it is to 0, the fewer bytes it takes. */
  def putSigned(value: Long): Unit = putNumber((value << 1) ^ (value >> 63))

  /** Puts the lowest eight bits. */
  def putByte(value: Int): Unit = {
    ensure(1)
    buffer.put(value.toByte)
  }

  def putInt(value: Int): Unit = {
    ensure(4)
    buffer.putInt(value)
  }

  def putLong(value: Long): Unit = {
    ensure(8)
    buffer.putLong(value)
  }

  def putDouble(value: Double): Unit = putLong(java.lang.Double.doubleToRawLongBits(value))

  def putBytes(bytes: Array[Byte]): Unit = {
    putNumber(bytes.length)
    ensure(bytes.length)
    buffer.put(bytes)
  }

  def toArray: Array[Byte] = java.util.Arrays.copyOf(buffer.array, buffer.position())

  private def ensure(more: Int): Unit = if (buffer.remaining < more) {
    val longer = ByteBuffer.allocate(math.max(2 * buffer.capacity, buffer.position() + more))
    buffer.flip()
    buffer = longer.put(buffer)
  }
}

object Bytes {

  /** Reads a number that `putNumber` has put. */
  def number(in: ByteBuffer): Long = {
    var value = 0L
    var shift = 0
    var byte = in.get()
    while (byte < 0) {
      value |= (byte & 0x7fL) << shift
      shift += 7
      byte = in.get()
    }
    value | (byte.toLong << shift)
  }

  /** Reads a number that `putSigned` has put. */
  def signed(in: ByteBuffer): Long = {
    val value = number(in)
    (value >>> 1) ^ -(value & 1L)
  }

  /** Reads the bytes that `putBytes` has put. */
  def bytes(in: ByteBuffer): Array[Byte] = {
    val array = new Array[Byte](number(in).toInt)
    in.get(array)
    array
  }
}
