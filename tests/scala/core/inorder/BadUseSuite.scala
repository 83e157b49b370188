package io.sash.core.inorder

import org.scalatest.funsuite.AnyFunSuite

import io.sash.core.{Element, Operation}
import io.sash.core.slots.{Chunked, Partials}

/** Bad use gives a clear error and leaves the window as it was. */
class BadUseSuite extends AnyFunSuite {
  private def sliders: Seq[Slider[_]] = for {
    algorithm <- WindowAlgorithm.All
    operation <- Operation.All
    if algorithm.accepts(operation)
  } yield new Slider(algorithm, operation)

  private def element(i: Int): Element = Element(i % 5, i)

  test("evicting from an empty window") {
    sliders.foreach { s =>
      val empty = s.query()
      val error = intercept[NoSuchElementException](s.window.evict())
      assert(error.getMessage == "evict() on an empty window")
      assert(s.window.size == 0 && s.query() == empty)
      s.insert(element(1))
      assert(s.window.size == 1 && s.query() == s.operation.aggregate(Seq(element(1))))
    }
  }

  test("evicting when elements are open but none is in the window") {
    sliders.foreach { s =>
      s.open(element(1))
      intercept[NoSuchElementException](s.window.evict())
      s.window.insert()
      assert(s.query() == s.operation.aggregate(Seq(element(1))))
    }
  }

  test("inserting without an open slot") {
    sliders.foreach { s =>
      val elements = (1 to 20).map(element)
      elements.foreach(s.insert)
      val error = intercept[IllegalStateException](s.window.insert())
      assert(error.getMessage.contains("call open()"))
      assert(s.window.size == 20 && s.query() == s.operation.aggregate(elements))
      s.insert(element(21))
      s.window.evict()
      assert(s.query() == s.operation.aggregate(elements.tail :+ element(21)))
    }
  }

  test("inserting after clear() took the open slots away") {
    sliders.foreach { s =>
      s.open(element(1))
      s.window.clear()
      intercept[IllegalStateException](s.window.insert())
      assert(s.window.size == 0 && s.query() == s.operation.identity)
    }
  }

  /** A column without storage, for tests where only the numbers matter. */
  private class Unstored extends Partials {
    override def identity(dst: Int): Unit = ()
    override def combine(dst: Int, left: Int, right: Int): Unit = ()
    override def copy(dst: Int, src: Int): Unit = ()
    override def grow(slots: Int): Partials = this
  }

  test("more open slots than a window can number") {
    full(new TwoStacksLite(new Unstored), 1 << 30)
  }

  test("more open slots than a window in chunks can number, none of which is open twice") {
    val chunk = 1 << 20
    full(
      new DabaLite(new Unstored with Chunked {
        override def chunkSize: Int = chunk
        override def openChunk(slot: Int): Unit = ()
        override def closeChunk(slot: Int): Unit = ()
        override def closeChunks(): Unit = ()
      }),
      (1 << 30) - chunk
    )
  }

  private def full(window: InOrderWindow, most: Int): Unit = {
    var opened = 0
    while (opened < most) {
      window.open()
      opened += 1
    }
    val error = intercept[IllegalStateException](window.open())
    assert(error.getMessage.contains(most.toString))
    window.insert()
    assert(window.size == 1)
    window.evict()
    window.open() // takes the evicted element's place
  }

  test("an algorithm that needs more of the operation does not compile without it") {
    assertTypeError(
      "new SlickDequeInv(io.sash.core.TestColumn.selective(io.sash.core.Operation.Max))"
    )
    assertTypeError(
      "new SlickDequeNonInv(io.sash.core.TestColumn.invertible(io.sash.core.Operation.Sum))"
    )
    assertCompiles(
      "new SlickDequeInv(io.sash.core.TestColumn.invertible(io.sash.core.Operation.Sum))"
    )
    assertCompiles(
      "new SlickDequeNonInv(io.sash.core.TestColumn.selective(io.sash.core.Operation.Max))"
    )
  }
}
