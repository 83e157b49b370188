package io.sash.core.fat

import io.sash.core.inorder.InOrderWindow
import io.sash.core.slots.Partials

/** A column without storage, for tests in which only the numbers of its slots matter. */
class Unstored extends Partials {
  override def identity(dst: Int): Unit = ()
  override def combine(dst: Int, left: Int, right: Int): Unit = ()
  override def copy(dst: Int, src: Int): Unit = ()
  override def grow(slots: Int): Partials = this
}

object Unstored {

  /** Opens the most slots possible and one more. Returns the error of the last call. */
  def overflow(window: InOrderWindow, most: Int): Throwable = {
    var opened = 0
    while (opened < most) {
      window.open()
      opened += 1
    }
    try {
      window.open()
      throw new AssertionError(s"${most + 1} slots were opened")
    } catch { case e: IllegalStateException => e }
  }
}
