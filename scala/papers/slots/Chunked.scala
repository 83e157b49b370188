package io.sash.papers.slots

import io.sash.core.slots.Partials

/**
 * Slots in chunks of equal size. A chunk has memory only while it is open; the first is always
 * open. No slot is ever copied to make room for others.
 */
private[papers] trait Chunked extends Partials {

  /** The number of slots in a chunk, a power of two. */
  private[papers] def chunkSize: Int

  /**
   * Gives this slot's chunk memory, unless it has some. The content of new slots is undefined.
   */
  private[papers] def openChunk(slot: Int): Unit

  /** Frees this slot's chunk, which is open, is not the first, and whose slots nobody uses. */
  private[papers] def closeChunk(slot: Int): Unit

  /** Closes all chunks but the first, in constant time. */
  private[papers] def closeChunks(): Unit
}
