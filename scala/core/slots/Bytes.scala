package io.sash.core.slots

import java.nio.ByteBuffer

/** Bytes that grow as they are written, at their end; read again from a ByteBuffer. */
final class Bytes {
  private[this] var buffer = ByteBuffer.allocate(256)

  def clear(): this.type = {
    buffer.clear()
    this
  }

  /** A number in as many bytes as it takes, seven bits in each; a negative one takes ten. */
  def putNumber(value: Long): Unit = {
    ensure(10)
    var rest = value
    while ((rest & ~0x7fL) != 0L) {
      buffer.put((rest | 0x80).toByte)
      rest >>>= 7
    }
    buffer.put(rest.toByte)
  }

  /** A number of either sign, the shorter the nearer it is to 0. */
  def putSigned(value: Long): Unit = putNumber((value << 1) ^ (value >> 63))

  /** The lowest eight bits. */
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

  /** What `putNumber` has put. */
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

  /** What `putSigned` has put. */
  def signed(in: ByteBuffer): Long = {
    val value = number(in)
    (value >>> 1) ^ -(value & 1L)
  }

  /** What `putBytes` has put. */
  def bytes(in: ByteBuffer): Array[Byte] = {
    val array = new Array[Byte](number(in).toInt)
    in.get(array)
    array
  }
}
