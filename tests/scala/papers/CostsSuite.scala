package io.sash.papers

import scala.util.Random

import org.scalacheck.Gen
import org.scalacheck.Prop.{forAll, forAllNoShrink, propBoolean}

import io.sash.core.{Element, Laws, Operation, TestColumn}
import io.sash.core.elements.{Elements, InOrderWindow}
import io.sash.core.fat.BaseIntervals
import io.sash.core.inorder.{PrefixAggregates, Recalculate, SlickDequeInvRanges}
import io.sash.core.shared.SuffixWindows
import io.sash.core.slots.Partials
import io.sash.core.stored.{
  HandleCodec,
  MapStore,
  StorableColumn,
  StoredPanes,
  StoredWindows,
  TreeWindow
}
import io.sash.papers.algebra._
import io.sash.papers.fiba.Fiba
import io.sash.papers.inorder.{Daba, SlickDequeInv, TwoStacks, TwoStacksLite}
import io.sash.papers.mta.{Amta, LogMta}
import io.sash.papers.slots.ChunkedPartials
import io.sash.papers.stored.{KvsAmta, PersistentWindow}

/** The costs that scaladoc states and that no suite of an algorithm counts. */
class CostsSuite extends Laws {
  private def sums: TestColumn[Long] = TestColumn(Operation.Sum)

  private def columnOf(window: InOrderWindow): TestColumn[Long] =
    window.column.asInstanceOf[TestColumn[Long]]

  private def insert(window: InOrderWindow, i: Int): Unit = {
    val slot = window.open()
    columnOf(window).lift(slot, Element(i, i))
    window.insert()
  }

  /** The number of levels of a tree of this fan-out over n elements. */
  private def height(n: Long, fanOut: Int): Int =
    Iterator.iterate(n)(_ / fanOut).takeWhile(_ > 0).size

  law("Prefix aggregates: a combine to insert, a copy to evict, a subtraction for a range") {
    forAll(Gen.choose(1, 60), Gen.choose(0, 60), Gen.choose(1, 60)) { (n, a, b) =>
      val window = new PrefixAggregates(TestColumn.invertible(Operation.Sum))
      val cost = new Meter(columnOf(window))
      (0 until n).foreach(insert(window, _))
      val (from, until) = (math.min(a, n), math.min(n, math.min(a, n) + b))
      val inserting = cost(insert(window, n))
      val evicting = cost(window.evict())
      val one = cost(window.range(from, until))
      val three = cost {
        window.begin()
        (0 until 3).foreach(_ => window.append(from, until))
        window.answer()
      }
      val empty = from == until
      (inserting.combines == 1 && inserting.subtracts == 0) :| s"$inserting" &&
      (evicting == Cost(0, 0, 1, 0, 0, 0)) :| s"$evicting" &&
      (one.combines == 0 && one.subtracts == (if (empty) 0 else 1)) :| s"$one" &&
      (empty || (three.combines == 2 && three.subtracts == 3)) :| s"$three" &&
      (columnOf(window).capacity <= 2 * (n + 1) + 16 + 3) :| s"${columnOf(window).capacity} slots"
    }
  }

  law("SlickDeque (Inv) over ranges: a combine and a subtraction each, and nothing to query") {
    forAll(Gen.choose(1, 8), Gen.choose(1, 60)) { (ranges, n) =>
      val window = new SlickDequeInvRanges(TestColumn.invertible(Operation.Sum), ranges)
      val cost = new Meter(columnOf(window))
      val inserting = cost((0 until n).foreach(insert(window, _)))
      val evicting = cost((0 until ranges).foreach(window.evict(_)))
      val asking = cost((0 until ranges).foreach(window.query(_)))
      (inserting.combines == n.toLong * ranges && inserting.subtracts == 0) :| s"$inserting" &&
      (evicting.combines == 0 && evicting.subtracts == ranges) :| s"$evicting" &&
      (asking == Cost(0, 0, 0, 0, 0, 0)) :| s"$asking"
    }
  }

  law("windows as suffixes: the longest window's cost, and a suffix query for each answer") {
    forAll(Gen.choose(1, 60), Gen.listOfN(3, Gen.choose(0, 60))) { (n, evicted) =>
      val (longest, alone) = (new BaseIntervals(sums), new BaseIntervals(sums))
      val windows = new SuffixWindows(longest, evicted.size)
      val (shared, single) = (new Meter(columnOf(longest)), new Meter(columnOf(alone)))
      val moving = shared {
        (0 until n).foreach { i =>
          columnOf(longest).lift(windows.open(), Element(i, i))
          windows.insert()
        }
        for ((count, i) <- evicted.zipWithIndex; _ <- 0 until math.min(count, n)) windows.evict(i)
      }
      val same = single {
        (0 until n).foreach(insert(alone, _))
        (0 until math.min(n, evicted.min)).foreach(_ => alone.evict())
      }
      val answers = evicted.indices.forall { i =>
        shared(windows.query(i)) == single(alone.query(windows.size(i)))
      }
      (moving == same) :| s"$moving, not $same" && answers :| "answers"
    }
  }

