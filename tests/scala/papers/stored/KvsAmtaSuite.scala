package io.sash.papers.stored

import java.nio.ByteBuffer
import java.nio.file.Files

import scala.reflect.io.Directory
import scala.util.Random

import org.scalacheck.Gen
import org.scalacheck.Prop.{forAll, propBoolean}

import io.sash.core.{Element, Laws, Operation}
import io.sash.core.slots.{Bytes, Partials}
import io.sash.core.stored.{HandleCodec, KeyValueStore, LongSums, MapStore}
import io.sash.papers.elements.WindowSlidePolicy
import io.sash.papers.mta._

/** KVS-AMTA: local memory, traffic with the store, restarts, and a window in RocksDB. */
class KvsAmtaSuite extends Laws {

  /** A KVS-AMTA of sums over a store. The window holds consecutive numbers from `first` on. */
  private final class Sums(val store: KeyValueStore, logFanOut: Int) {
    var column: LongSums = _
    var window: KvsAmta = _
    private[this] var first = 0L
    create()

    private def create(): Unit = {
      column = new LongSums
      window = new KvsAmta(column, store, LongSums.Codec, logFanOut)
    }

    def restart(): Unit = {
      val header = new Bytes
      window.write(header)
      create()
      window.read(ByteBuffer.wrap(header.toArray))
    }

    def insert(count: Int): Unit =
      InsertedSums.insert(window, column, first + window.size, count)

    def evict(count: Int): Unit = {
      window.evict(count)
      first += count
    }

    def slide(slides: Int): Unit = (0 until slides).foreach { _ =>
      insert(1)
      window.evict()
      first += 1
      check()
    }

    def slideTo(sum: Long): Unit = {
      val before = window.size
      val policy: WindowSlidePolicy = (total, old) => column(total) - column(old) >= sum
      window.evict(policy)
      first += before - window.size
    }

    def check(): Unit =
      assert(column(window.query()) == LongSums.expected(first, window.size))
  }

  /** The levels of n elements. */
  private def levels(n: Int, logFanOut: Int): Int =
    (31 - Integer.numberOfLeadingZeros(n)) / logFanOut + 1

  private def rocks(body: RocksStore => Unit): Unit = {
    val directory = Files.createTempDirectory("kvs-amta")
    try {
      val store = new RocksStore(directory.toString)
      try body(store)
      finally store.close()
    } finally assert(Directory(directory.toFile).deleteRecursively())
  }

  test("a window in RocksDB grows, slides, evicts in bulk, by a policy, and drains") {
    rocks { store =>
      val s = new Sums(store, logFanOut = 3)
      s.insert(10000)
      s.check()
      assert(store.size > 10000 / 8 && s.column.capacity < 10000 / 50)
      s.slide(5000)
      val random = new Random(seed)
      (1 to 20).foreach { _ =>
        s.evict(random.nextInt(s.window.size))
        s.check()
        s.insert(random.nextInt(10000))
        s.check()
        s.slide(random.nextInt(100))
        s.slideTo(s.column(s.window.query()) / 2)
        s.check()
        s.restart()
        s.check()
      }
      while (s.window.size > 0) s.evict(1)
      s.check()
      s.window.clear()
      assert(store.size == 0)
    }
  }

  law("windows in RocksDB equal recalculation", runs = 5) {
    forAll(Move.schedules) { schedule =>
      rocks { store =>
        val algorithm = new MtaAlgorithm("KVS-AMTA in RocksDB") {
          override def window(column: Partials): KvsAmta =
            new KvsAmta(column, store, new HandleCodec, logFanOut = 1)
        }
        val slider = new MtaSlider(algorithm, Both(Count, Operation.Collect))
        check(MtaLaws.equalsRecalculation(slider, schedule, _ => None))
      }
      true
    }
  }

  law("local space: 3 nodes a level", runs = 20) {
    forAll(Gen.choose(1, 30000), Gen.choose(1, 6)) { (n, log) =>
      val s = new Sums(new MapStore, log)
      s.insert(n)
      s.slide(n / 4)
      val bound =
        3 * (1 << log) * levels(n + 1, log) + 8 // and what the window and the search use
      (s.column.capacity <= bound) :| s"${s.column.capacity} slots for $n, not $bound"
    }
  }

  law("traffic: a node of F elements, to insert and to evict one by one", runs = 10) {
    forAll(Gen.choose(1000, 10000), Gen.choose(1, 6)) { (n, log) =>
      val store = new MapStore
      val s = new Sums(store, log)
      s.insert(n)
      val slides = 4 * n
      s.slide(slides)
      val above = (1 << log) - 1.0
      val height = levels(2 * n, log)
      val puts = (n + slides) / above + height
      // the elements from the front on, and at each flip the elements behind the boundary again
      val gets = 2.0 * slides / above + 2 * height * (slides / n + 2)
      val removes = (slides / KvsAmta.RemovedAtOnce + 1.0) * height
      (store.puts <= puts && store.gets <= gets && store.removes <= removes) :|
        s"${store.puts} puts, ${store.gets} gets, ${store.removes} removes, not $puts, $gets, $removes"
    }
  }

