package io.sash.papers.fiba

import org.scalatest.funsuite.AnyFunSuite

import io.sash.core.{Operation, TestColumn}

/** Bad use gives a clear error and leaves the window as it was. */
class BadFibaUseSuite extends AnyFunSuite {
  private val some = (0L to 40L by 2).map(_ + 10)

  private def window(times: Iterable[Long] = some): Window[Vector[_]] = {
    val window = new Window[Vector[_]](
      Operation.Collect.asInstanceOf[Operation[Vector[_]]],
      minArity = 2
    )
    window.bulkInsertAt(times)
    window
  }

  /** The call must fail with such a message and leave all as before. */
  private def refuses[E <: Exception: scala.reflect.ClassTag](
      window: Window[Vector[_]],
      message: String
  )(call: => Any): Unit = {
    val before = (window.fiba.size, window.query(), window.shape)
    val error = intercept[E](call)
    assert(error.getMessage.contains(message))
    assert((window.fiba.size, window.query(), window.shape) == before)
    assert(new Invariants(window).broken.isEmpty)
  }

  test("an empty window has nothing to evict or remove, and no ends") {
    val empty = window(Nil)
    refuses[NoSuchElementException](empty, "evict() on an empty window")(empty.fiba.evict())
    refuses[NoSuchElementException](empty, "oldest on an empty window")(empty.fiba.oldest)
    refuses[NoSuchElementException](empty, "youngest on an empty window")(empty.fiba.youngest)
    refuses[NoSuchElementException](empty, "remove(3)")(empty.fiba.remove(3))
    empty.fiba.bulkEvict(Long.MaxValue)
    assert(empty.fiba.isEmpty && empty.query() == Vector.empty)
    assert(empty.range(Long.MinValue, Long.MaxValue) == Vector.empty)
  }

  test("removing a timestamp that is not there") {
    val w = window()
    for (time <- Seq(9L, 11L, 29L, 51L, Long.MinValue, Long.MaxValue))
      refuses[NoSuchElementException](w, s"remove($time): no element")(w.fiba.remove(time))
  }

  test("removing and inserting what has been evicted") {
    val w = window()
    w.fiba.evict()
    refuses[NoSuchElementException](w, "remove(10)")(w.fiba.remove(10))
    w.insert(10)
    assert(w.fiba.size == some.size && w.query().size == some.size && w.fiba.oldest == 10)
  }

  test("inserting without an open slot") {
    val w = window()
    refuses[IllegalStateException](w, "call open()")(w.fiba.insert(100))
    w.insert(100)
    refuses[IllegalStateException](w, "call open()")(w.fiba.insert(101))
    w.fiba.open()
    w.fiba.clear()
    refuses[IllegalStateException](w, "call open()")(w.fiba.insert(101))
  }

  test("a bulk without open slots") {
    val w = window()
    refuses[IllegalStateException](w, "call openBulk(2)")(w.fiba.bulkInsert(Array(1L, 2L), 2))
    w.fiba.openBulk(1)
    refuses[IllegalStateException](w, "1 open slots")(w.fiba.bulkInsert(Array(1L, 2L), 2))
    refuses[IllegalArgumentException](w, "openBulk(-1)")(w.fiba.openBulk(-1))
    w.fiba.clear()
    refuses[IllegalStateException](w, "0 open slots")(w.fiba.bulkInsert(Array(1L), 1))
  }

  test("a bulk that is larger than its timestamps") {
    val w = window()
    w.fiba.openBulk(3)
    refuses[IllegalArgumentException](w, "3 elements with 2")(w.fiba.bulkInsert(Array(1L, 2L), 3))
    refuses[IllegalArgumentException](w, "-1 elements")(w.fiba.bulkInsert(Array(1L), -1))
  }

  test("a bulk out of order: the error names the first index, and the bulk stays open") {
    val w = window()
    w.openBulk((0 to 4).map(i => io.sash.core.Element(i, i)))
    refuses[IllegalArgumentException](w, "3 at index 2 follows 5") {
      w.fiba.bulkInsert(Array(1L, 5L, 3L, 2L, 9L), 5)
    }
    w.fiba.bulkInsert(Array(1L, 2L, 3L, 5L, 9L), 5)
    assert(w.fiba.size == some.size + 5 && w.fiba.oldest == 1)
  }

  test("an empty bulk changes nothing") {
    val w = window()
    val before = w.query()
    w.fiba.openBulk(0)
    w.fiba.bulkInsert(Array.empty, 0)
    assert(w.query() == before)
  }

  test("more elements than a window holds") {
    // only the count matters
    val w = window()
    w.tree.size = NodeStore.MaxSize - 2
    w.fiba.openBulk(2)
    val most = intercept[IllegalStateException](w.fiba.openBulk(3))
    assert(most.getMessage.startsWith(s"a window holds at most ${NodeStore.MaxSize} elements"))
    w.tree.size = NodeStore.MaxSize
    intercept[IllegalStateException](w.fiba.open())
    w.tree.size = some.size
    assert(new Invariants(w).broken.isEmpty)
  }

  test("a minimum arity that is no power of two from 2 to 32") {
    for (minArity <- Seq(-4, 0, 1, 3, 6, 64)) {
      val error =
        intercept[IllegalArgumentException](new Fiba(TestColumn(Operation.Sum), minArity))
      assert(error.getMessage.contains(s"not $minArity"))
    }
  }
}
