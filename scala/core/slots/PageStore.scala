package io.sash.core.slots

/** Where `Pages` keep what is not in memory: a file, say. */
trait PageStore {

  /** Keeps the first `length` of these bytes as the page's, in the place of what it had. */
  def store(page: Int, bytes: Array[Byte], length: Int): Unit

  /** The bytes of a page that was stored. */
  def fetch(page: Int): Array[Byte]
}