  law("a bulk eviction takes O(log n) calls of the store, however many leave", runs = 50) {
    forAll(Gen.choose(1000, 30000), Gen.choose(1, 30000), Gen.choose(1, 6)) { (n, m, log) =>
      val store = new MapStore
      val s = new Sums(store, log)
      s.insert(n)
      val calls = () => store.gets + store.removes + store.puts
      val before = calls()
      s.evict(math.min(m, n))
      val counting = calls() - before
      s.check()
      s.slideTo(s.column(s.window.query()) / 3)
      val sliding = calls() - before - counting
      s.check()
      val height = levels(n, log)
      (counting <= 3 * height && sliding <= 5 * height) :|
        s"$counting calls by count, $sliding by a policy, for ${math.min(m, n)} of $n"
    }
  }

  law(
    "the store holds the nodes of the window, and of a few elements that have left",
    runs = 20
  ) {
    forAll(Gen.choose(1, 10000), Gen.choose(1, 6)) { (n, log) =>
      val store = new MapStore
      val s = new Sums(store, log)
      s.insert(n)
      s.slide(3 * n)
      val sliding = store.size
      s.evict(n)
      val drained = store.size
      s.window.clear()
      def nodes(elements: Int) = elements / ((1 << log) - 1) + levels(4 * n, log)
      val kept = KvsAmta.RemovedAtOnce
      (sliding <= nodes(n + kept) && drained <= nodes(kept) && store.size == 0) :|
        s"$sliding, then $drained, then ${store.size} nodes for $n"
    }
  }

  law("a window goes on after a restart, wherever it stands", runs = 100) {
    forAll(Gen.choose(1, 3), Gen.listOf(Gen.zip(Gen.choose(0, 60), Gen.choose(0, 60)))) {
      (log, moves) =>
        val s = new Sums(new MapStore, log)
        moves.foreach { case (in, out) =>
          s.insert(in)
          s.evict(math.min(out, s.window.size))
          s.restart()
          s.check()
        }
        true
    }
  }

  test("elements may be open ahead of the window, more than a node holds") {
    val s = new MtaSlider(new MtaAlgorithm.Kvs(failing = false), Operation.Collect)
    val elements = Vector.tabulate(500)(i => Element(i, i))
    elements.take(100).foreach(s.insert)
    elements.drop(100).foreach(s.open)
    assert(s.query() == elements.take(100))
    (100 until 500).foreach { i =>
      s.window.insert()
      s.window.evict()
      assert(s.query() == elements.slice(i - 99, i + 1))
    }
  }

  test("a store that fails leaves the window as it was") {
    object Failing extends KeyValueStore {
      var fails = false
      val store = new MapStore(changing = true)
      private def failing(): Unit = if (fails) throw new IllegalStateException("no connection")
      override def put(level: Int, first: Long, values: Array[Array[Byte]]): Unit = {
        failing()
        store.put(level, first, values)
      }
      override def get(level: Int, first: Long, count: Int): Array[Array[Byte]] = {
        failing()
        store.get(level, first, count)
      }
      override def remove(level: Int, from: Long, until: Long): Unit = {
        failing()
        store.remove(level, from, until)
      }
    }
    val s = new Sums(Failing, logFanOut = 2)
    def failing(body: => Unit): Unit = {
      Failing.fails = true
      assert(intercept[IllegalStateException](body).getMessage == "no connection")
      Failing.fails = false
    }
    s.insert(1000)
    failing(s.window.evict(77)) // reads the nodes of the front
    s.check()
    s.evict(77)
    s.check()
    s.insert(3)
    s.column(s.window.open()) = 1003L
    failing(s.window.insert()) // stores the node of 1000, 1001, 1002 and 1003
    s.check()
    s.window.insert()
    s.check()
    failing(s.window.evict(s.window.size)) // removes nodes, after the elements have left
    assert(s.window.size == 0 && Failing.store.size > 0)
    s.window.clear()
    assert(Failing.store.size == 0)
    val filled = new Sums(Failing, logFanOut = 2)
    filled.insert(100)
    failing(filled.window.clear()) // removes nodes, after the window has become empty
    assert(filled.window.size == 0 && Failing.store.size > 0)
    (0L until 100L).foreach { n =>
      filled.column(filled.window.open()) = n
      filled.window.insert()
    }
    assert(filled.column(filled.window.query()) == 4950L)
  }
}