  private val keeping = Seq[Partials => Elements](
    new Recalculate(_),
    new TwoStacks(_),
    new Daba(_),
    new BaseIntervals(_),
    new LogMta(_),
    new Amta(_)
  )

  test("an element is read where it lies: no combine and no copy") {
    val inverse = new io.sash.core.inorder.SlickDequeInv(TestColumn.invertible(Operation.Sum))
    for (window <- inverse +: keeping.map(_(sums))) {
      (0 until 100).foreach(insert(window, _))
      (0 until 37).foreach(_ => window.evict())
      val cost = new Meter(columnOf(window))
      val reading = cost((0 until window.size).foreach { i =>
        assert(columnOf(window)(window.element(i)) == 37 + i)
      })
      assert(reading == Cost(0, 0, 0, 0, 0, 0), window.getClass)
    }
  }

  test("FiBA is iterated over without a combine or a copy") {
    val window = new fiba.Window(Operation.Sum, 4)
    window.bulkInsertAt(0L until 1000L)
    window.fiba.bulkEvict(123L)
    var sum = 0L
    val cost = new Meter(window.column)
    val visiting = cost(window.fiba.foreach((_, slot) => sum += window.column(slot)))
    assert(visiting == Cost(0, 0, 0, 0, 0, 0) && sum == (124L until 1000L).sum)
  }

  /** A sum of ints that counts the calls of its functions. */
  private final class Counting {
    var lifts, combines, lowers = 0
    val sum: InvertibleAggregation[Int, Int, Int] = OfFunctions.invertible(0)(
      (i: Int) => {
        lifts += 1
        i
      },
      (a, b) => {
        combines += 1
        a + b
      },
      (a, b) => a - b,
      n => {
        lowers += 1
        n
      }
    )
  }

  test("a snapshot combines nothing; restoring it costs its insertions") {
    val counting = new Counting
    val window = SlickDequeInv(counting.sum)
    val byTime = Fiba(counting.sum)
    (0 until 500).foreach { i =>
      window.insert(i)
      byTime.insert(i.toLong, i)
    }
    counting.combines = 0
    val snapshots = (Snapshot.of(window), Snapshot.of(byTime))
    assert(counting.combines == 0)
    val again = TwoStacksLite(counting.sum)
    Snapshot.restore(again, snapshots._1)
    assert(counting.combines == 499) // into the back stack's aggregate
    def restored(restore: TimedWindow[Int, Int] => Unit): (Int, Int) = {
      counting.combines = 0
      val tree = Fiba(counting.sum)
      restore(tree)
      (counting.combines, tree.query())
    }
    val inBulk = restored(Snapshot.restore(_, snapshots._2))
    val oneByOne = restored(tree => (0 until 500).foreach(i => tree.insert(i.toLong, i)))
    assert(inBulk._1 < oneByOne._1 && inBulk._2 == oneByOne._2)
    assert(again.query() == byTime.query())
  }

  test("on and map call their function once an insertion and once a query") {
    val counting = new Counting
    var parts, answers = 0
    def part(text: String): Int = {
      parts += 1
      text.length
    }
    val window = SlickDequeInv(counting.sum.on(part _).map { n =>
      answers += 1
      -n
    })
    (0 until 10).foreach(_ => window.insert("abc"))
    assert(window.query() == -30 && window.query() == -30)
    assert(parts == 10 && counting.lifts == 10 && answers == 2 && counting.lowers == 2)
    assert(counting.combines == 10)
  }

  test("a product costs a combine of each of its parts") {
    val Seq(a, b, c) = Seq.fill(3)(new Counting)
    val window = TwoStacksLite(Fields(a.sum, b.sum, c.sum)((x, y, z) => x + y + z))
    (1 to 10).foreach(window.insert)
    assert(window.query() == 165)
    assert(Seq(a, b, c).map(_.combines) == Seq(9, 9, 9))
  }

