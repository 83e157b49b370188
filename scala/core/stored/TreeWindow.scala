package io.sash.core.stored

import java.nio.ByteBuffer

import io.sash.core.slots.Bytes

/** A window over the elements of a [[StoredWindows]], from position `front` until `back`. */
abstract class TreeWindow private[sash] () {

  /** Position of the oldest element. */
  def front: Long

  /** Position after the newest element. */
  def back: Long

  final def size: Long = back - front

  /** The first element for which the window may still ask. */
  private[sash] def needed: Long

  /** Inserts the next element of the stream, which is in this slot. */
  def insert(slot: Int): Unit

  /** Inserts the elements before `position`, which have come. */
  def insertTo(position: Long): Unit

  /** The time of an element that has come and is held. */
  def timeOf(position: Long): Long

  /** The slot of the window's aggregate; valid until the next call. */
  def query(): Int

  /**
   * Begins an answer for some of the window's elements, which are appended from the oldest to the
   * youngest. The window holds its elements one by one: see `StoredWindows.Shape.evicts`.
   */
  def begin(): Unit

  /** Appends the elements [from, until), which are in the window. */
  def append(from: Long, until: Long): Unit

  /** The slot with the aggregate of the appended elements; valid until the next call. */
  def answer(): Int

  /**
   * The first element of the window whose time is at least `time`, if it is before `until`; else
   * `until`, which is from `front` to `back`. The window holds its elements one by one: see
   * `StoredWindows.Shape.evicts`.
   */
  def firstAt(time: Long, until: Long): Long

  /** The first element whose time is at least `time`, or `back` if there is none. */
  final def firstAt(time: Long): Long = firstAt(time, back)

  /** Evicts the elements before `position`, which is at most `back`. */
  def evictTo(position: Long): Unit

  /** Evicts the elements whose time is before `time`. */
  final def evictBefore(time: Long): Unit = evictTo(firstAt(time))

  /**
   * Makes the window hold exactly the elements [from, until), which have come. If its elements
   * leave all at once, the caller then puts their aggregate into the slot of `query`.
   */
  def restart(from: Long, until: Long): Unit

  /** Evicts all elements. */
  def evictAll(): Unit

  /** Begins at the end of the stream, without elements. */
  private[sash] def clear(): Unit

  private[sash] def write(out: Bytes): Unit

  private[sash] def read(in: ByteBuffer): Unit
}
