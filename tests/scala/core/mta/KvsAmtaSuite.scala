package io.sash.core.mta

import java.nio.file.Files

import scala.reflect.io.Directory
import scala.util.Random

import org.scalacheck.Gen
import org.scalacheck.Prop.{forAll, propBoolean}

import io.sash.core.{Element, Laws, Operation}
import io.sash.core.slots.Partials

/** KVS-AMTA: local memory, traffic with the store, and a window in RocksDB. */
class KvsAmtaSuite extends Laws {

  /** A KVS-AMTA of sums over a store. The window holds consecutive numbers from `first` on. */
  private final class Sums(val store: KeyValueStore, buffer: Int) {
    val column = new LongSums
    val window = new KvsAmta(column, store, LongSums.Codec, buffer)
    private[this] var first = 0L

    def insert(count: Int): Unit =
      LongSums.insert(window, column, first + window.size, count)

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

  private def log2(n: Int): Int = 31 - Integer.numberOfLeadingZeros(n)

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
      val s = new Sums(store, buffer = 64)
      s.insert(10000)
      s.check()
      assert(store.size > 18000 && s.column.capacity < 10000 / 5)
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
            new KvsAmta(column, store, new HandleCodec, buffer = 4)
        }
        val slider = new MtaSlider(algorithm, Both(Count, Operation.Collect))
        check(MtaLaws.equalsRecalculation(slider, schedule, _ => None))
      }
      true
    }
  }

  law("local space: 2 buffers for each level that is stored, one for others", runs = 20) {
    forAll(Gen.choose(1, 30000), Gen.oneOf(4, 16, 64)) { (n, buffer) =>
      val s = new Sums(new MapStore, buffer)
      s.insert(n)
      s.slide(n / 4)
      val levels = log2(n + 2)
      val stored = (0 until levels).count(l => (n + 1 >> l) > buffer / 2)
      val bound = buffer * (levels + stored) + 69
      (s.column.capacity <= bound) :| s"${s.column.capacity} slots for $n, not $bound"
    }
  }

  law("traffic: batches of a buffer, to insert and to evict one by one", runs = 5) {
    forAll(Gen.choose(1000, 10000), Gen.oneOf(16, 64)) { (n, buffer) =>
      val store = new MapStore
      val s = new Sums(store, buffer)
      s.insert(n)
      val slides = 4 * n
      s.slide(slides)
      val levels = log2(n)
      // level l has 1 / 2^l of the nodes; once a walk is under way, a read gets half a buffer
      val puts = 2.0 * (n + slides) / (buffer - 2) + levels
      val gets = 4.0 * slides / buffer + levels * (log2(buffer) + 2)
      val removes = 4.0 * slides / buffer + 2 * puts
      (store.puts <= puts && store.gets <= gets && store.removes <= removes) :|
        s"${store.puts} puts, ${store.gets} gets, ${store.removes} removes, not $puts, $gets, $removes"
    }
  }

  law("a bulk eviction takes O(log n) calls of the store, however many leave", runs = 20) {
    forAll(Gen.choose(1000, 30000), Gen.choose(1, 30000)) { (n, m) =>
      val store = new MapStore
      val s = new Sums(store, 16)
      s.insert(n)
      val calls = () => store.gets + store.removes + store.puts
      val before = calls()
      s.evict(math.min(m, n))
      val counting = calls() - before
      s.check()
      s.slideTo(s.column(s.window.query()) / 3)
      val sliding = calls() - before - counting
      s.check()
      (counting <= 4 * log2(n) && sliding <= 7 * log2(n)) :|
        s"$counting calls by count, $sliding by a policy, for ${math.min(m, n)} of $n"
    }
  }

  law("the store holds 2n values, and a few buffers that have left", runs = 20) {
    forAll(Gen.choose(1, 10000), Gen.oneOf(4, 16, 64)) { (n, buffer) =>
      val store = new MapStore
      val s = new Sums(store, buffer)
      s.insert(n)
      s.slide(3 * n)
      val sliding = store.size
      s.evict(n)
      val drained = store.size
      s.window.clear()
      val waste = 2 * buffer * log2(2 * n)
      (sliding <= 2 * n + waste && drained <= waste && store.size == 0) :|
        s"$sliding, then $drained, then ${store.size} values for $n"
    }
  }

  test("elements may be open ahead of the window, more than a buffer holds") {
    val s = new MtaSlider(MtaAlgorithm.Kvs, Operation.Collect)
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

  test("a store that fails: the window works again once it is cleared") {
    object Failing extends KeyValueStore {
      var fails = false
      private[this] val store = new MapStore
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
    val column = new LongSums
    val window = new KvsAmta(column, Failing, LongSums.Codec, buffer = 4)
    LongSums.insert(window, column, 0L, 1000)
    Failing.fails = true
    val error = intercept[IllegalStateException](window.evict(77))
    assert(error.getMessage == "no connection")
    Failing.fails = false
    window.clear()
    assert(window.size == 0 && column(window.query()) == 0L)
    LongSums.insert(window, column, 5L, 1000)
    window.evict(77)
    assert(column(window.query()) == LongSums.expected(5L + 77, 1000 - 77))
  }
}
