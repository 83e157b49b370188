package io.sash.core.slots

/**
 * Slots in chunks of equal size, each of which has memory only while it is open; the first always
 * is. No slot is ever copied to make room for others.
 */
private[core] trait Chunked extends Partials {

  /** Slots a chunk, a power of two. */
  private[core] def chunkSize: Int

  /** Gives the chunk of this slot memory, unless it has some; what its slots hold is undefined. */
  private[core] def openChunk(slot: Int): Unit

  /** Takes the memory of the chunk of this slot, which is open, is not the first, and has no use. */
  private[core] def closeChunk(slot: Int): Unit

  /** Closes all chunks but the first, in constant time. */
  private[core] def closeChunks(): Unit
}