  law("KVS-AMTA: 2 combines to insert, 1 + 1 / (F - 1) to evict, 2 F h in bulk", runs = 20) {
    forAllNoShrink(Gen.choose(100, 3000), Gen.choose(1, 5), Gen.choose(0, 3000)) {
      (n, log, bulk) =>
        val window =
          new KvsAmta(new StorableColumn(Operation.Sum), new MapStore, new HandleCodec, log)
        val fanOut = 1 << log
        val cost = new Meter(columnOf(window))
        val h = height(n.toLong, fanOut)
        val inserting = cost((0 until n).foreach(insert(window, _)))
        var querying, evicting = 0L
        val slides = 3 * n
        val sliding = cost((0 until slides).foreach { i =>
          insert(window, i)
          evicting += cost(window.evict()).combines
          querying = math.max(querying, cost(window.query()).combines)
        })
        val inBulk = cost(window.evict(math.min(bulk, n)))
        (inserting.combines <= 2L * n) :| s"$inserting to insert $n" &&
        (evicting <= slides * (1 + 1.0 / (fanOut - 1)) + (slides / n + 2) * fanOut * h) :|
          s"$evicting combines to evict $slides of $n" &&
          (querying <= 1) :| s"$querying to query" &&
          (inBulk.combines <= 2L * fanOut * h) :| s"$inBulk in bulk" &&
          (sliding.puts == 0) :| "another store"
    }
  }

  law("a persistent window: 2 combines to insert, 1 + 1 / (F - 1) to evict", runs = 20) {
    forAllNoShrink(Gen.choose(100, 3000), Gen.choose(1, 5)) { (n, log) =>
      val counting = new Counting
      val store = new MapStore
      val window = new PersistentWindow(counting.sum, store, log)
      val fanOut = 1 << log
      val h = height(n.toLong, fanOut)
      (0 until n).foreach(i => window.insert(i.toLong, 1))
      val inserting = counting.combines
      counting.combines = 0
      val before = store.gets + store.puts
      val slides = 3 * n
      (0 until slides).foreach { i =>
        window.insert(n.toLong + i, 1)
        window.evict()
      }
      val sliding = counting.combines
      val calls = store.gets + store.puts - before
      counting.combines = 0
      window.query()
      val querying = counting.combines
      counting.combines = 0
      window.evictBefore(n.toLong + slides - 10)
      (inserting <= 2 * n) :| s"$inserting combines to insert $n" &&
      (sliding <= slides * (3 + 1.0 / (fanOut - 1)) + (slides / n + 2) * fanOut * h) :|
        s"$sliding combines in $slides slides of $n" &&
        (querying <= 1) :| s"$querying to query" &&
        (calls <= 5.0 * slides / (fanOut - 1) + 20 * h) :| s"$calls calls in $slides slides" &&
        (counting.combines <= 4 * fanOut * h) :| s"${counting.combines} in bulk" &&
        (window.size == 10) :| s"${window.size}"
    }
  }

  private def storedSums(store: MapStore, logFanOut: Int, windows: Int): StoredWindows =
    new StoredWindows(
      new StorableColumn(Operation.Sum),
      new HandleCodec,
      store,
      logFanOut,
      Seq.fill(windows)(StoredWindows.Shape())
    )

  law("windows over one stream: 3 + 1 / (F - 1) combines an element and window", runs = 20) {
    forAllNoShrink(Gen.choose(100, 2000), Gen.choose(1, 5), Gen.choose(1, 3)) { (n, log, count) =>
      val store = new MapStore
      val windows = storedSums(store, log, count)
      val fanOut = 1 << log
      val cost = new Meter(windows.column.asInstanceOf[TestColumn[Long]], store)
      def slide(i: Int): Unit = {
        val slot = windows.open()
        windows.column.asInstanceOf[TestColumn[Long]].lift(slot, Element(i, i))
        (0 until count).foreach(windows.window(_).insert(slot))
        windows.append(i.toLong)
        (0 until count).foreach { w =>
          windows.window(w).evictTo(math.max(windows.window(w).front, windows.end - n / (w + 1)))
        }
        windows.release()
      }
      (0 until n).foreach(slide)
      val m = 3 * n
      val sliding = cost((n until n + m).foreach(slide))
      val h = height(n.toLong, fanOut)
      (sliding.combines <= count * (m * (3 + 1.0 / (fanOut - 1)) + 2 * fanOut * h)) :|
        s"${sliding.combines} combines for $m of $n" &&
        (sliding.gets + sliding.puts <= count * (5.0 * m / (fanOut - 1) + 10 * h)) :| s"$sliding"
    }
  }

