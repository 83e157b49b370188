package io.sash.core.slots

/** The place, a file for example, where `Pages` keeps the pages that are not in memory. */
trait PageStore {

  /**
   * Stores the first `length` of these bytes as the page's content, replacing the previous one.
   */
  def store(page: Int, bytes: Array[Byte], length: Int): Unit

  /** The bytes of a page that was stored. */
  def fetch(page: Int): Array[Byte]
}
