package io.sash.core.stored

import java.nio.ByteBuffer

import io.sash.core.slots.Bytes

/** A window over the elements of a [[StoredWindows]], from one position on until another. */
abstract class TreeWindow private[stored] () {

  /** Position of the oldest element. */
  def front: Long

  /** Position after the newest element. */
  def back: Long

  final def size: Long = back - front

  /** The first element that the window may ask for. */
  private[stored] def needed: Long

  /** The next element of the stream, which is in this slot, enters. */
  def insert(slot: Int): Unit

  /** The elements before `position` enter, which have come. */
  def insertTo(position: Long): Unit

  /** The elements until `time`, which have come, enter. */
  def insertUntil(time: Long): Unit

  /** The slot of the aggregate of the window, until the next call. */
  def query(): Int

  /** The elements before `position`, which is at most `back`, leave. */
  def evictTo(position: Long): Unit

  /** The elements before `time` leave. */
  def evictBefore(time: Long): Unit

  /** The elements leave all together. */
  def evictAll(): Unit

  /** Begins at the end of the stream, with no element. */
  private[stored] def clear(): Unit

  private[stored] def write(out: Bytes): Unit

  private[stored] def read(in: ByteBuffer): Unit
}
