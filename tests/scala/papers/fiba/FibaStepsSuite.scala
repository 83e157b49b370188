package io.sash.papers.fiba

import org.scalatest.funsuite.AnyFunSuite

import io.sash.core.{Operation, TestColumn}

/**
 * The theorems, in steps from node to node: the nodes read to find a place, and the nodes touched
 * to update aggregates. Combines alone could not tell a search from the finger from a search from
 * the root. Here n = 2^15^ entries, which makes 9 levels at μ = 2 and 6 at μ = 4.
 */
class FibaStepsSuite extends AnyFunSuite {
  private val arities = Seq(2, 4)
  private val n = 1 << 15
  private val distances = Seq(1, 2, 3, 5, 10, 30, 100, 300, 1000)

  /** A window at the times 0, 10, 20, …, filled in order, which counts steps. */
  private final class Counted(minArity: Int, n: Int = n) {
    val store = new CountingStore(TestColumn(Operation.Sum), minArity)
    val window = new Window(Operation.Sum, store)
    window.bulkInsertAt((0 until n).map(_ * 10L))

    def during(body: => Unit): CountingStore = {
      store.flush()
      body
      store
    }
  }

  private def log(minArity: Int, x: Double): Double =
    math.log(math.max(1, x)) / math.log(minArity)

  /**
   * The levels that a search rises to a distance: a spine's node at level l has μ^l^ entries
   * below.
   */
  private def levels(minArity: Int, d: Int): Double = log(minArity, d) + 1

  /** The times just before the d-th entry from either end. */
  private def near(d: Int): Seq[Long] = Seq(10L * (n - d) - 5, 10L * d - 5)

  // all touch the root and the fingers
  private val ends = 3

  for (minArity <- arities) test(s"μ = $minArity: insert and remove search O(log d) nodes") {
    for (d <- distances; time <- near(d)) {
      val c = new Counted(minArity)
      // up a spine and down
      val most = 2 * levels(minArity, d) + ends
      // on each level a node with its sibling, and one of the spine
      val mostInAll = most + 2 * levels(minArity, d)
      val inserting = c.during(c.window.insert(time))
      assert(inserting.searchTouched <= most, s"inserting at $d")
      assert(inserting.touched <= mostInAll, s"inserting at $d")
      assert(inserting.steps <= 2 * mostInAll, s"inserting at $d")
      val removing = c.during(c.window.fiba.remove(time))
      assert(removing.searchTouched <= most, s"removing at $d")
      assert(removing.touched <= mostInAll, s"removing at $d")
      assert(removing.steps <= 2 * mostInAll, s"removing at $d")
    }
  }

  for (minArity <- arities) test(s"μ = $minArity: so they do however full the spines are") {
    for (size <- 600 until 1000 by 7; evicted <- Seq(0, size % 60)) {
      val c = new Counted(minArity, size + evicted)
      (0 until evicted).foreach(_ => c.window.fiba.evict())
      for {
        d <- Seq(1, 3, 10, 30, 100)
        time <- Seq(10L * (size + evicted - d) - 5, 10L * (evicted + d) - 5)
      } {
        val inserting = c.during(c.window.insert(time))
        val most = 2 * levels(minArity, d) + ends
        assert(inserting.searchTouched <= most, s"$d from an end of $size, $evicted evicted")
        c.window.fiba.remove(time)
      }
    }
  }

  for (minArity <- arities) test(s"μ = $minArity: theorem 1, bulkEvict searches O(log m) nodes") {
    for (m <- distances) {
      val c = new Counted(minArity)
      val evicting = c.during(c.window.fiba.bulkEvict(10L * m - 5))
      // up and down
      assert(evicting.searchTouched <= 2 * levels(minArity, m) + ends, s"at $m")
      assert(evicting.steps <= (8 * minArity + 3) * levels(minArity, m), s"at $m")
      assert(c.window.fiba.size == n - m)
    }
  }

  for (minArity <- arities)
    test(s"μ = $minArity: theorem 3, bulkInsert enters each node once") {
      for { d <- distances; m <- Seq(1, 8, 64, 512) if m <= d; time <- near(d) } {
        val c = new Counted(minArity)
        val toEnd = if (time > 5L * n) d else m
        val times = (0 until m).map(i => time + 10L * i * toEnd / m)
        val inserting = c.during(c.window.bulkInsertAt(times))
        val rise = 2 * levels(minArity, d + toEnd)
        val theorem = log(minArity, d) + m * (1 + log(minArity, d.toDouble / m))
        // each node on the paths, and one that was split off, with its parent
        assert(inserting.touched <= 2 * (rise + theorem) + ends, s"d = $d, m = $m")
        assert(inserting.steps <= 3 * (rise + theorem) + ends, s"d = $d, m = $m")
      }
    }

