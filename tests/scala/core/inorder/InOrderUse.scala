package io.sash.core.inorder

import scala.util.Try

import org.scalatest.funsuite.AnyFunSuite

import io.sash.core.{Element, Operation}

/** Bad use gives a clear error and leaves the window as it was, and `clear` takes no time. */
abstract class InOrderUse(algorithms: Seq[WindowAlgorithm]) extends AnyFunSuite {
  private def sliders: Seq[Slider[_]] = for {
    algorithm <- algorithms
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

  private def filled(algorithm: WindowAlgorithm, n: Int): Slider[_] = {
    val operation = Operation.All.find(algorithm.accepts).get
    val s = new Slider(algorithm, operation)
    // descending, so that no element is useless, and slid, so that no part of the window is empty
    (0 until n + n / 2).foreach { i =>
      if (i >= n) s.window.evict()
      s.insert(Element(-i, i))
    }
    s.query()
    s
  }

  for (algorithm <- algorithms)
    test(s"$algorithm: clear writes as few slots of a long window as of a short one") {
      val Seq(short, long) = Seq(10, 10000).map { n =>
        val s = filled(algorithm, n)
        val before = s.column.writes
        assert(s.cost(s.window.clear()) == 0)
        val capacity = s.column.capacity
        assert(s.window.size == 0 && s.column.capacity == capacity)
        s.column.writes - before
      }
      assert(long == short && long <= 3)
    }
}

object InOrderUse {

  /** Opens as many slots as a window can number, and one more. */
  def full(window: InOrderWindow, most: Int): Unit = {
    var opened = 0
    while (opened < most) {
      window.open()
      opened += 1
    }
    val error = Try(window.open()).failed.get
    require(error.isInstanceOf[IllegalStateException] && error.getMessage.contains(s"$most"))
    window.insert()
    require(window.size == 1)
    window.evict()
    window.open() // takes the evicted element's place
  }
}
