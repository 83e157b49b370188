package io.sash.core.slots

import org.scalatest.funsuite.AnyFunSuite

import io.sash.core.{Element, Operation, TestColumn}

/** Promises of slots that the algorithms over them do not test. */
class SlotsSuite extends AnyFunSuite {

  test("slots move up and down as if by way of somewhere else") {
    for { src <- 0 to 10; dst <- 0 to 10; count <- 0 to 10 } {
      val column = TestColumn(Operation.Sum)
      column.grow(20)
      (0 until 20).foreach(i => column.lift(i, Element(i, i)))
      column.move(dst, src, count)
      val moved = (0 until 20).map(i => if (i >= dst && i < dst + count) src + i - dst else i)
      assert((0 until 20).map(column(_)) == moved, s"$count from $src to $dst")
    }
  }
}