  for (minArity <- arities) test(s"μ = $minArity: bulkInsert rises no higher than it has to") {
    for (d <- Seq(1, 2, 3); time <- near(d)) {
      val c = new Counted(minArity)
      val inserting = c.during(c.window.bulkInsertAt(Seq(time, time + 1)))
      assert(inserting.touched <= 2 * levels(minArity, d) + ends + 1, s"at $time")
    }
  }

  for (minArity <- arities) test(s"μ = $minArity: a range is searched from the nearer ends") {
    val c = new Counted(minArity)
    for (d <- distances; e <- distances if e < d) {
      def bound(d: Int): Double = 2 * levels(minArity, d)
      val right = c.during(c.window.range(10L * (n - d), 10L * (n - e)))
      assert(right.steps <= bound(d), s"from $d to $e before the end")
      val left = c.during(c.window.range(10L * e, 10L * d))
      assert(left.steps <= bound(d), s"from $e to $d")
      val across = c.during(c.window.range(10L * e, 10L * (n - d)))
      assert(across.steps <= bound(d) + bound(e), s"from $e to $d before the end")
      assert(c.store.written == 0)
    }
    for (d <- distances; time <- near(d).map(_ + 5)) {
      // both ends rise, and one path leads down
      val one = c.during(c.window.range(time, time))
      assert(one.steps <= levels(minArity, d), s"one entry, at $d")
    }
  }

  for (minArity <- arities)
    test(s"μ = $minArity: query reads no node, and most slides only a finger") {
      val c = new Counted(minArity)
      assert(c.during(c.window.query()).steps == 0 && c.store.touched == 0)
      val appending, evicting = Array.fill(2)(0)
      for (i <- 0 until 1000) {
        val combines = c.window.column.combines
        val steps = c.during(c.window.insert(10L * (n + i))).steps
        if (steps == 0) {
          assert(c.window.column.combines == combines + 1 && c.store.written == 1, s"append $i")
          appending(0) += 1
        }
        val before = c.window.column.combines
        if (c.during(c.window.fiba.evict()).steps == 0) {
          assert(c.window.column.combines == before && c.store.written == 0, s"evict $i")
          evicting(0) += 1
        }
      }
      // a leaf is begun and used up once in 2μ - 1 slides
      val most = 1000 * (2 * minArity - 2) / (2 * minArity - 1) - 2
      assert(appending(0) >= most && evicting(0) >= most, s"$appending, $evicting")
    }

  for (minArity <- arities)
    test(s"μ = $minArity: a slide takes O(1) steps amortised, whatever n") {
      val slides = 4096
      val costs = Seq(1 << 8, 1 << 11, 1 << 14).map { n =>
        val c = new Counted(minArity, n)
        c.during(for (i <- 0 until slides) {
          c.window.insert(10L * (n + i))
          c.window.fiba.evict()
          c.window.query()
        }).steps
      }
      // a leaf is begun and used up once in 2μ - 1 slides, a higher level less often still
      assert(costs.forall(_ <= 6.0 / minArity * slides), costs)
    }

  test("clear touches a path for its new leaf, and no other node") {
    val c = new Counted(4)
    val height = c.window.height
    assert(c.during(c.window.fiba.clear()).touched <= height + ends)
    c.window.bulkInsertAt((0 until n).map(_.toLong))
    assert(c.during(c.window.fiba.bulkEvict(n - 1L)).touched <= height + ends)
  }

  for (minArity <- arities)
    test(s"μ = $minArity: an append opens no more than a path of freed nodes") {
      val store = new CountingStore(TestColumn(Operation.Sum), minArity)
      val window = new Window(Operation.Sum, store)
      // many inner nodes, which merges free one by one without children
      val times = 1L to 5000L
      times.reverse.foreach(window.insert(_))
      times.tail.reverse.foreach(window.fiba.remove)
      val most = (5001L to 20000L).map { time =>
        store.flush()
        window.insert(time)
        store.touched
      }.max
      assert(most <= 4 * levels(minArity, 5000) + ends)
    }

  for (minArity <- arities)
    test(s"μ = $minArity: the deferred free list takes a node at a time, whatever hangs below") {
      val store = NodeStore(TestColumn(Operation.Sum), minArity)
      val window = new Window(Operation.Sum, store)
      for (_ <- 1 to 3) {
        window.bulkInsertAt(0L until n.toLong)
        val (before, height) = (store.listed, window.height)
        window.fiba.clear()
        // the root, and a path down to the new tree's leaf
        assert(store.listed - before <= store.maxArity * height)
      }
      window.bulkInsertAt(0L until n.toLong)
      val (listed, height) = (store.listed, window.height)
      window.fiba.bulkEvict(n - 100L)
      assert(store.listed - listed <= 2 * minArity * height)
    }
}
