package io.sash.papers.stored

import java.nio.BufferUnderflowException

import org.scalacheck.Gen
import org.scalacheck.Prop.{forAll, propBoolean}

import io.sash.core.Laws
import io.sash.core.algebra._
import io.sash.core.stored.{MapStore, WriteBehind}
import io.sash.papers.algebra._
import io.sash.papers.inorder.{SlickDequeInv, TwoStacksLite}

/** Windows of values that outlive their process. */
class PersistentWindowSuite extends Laws {
  private sealed trait Call
  private case class Insert(after: Int, value: Int) extends Call
  private case class Evict(perMille: Int) extends Call
  private case class EvictBefore(age: Int) extends Call
  private case object Restart extends Call

  private val calls: Gen[List[Call]] = Gen.listOf(
    Gen.frequency(
      10 -> Gen.zip(Gen.choose(0, 3), Gen.choose(-9, 9)).map { case (t, v) => Insert(t, v) },
      2 -> Gen.choose(0, 1000).map(Evict(_)),
      2 -> Gen.choose(-1, 60).map(EvictBefore(_)),
      2 -> Gen.const(Restart)
    )
  )

  /** The calls on a window and on a list, with the answer after each. */
  private def agrees[Agg, Out](
      aggregation: Aggregation[String, Agg, Out],
      logFanOut: Int,
      calls: List[Call]
  ): Boolean = {
    val store = new MapStore
    var window = new PersistentWindow(aggregation, store, logFanOut)
    var values = Vector.empty[(Long, String)]
    var now = 0L
    calls.forall { call =>
      call match {
        case Insert(after, value) =>
          now += after
          window.insert(now, s"$value,")
          values :+= now -> s"$value,"
        case Evict(perMille) =>
          val count = values.size * perMille / 1000
          window.evict(count.toLong)
          values = values.drop(count)
        case EvictBefore(age) =>
          window.evictBefore(now - age)
          values = values.dropWhile(_._1 < now - age)
        case Restart =>
          val saved = window.save()
          window = new PersistentWindow(aggregation, store, logFanOut)
          window.restore(saved)
      }
      window.size == values.size &&
      window.query() == aggregation.aggregate(values.map(_._2): _*)
    }
  }

  law("a window has the answer of its values, whenever it restarts") {
    forAll(calls, Gen.choose(1, 3))((calls, log) => agrees(Concatenate, log, calls))
  }

  law("so has one whose partials are pairs, options, or any objects") {
    forAll(calls, Gen.choose(1, 3)) { (calls, log) =>
      val length = Sum[Int].on((s: String) => s.length)
      agrees(Both(length, Max.of[String]), log, calls) &&
      agrees(Collect[String], log, calls)
    }
  }

  test("a cleared window begins anew, and has nothing left in the store") {
    val store = new MapStore
    val window = new PersistentWindow(ArithmeticMean[Double], store, logFanOut = 1)
    (0 until 100).foreach(i => window.insert(i.toLong, i.toDouble))
    assert(window.query() == 49.5 && store.size > 40)
    window.clear()
    assert(window.size == 0 && store.size == 0)
    window.insert(5L, 2.0) // before the time of the last value that was there
    assert(window.query() == 2.0)
  }

  test("bad use gives a clear error and changes nothing") {
    val window = new PersistentWindow(Concatenate, new MapStore)
    window.insert(7L, "a")
    val late = intercept[IllegalArgumentException](window.insert(6L, "b"))
    assert(late.getMessage == "insert() at 6 after a value at 7: times must not decrease")
    assert(
      intercept[NoSuchElementException](window.evict(2L)).getMessage ==
        "evict(2) on a window of 1 values"
    )
    assert(
      intercept[IllegalArgumentException](window.evict(-1L)).getMessage.contains("evict(-1)")
    )
    window.insert(7L, "b")
    assert(window.query() == "ab")
    val saved = window.save()
    val again = new PersistentWindow(Concatenate, new MapStore)
    again.restore(saved)
    intercept[IllegalArgumentException](again.insert(6L, "c"))
  }

  test("a window that is emptied twice leaves nothing in a store that holds writes back") {
    val store = new MapStore(changing = true)
    val behind = new WriteBehind(store)
    val window = new PersistentWindow(Sum[Long], behind)
    def fill(): Unit = (0 until 64).foreach(i => window.insert(i.toLong, 1L))
    fill()
    behind.flush()
    assert(store.size > 0)
    window.clear()
    fill()
    window.clear()
    behind.flush()
    assert(store.size == 0)
  }

  test("a value at the greatest of all times is refused, and the window stays as it was") {
    val window = new PersistentWindow(Sum[Long], new MapStore)
    window.insert(Long.MaxValue - 1, 5L)
    val refused = intercept[IllegalArgumentException](window.insert(Long.MaxValue, 1L))
    assert(refused.getMessage.contains("below"))
    val saved = window.save()
    window.restore(saved)
    assert(window.size == 1L && window.query() == 5L)
  }

  test("strings come back as they were, with halves of surrogate pairs, too") {
    val window = SlickDequeInv(Concatenate)
    Seq(0xd83d, 0xde00).foreach(half => window.insert(half.toChar.toString))
    val again = TwoStacksLite(Concatenate)
    Snapshot.restore(again, Snapshot.of(window))
    assert(again.query() == window.query())
  }

  test("after a snapshot that is cut off, a window is empty, and the next value enters") {
    val from = SlickDequeInv(Sum[Long])
    Seq(3L, 1L, 4L).foreach(from.insert)
    val window = TwoStacksLite(Sum[Long])
    val cut = Snapshot.of(from).dropRight(1)
    assertThrows[BufferUnderflowException](Snapshot.restore(window, cut))
    assert(window.size == 0)
    window.insert(7L)
    assert(window.query() == 7L)
  }
}