  law("of a stored window an eviction takes 2 F h combines, by time 3 F h", runs = 60) {
    forAllNoShrink(
      Gen.choose(1, 5),
      Gen.choose(50, 6000),
      Gen.choose(0, 6000),
      Gen.choose(0, 6000)
    ) { (log, n, slid, out) =>
      val fanOut = 1 << log
      def evicting(evict: (TreeWindow, Long) => Unit): (Cost, Int) = {
        val store = new MapStore
        val windows = storedSums(store, log, 1)
        val column = windows.column.asInstanceOf[TestColumn[Long]]
        val window = windows.window(0)
        (0 until n + slid).foreach { i =>
          val slot = windows.open()
          column.lift(slot, Element(i, i))
          window.insert(slot)
          windows.append(i.toLong)
          if (i < slid) window.evictTo(math.max(window.front, windows.end - n / 2))
        }
        val cost = new Meter(column, store)(
          evict(window, math.min(windows.end - 1, window.front + 1 + out))
        )
        assert(column(window.query()) == (window.front until windows.end).sum)
        (cost, height(windows.end, fanOut))
      }
      val (one, h) = evicting((window, _) => window.evictTo(window.front + 1))
      val (bulk, _) = evicting((window, to) => window.evictTo(to))
      val (byTime, _) = evicting((window, to) => window.evictBefore(to))
      (one.combines <= 2L * fanOut * h && one.gets <= 2 * h) :| s"$one for one" &&
      (bulk.combines <= 2L * fanOut * h && bulk.gets <= 2 * h) :| s"$bulk for many" &&
      (byTime.combines <= 3L * fanOut * h && byTime.gets <= 5 * h) :| s"$byTime by time"
    }
  }

  law("panes: 3 combines for the last, h for one of the last F, F h for one before", runs = 30) {
    forAllNoShrink(Gen.choose(1, 5), Gen.choose(500, 3000), Gen.choose(0, 3000)) {
      (log, n, late) =>
        val store = new MapStore(changing = true)
        val panes =
          new StoredPanes(new StorableColumn(Operation.Sum), new HandleCodec, store, log)
        def column = panes.column.asInstanceOf[TestColumn[Long]]
        val cost = new Meter(column, store)
        val fanOut = 1 << log
        val h = height(n.toLong, fanOut)
        def add(pane: Long): Unit = {
          column.lift(panes.open(), Element(1, 0))
          panes.add(pane)
        }
        panes.startAt(0L)
        val last = cost((0 until n).foreach { pane =>
          add(pane.toLong)
          add(pane.toLong)
        })
        // beyond the window, which costs its own combines
        val near = cost(add(math.max(n - fanOut, n - 1 - late % fanOut).toLong))
        val far = cost(add((late % n).toLong))
        (last.combines <= 3L * 2 * n) :| s"$last for $n panes, twice each" &&
        (last.puts <= 2.0 * n / (fanOut - 1) + h) :| s"$last for $n panes" &&
        (near.combines <= h + 1) :| s"$near for one of the last $fanOut, height $h" &&
        (far.combines <= fanOut * h) :| s"$far for an older one" &&
        (far.gets <= h && far.puts <= h) :| s"$far for an older one"
    }
  }

  /** A column of a chunk, which says how to copy from another. */
  private final class Chunk(copied: () => Unit) extends TestColumn(Operation.Sum) {
    override def copyFrom(other: Partials, dst: Int, src: Int): Unit = {
      copied()
      put(dst, other.asInstanceOf[Chunk](src))
    }
    override def grow(slots: Int): Chunk = {
      super.grow(slots)
      this
    }
  }

  test("in chunks, a combine copies each operand from another chunk, and growth copies nothing") {
    var copies = 0
    val column = new ChunkedPartials[Chunk](() => new Chunk(() => copies += 1), logSize = 3)
    column.grow(80)
    assert(copies == 0)
    (0 until 80).foreach(slot => column.chunk(slot).lift(column.at(slot), Element(slot, slot)))
    column.grow(800)
    assert(copies == 0)
    val random = new Random(seed)
    (0 until 200).foreach { _ =>
      val Seq(dst, left, right) = Seq.fill(3)(random.nextInt(80))
      copies = 0
      column.combine(dst, left, right)
      assert(copies == Seq(left, right).count(_ / 8 != dst / 8))
    }
  }

  test("FiBA over a column that may throw copies each slot that it overwrites, no more") {
    for (minArity <- Seq(2, 4, 8)) {
      val random = new Random(seed)
      val columns = Seq(new TestColumn(Operation.Sum, total = true), sums)
      val trees = columns.map(new Fiba(_, minArity))
      val Seq(total, risky) = columns.map(new Meter(_))
      def both(call: Fiba => Unit): Seq[Cost] =
        Seq(total(call(trees(0))), risky(call(trees(1))))
      def insert(time: Long)(tree: Fiba): Unit = {
        columns(trees.indexOf(tree)).lift(tree.open(), Element(1, 0))
        tree.insert(time)
      }
      var equal = 0
      (0 until 3000).foreach { i =>
        val time = if (i % 3 == 0) i.toLong else (i - random.nextInt(200)).toLong
        val costs = both(insert(time)) +: (if (i > 500) Seq(both(_.evict())) else Nil)
        for (Seq(a, b) <- costs) {
          assert(b.combines == a.combines && b.writes <= 2 * a.writes, s"step $i")
          if (a.writes == b.writes) equal += 1
        }
      }
      // appends to a leaf with room, and evictions that the left finger can spare
      assert(equal > 500, s"μ = $minArity")
    }
  }
}
