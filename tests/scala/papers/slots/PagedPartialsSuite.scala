package io.sash.papers.slots

import java.nio.ByteBuffer

import scala.collection.mutable

import org.scalatest.funsuite.AnyFunSuite

import io.sash.core.inorder.{InOrderWindow, TwoStacksLite}
import io.sash.core.slots.{Bytes, PageStore, Pages, Partials, SlotCodec, Slots}
import io.sash.papers.algebra.{Column, Sum}
import io.sash.papers.inorder.{Daba, DabaLite, FlatFit, TwoStacks}

/** Windows over a column that lives in a store, except for a few pages. */
class PagedPartialsSuite extends AnyFunSuite {
  private val inMemory = Pages.Frames * Pages.Size

  private object Codec extends SlotCodec {
    private def sums(slots: Slots): Column[Long, Long] = slots.asInstanceOf[Column[Long, Long]]

    override def write(slots: Slots, slot: Int, out: Bytes): Unit =
      out.putLong(sums(slots).lower(slot))

    override def read(slots: Slots, slot: Int, in: ByteBuffer): Unit =
      sums(slots).lift(slot, in.getLong())
  }

  private final class MemoryStore extends PageStore {
    private val pages = mutable.Map.empty[Int, Array[Byte]]
    var stores = 0
    var fetches = 0

    override def store(page: Int, bytes: Array[Byte], length: Int): Unit = {
      stores += 1
      pages(page) = bytes.take(length)
    }

    override def fetch(page: Int): Array[Byte] = {
      fetches += 1
      pages(page)
    }
  }

  private val algorithms: Seq[(String, Partials => InOrderWindow)] = Seq(
    "Two-Stacks" -> (new TwoStacks(_)),
    "Two-Stacks Lite" -> (new TwoStacksLite(_)),
    "DABA" -> (new Daba(_)),
    "DABA Lite" -> (new DabaLite(_)),
    "FlatFIT" -> (new FlatFit(_))
  )

  for ((name, make) <- algorithms)
    test(s"$name: a window of more pages than are resident, each read once a pass") {
      val resident = Sum[Long].newColumn()
      val store = new MemoryStore
      val column = new PagedPartials(resident, Codec, store)
      val window = make(column)
      val n = 3 * inMemory
      var sum = 0L
      def insert(i: Int): Unit = {
        resident.lift(column.written(window.open()), i.toLong * i)
        window.insert()
        sum += i.toLong * i
      }
      (0 until n).foreach(insert)
      (n until 3 * n).foreach { i =>
        window.evict()
        val oldest = (i - n).toLong
        sum -= oldest * oldest
        insert(i)
        assert(resident.lower(column.read(window.query())) == sum, s"row $i")
      }
      val pages = 3 * n / Pages.Size
      assert(store.fetches > pages && store.fetches < 16 * pages, s"${store.fetches} fetches")
      assert(store.stores < 16 * pages, s"${store.stores} stores")
    }

  test("what a page holds comes back after any walk") {
    val resident = Sum[Long].newColumn()
    val column = new PagedPartials(resident, Codec, new MemoryStore)
    val slots = 5 * inMemory
    column.grow(slots)
    (0 until slots).foreach(s => resident.lift(column.written(s), s.toLong))
    val random = new scala.util.Random(7L)
    val model = Array.tabulate(slots)(_.toLong)
    (0 until 20000).foreach { _ =>
      val Seq(dst, left, right) = Seq.fill(3)(random.nextInt(slots))
      column.combine(dst, left, right)
      model(dst) = model(left) + model(right)
      assert(resident.lower(column.read(dst)) == model(dst), "seed 7")
    }
    column.move(100, 90, 3000)
    System.arraycopy(model, 90, model, 100, 3000)
    (0 until slots).foreach(s => assert(resident.lower(column.read(s)) == model(s), s"slot $s"))
  }
}
