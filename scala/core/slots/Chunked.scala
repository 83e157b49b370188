package io.sash.core.slots

/**
 * Slots in chunks of equal size. A chunk has memory only while it is open; the first is always
 * open. No slot is ever copied to make room for others.
 */
private[core] trait Chunked extends Partials {

  /** The number of slots in a chunk, a power of two. */
  private[core] def chunkSize: Int

  /**
   * Gives this slot's chunk memory, unless it has some. The content of new slots is undefined.
   */
  private[core] def openChunk(slot: Int): Unit

  /** Frees this slot's chunk, which is open, is not the first, and whose slots nobody uses. */
  private[core] def closeChunk(slot: Int): Unit

  /** Closes all chunks but the first, in constant time. */
  private[core] def closeChunks(): Unit
}
