package io.sash.core.fat

import scala.collection.mutable.ArrayBuffer

import io.sash.core.{Operation, TestColumn}

/** A test column that notes which slots were combined, and counts copies and identities. */
final class RecordingColumn[A](operation: Operation[A]) extends TestColumn(operation) {

  /** (dst, left, right) of each combine. */
  val calls: ArrayBuffer[(Int, Int, Int)] = ArrayBuffer.empty
  var copies = 0L
  var identities = 0L

  /** The destinations of the combines that `body` makes. */
  def combinedBy(body: => Unit): Seq[Int] = {
    calls.clear()
    body
    calls.map(_._1).toSeq
  }

  override def combine(dst: Int, left: Int, right: Int): Unit = {
    super.combine(dst, left, right)
    calls += ((dst, left, right))
  }

  override def copy(dst: Int, src: Int): Unit = {
    super.copy(dst, src)
    copies += 1
  }

  override def identity(dst: Int): Unit = {
    super.identity(dst)
    identities += 1
  }
}
