package io.sash.papers.mta

import org.scalatest.funsuite.AnyFunSuite

import io.sash.core.{Element, Operation}
import io.sash.core.slots.Partials
import io.sash.core.stored.{HandleCodec, MapStore, StorableColumn}
import io.sash.papers.stored.KvsAmta

/** Bad use gives a clear error and leaves the window as it was. */
class MtaBadUseSuite extends AnyFunSuite {
  private def element(i: Int): Element = Element(i, i)

  private def sliders: Seq[MtaSlider[Vector[Element]]] =
    MtaAlgorithm.All.map(new MtaSlider(_, Operation.Collect))

  test("evicting from an empty window, with an element open or not") {
    sliders.foreach { s =>
      val error = intercept[NoSuchElementException](s.window.evict())
      assert(error.getMessage == "evict() on an empty window")
      s.open(element(1))
      intercept[NoSuchElementException](s.window.evict())
      s.window.insert()
      assert(s.query() == Seq(element(1)))
    }
  }

  test("evicting more elements than there are, or fewer than none") {
    sliders.foreach { s =>
      (1 to 20).foreach(i => s.insert(element(i)))
      s.open(element(21))
      val many = intercept[NoSuchElementException](s.window.evict(21))
      assert(many.getMessage == "evict(21) on a window of 20 elements")
      val negative = intercept[IllegalArgumentException](s.window.evict(-1))
      assert(negative.getMessage == "evict(-1): a count is not negative")
      assert(s.query() == (1 to 20).map(element))
      s.window.insert()
      s.window.evict(20)
      assert(s.query() == Seq(element(21)))
    }
  }

  test("inserting without an open slot, also after clear() took it away") {
    sliders.foreach { s =>
      s.insert(element(1))
      val error = intercept[IllegalStateException](s.window.insert())
      assert(error.getMessage.contains("call open()"))
      assert(s.query() == Seq(element(1)))
      s.open(element(2))
      s.window.clear()
      intercept[IllegalStateException](s.window.insert())
      assert(s.window.size == 0 && s.query().isEmpty)
    }
  }

  test("more elements than a window can number") {
    // a column without storage, since only the numbers matter
    object Nowhere extends Partials {
      override def identity(dst: Int): Unit = ()
      override def combine(dst: Int, left: Int, right: Int): Unit = ()
      override def copy(dst: Int, src: Int): Unit = ()
      override def grow(slots: Int): Partials = this
    }
    val window = new LogMta(Nowhere)
    val most = 1 << 28
    var opened = 0
    while (opened < most) {
      window.open()
      opened += 1
    }
    val error = intercept[IllegalStateException](window.open())
    assert(error.getMessage == s"a window holds at most $most elements")
    window.insert()
    assert(window.size == 1)
    window.evict()
    window.open() // takes the evicted element's place
  }

  test("AMTA holds twice as many elements as Log MTA") {
    val doublings = Iterator.iterate(LevelQueues(first = 0, slack = 0))(_.doubled(0))
    val largest = doublings.dropWhile(_.elements < (1 << 29)).next()
    val error = intercept[IllegalStateException](largest.doubled(0))
    assert(error.getMessage == s"a window holds at most ${1 << 29} elements")
    assert(largest.slotsEnd == 1 << 30)
  }

  test("a fan-out that is too small or too large") {
    Seq(-1, 0, 17).foreach { log =>
      val error = intercept[IllegalArgumentException] {
        new KvsAmta(new StorableColumn(Count), new MapStore, new HandleCodec, log)
      }
      assert(error.getMessage == s"logFanOut is $log: take a number from 1 to 16")
    }
  }
}
