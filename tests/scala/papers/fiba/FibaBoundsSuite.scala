package io.sash.papers.fiba

import java.lang.management.ManagementFactory

import com.sun.management.ThreadMXBean
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tags.Slow

import io.sash.core.{Operation, TestColumn}
import io.sash.core.fat.Unstored

/**
 * The theorems, in combines and in nodes touched. A node has at most 2μ children and 2μ - 1
 * values. So computing its aggregate takes less than 4μ combines, and touches the node and its
 * children. The constants below follow from how often that happens on a level.
 */
@Slow
class FibaBoundsSuite extends AnyFunSuite {
  private val arities = Seq(2, 4, 8)

  private def log(minArity: Int, x: Double): Double =
    math.log(math.max(1, x)) / math.log(minArity)

  private def windowOf(n: Int, minArity: Int, commutes: Boolean = false): Window[Long] = {
    val store = NodeStore(TestColumn(Operation.Sum), minArity)
    val window = new Window(Operation.Sum, store, commutes)
    window.bulkInsertAt(0L until n.toLong)
    window
  }

  for (minArity <- arities) test(s"μ = $minArity: a slide takes O(1) amortised, whatever n") {
    // A query takes 2, an append 1. Closing a leaf takes 1 for each of its entries, and so does
    // taking over a leaf on the left. A level l > 0 sees one entry in (μ + 1)^(l + 1), which
    // takes at most 6μ on each of the levels from l + 2 down. (Only with few leaves is the root
    // the parent. Its aggregate is then computed anew.)
    val bound = 6 + (1 to 20).map(l => 6 * (l + 3) / math.pow(minArity + 1.0, l.toDouble)).sum
    for (n <- Seq(256, 1024, 4096)) {
      val window = windowOf(n, minArity)
      val cost = window.cost((n until 5 * n).foreach { time =>
        window.insert(time.toLong)
        window.fiba.evict()
        window.query()
      })
      assert(cost <= bound * 4 * n, s"at n = $n")
    }
  }

  for (minArity <- arities) test(s"μ = $minArity: query takes 2 combines, 0 in a single leaf") {
    val window = new Window(Operation.Sum, minArity)
    for (time <- 0 until 500) {
      val most = if (window.height > 1) 2 else 0
      assert(window.cost(window.query()) == most)
      window.insert(time.toLong)
    }
  }

  for (minArity <- arities) test(s"μ = $minArity: theorem 1, bulkEvict is O(log m) amortised") {
    val n = 1 << 14
    for (m <- Seq(1, 4, 16, 64, 256, 1024, 4096)) {
      val window = windowOf(n, minArity)
      val rounds = math.max(4, 4096 / m)
      val costs = (1 to rounds).map { r =>
        window.bulkInsertAt((n + (r - 1) * m).toLong until (n + r * m).toLong)
        window.cost(window.fiba.bulkEvict(r.toLong * m - 1))
      }
      // a neighbor and a node of the left spine on each level of the boundary, and on two more
      val bound = 8 * minArity * (log(minArity, m) + 4)
      assert(costs.sum <= bound * rounds, s"at m = $m")
      val worst = 8 * minArity * (window.height + 1)
      assert(costs.max <= worst, s"at m = $m")
      assert(window.fiba.size == n)
    }
  }

  for (minArity <- arities)
    test(s"μ = $minArity: a late insert or remove is O(log d) amortised") {
      val n = 1 << 12
      for (d <- Seq(1, 16, 256, 2000)) {
        val window = windowOf(n, minArity)
        val late = (0 until 500).map(i => n * 1000L - d * 1000L + i)
        window.fiba.clear()
        window.bulkInsertAt((0 until n).map(_ * 1000L))
        val bound = 8 * minArity * (log(minArity, d + 500) + 4) * late.size
        assert(window.cost(late.foreach(window.insert)) <= bound, s"inserting at d = $d")
        assert(window.cost(late.foreach(window.fiba.remove)) <= 2 * bound, s"removing at d = $d")
      }
    }

  for (minArity <- arities)
    test(s"μ = $minArity: where ⊗ commutes, a late insert takes one combine for each aggregate") {
      val n = 1 << 12
      for (d <- Seq(16, 64, 256)) {
        val times = (0 until 20).map(i => (n - d - i * d / 50) * 1000L + 1)
        val (commuting, any) = (windowOf(0, minArity, commutes = true), windowOf(0, minArity))
        val costs = Seq(commuting, any).map { window =>
          window.bulkInsertAt((0 until n).map(_ * 1000L))
          // appends have left room in each leaf
          window.cost(window.insert(times.head))
        }
        // up to the spine, the spine's node itself, and down to the finger
        assert(costs.head <= 2 * commuting.height, s"at d = $d")
        assert(costs.head < costs.last, s"at d = $d")
        times.tail.foreach { time =>
          commuting.insert(time)
          any.insert(time)
          assert(commuting.query() == any.query())
        }
      }
    }

  for (minArity <- arities)
    test(s"μ = $minArity: a change on the right spine takes a combine on each level below") {
      val window = windowOf(1 << 12, minArity)
      window.insert(5000)
      for (level <- (1 until window.height - 1).reverse) {
        val node = window.tree.right(level)
        // with all that is not up to date yet, and then without
        window.insert(window.times(node).last)
        val cost = window.cost(window.insert(window.times(node).last))
        // the value, the node from its slots, and the node with all below it
        assert(cost <= 1 + (4 * minArity - 3) + (level + 1), s"at level $level")
      }
    }

  /** m times, spread over the d youngest of 0, 1000, 2000, … */
  private def spread(n: Int, m: Int, d: Int): Seq[Long] =
    (0 until m).map(i => (n - d) * 1000L + i * 1000L * d / m + 1)

  for (minArity <- arities) test(s"μ = $minArity: theorem 3, bulkInsert") {
    val n = 1 << 13
    for { d <- Seq(16, 256, 4096); m <- Seq(1, 4, 16, 64, 256, 1024) if m <= d } {
      val window = windowOf(0, minArity)
      window.bulkInsertAt((0 until n).map(_ * 1000L))
      val cost = window.cost(window.bulkInsertAt(spread(n, m, d)))
      // both halves of each node on the paths, and the right spine
      val nodes = log(minArity, d) + m * (1 + log(minArity, d.toDouble / m))
      assert(cost <= 8 * minArity * (nodes + 2), s"at d = $d, m = $m")

      val oneByOne = windowOf(0, minArity)
      oneByOne.bulkInsertAt((0 until n).map(_ * 1000L))
      val single = oneByOne.cost(spread(n, m, d).foreach(oneByOne.insert))
      assert(cost <= single, s"at d = $d, m = $m")
    }
  }

  for (minArity <- arities) test(s"μ = $minArity: a bulk in order costs less than its elements") {
    val bulk = windowOf(1000, minArity)
    val single = windowOf(1000, minArity)
    val cost = bulk.cost(bulk.bulkInsertAt(1000L until 9000L))
    assert(cost < single.cost((1000L until 9000L).foreach(single.insert)))
    assert(bulk.query() == single.query())
  }

  for (minArity <- arities)
    test(s"μ = $minArity: a range query is logarithmic in its distances") {
      val n = 1 << 13
      val window = windowOf(n, minArity)
      def bound(d: Int, e: Int): Double =
        4 * minArity * (log(minArity, d) + log(minArity, e) + 4)
      for { d <- Seq(0, 1, 10, 100, 1000); e <- Seq(0, 1, 10, 100, 1000) } {
        val across = window.cost(window.range(d.toLong, (n - 1 - e).toLong))
        assert(across <= bound(d, e), s"from $d to $e before the end")
        val left = window.cost(window.range(d.toLong, (d + e).toLong))
        assert(left <= bound(d, d + e), s"from $d to ${d + e}")
      }
    }

  for (minArity <- arities) test(s"μ = $minArity: a bulk touches O(m + log n) nodes") {
    val n = 1 << 13
    val store = new CountingStore(TestColumn(Operation.Sum), minArity)
    val window = new Window(Operation.Sum, store)
    window.bulkInsertAt(0L until n.toLong)
    def touched(body: => Unit): Int = {
      store.flush()
      body
      store.touched
    }
    // on each level: two nodes with their children, and the nodes that the searches visit
    val perNode = 8 * minArity + 4
    for { (m, round) <- Seq(1, 10, 100, 1000).zipWithIndex } {
      val next = n + 1000L * (round + 1)
      val most = perNode * (m.toDouble / minArity + window.height)
      assert(touched(window.bulkInsertAt(next until next + m)) <= most, s"inserting $m")
      val oldest = window.fiba.oldest
      val logarithmic = perNode * (log(minArity, m) + 4)
      assert(touched(window.fiba.bulkEvict(oldest + m - 1)) <= logarithmic, s"evicting $m")
    }
    assert(new Invariants(window).broken.isEmpty)
  }

  test("evicting nearly all of a window looks at next to nothing of it") {
    val store = new CountingStore(TestColumn(Operation.Sum), 4)
    val window = new Window(Operation.Sum, store)
    window.bulkInsertAt(0L until 20000L)
    store.flush()
    window.fiba.bulkEvict(19900)
    assert(window.fiba.size == 99 && window.query() == (19901L to 19999L).sum)
    assert(store.touched < 100 && store.written < 50)
  }

  for (minArity <- arities) test(s"μ = $minArity: freed nodes are reused, one by one") {
    val window = windowOf(10000, minArity)
    val capacity = window.column.capacity
    for (round <- 1 to 20) {
      val start = 10000L * round
      if (round % 4 == 0) window.fiba.clear() else window.fiba.bulkEvict(start - 1 - round)
      if (round % 2 == 0) window.bulkInsertAt(start until start + 9900)
      else (start until start + 9900).foreach(window.insert)
      assert(window.column.capacity == capacity, s"in round $round")
    }
    assert(new Invariants(window).broken.isEmpty)
  }

  for (minArity <- arities)
    test(s"μ = $minArity: what evictions in bulk and removals cut off is used again") {
      val n = 4000L
      val m = 500L
      val window = windowOf(n.toInt, minArity)
      def slideInBulk(round: Int): Unit = {
        window.bulkInsertAt(n + m * round until n + m * (round + 1))
        window.fiba.bulkEvict(m * (round + 1) - 1)
      }
      (0 until 10).foreach(slideInBulk)
      val sliding = window.column.capacity
      (10 until 100).foreach(slideInBulk)
      assert(window.column.capacity == sliding)

      val times = (window.fiba.oldest + 1 to window.fiba.youngest).filter(_ % 8 > 0)
      def thinOut(): Unit = {
        times.foreach(window.fiba.remove)
        times.foreach(window.insert)
      }
      thinOut()
      val thinning = window.column.capacity
      (1 to 20).foreach(_ => thinOut())
      assert(window.column.capacity == thinning)
    }

  for (minArity <- arities)
    test(s"μ = $minArity: bulks that grow by one each take no more slots than the longest") {
      val most = 1000
      val growing = windowOf(0, minArity)
      for (m <- 1 to most) {
        growing.bulkInsertAt(0L until m.toLong)
        growing.fiba.clear()
      }
      val once = windowOf(most, minArity)
      // slots of earlier, shorter bulks add up to as many again, and the store doubles
      assert(growing.column.capacity <= 4 * once.column.capacity)
    }

  for (minArity <- arities)
    test(s"μ = $minArity: slots that were too few for a bulk become nodes") {
      val store = NodeStore(new Unstored, minArity)
      val few = store.reserve(1024)
      store.reserve(2048)
      val allocated = (1 to 1024 / store.maxArity).map(_ => store.allocate(0))
      assert(allocated.toSet == (few until few + 1024 by store.maxArity).toSet)
    }

  for (minArity <- arities)
    test(s"μ = $minArity: in order, a node has 2μ - 2 values, one by one or in bulk") {
      val n = 1 << 12
      val slid = windowOf(0, minArity)
      for (time <- 0 until 3 * n) {
        slid.insert(time.toLong)
        if (time >= n) slid.fiba.evict()
      }
      for (window <- Seq(slid, windowOf(n, minArity))) {
        def nodes(node: Int): Int = 1 + window.children(node).map(nodes).sum
        // nodes on the spines have more or less than other nodes
        val values = n.toDouble / nodes(window.tree.root)
        assert(math.abs(values / (2 * minArity - 2) - 1) < 0.1)
      }
    }

  test("a leaf takes 64 bytes beside its slots, an inner node 128") {
    val threads = ManagementFactory.getThreadMXBean.asInstanceOf[ThreadMXBean]
    val thread = Thread.currentThread.getId
    for (level <- 0 to 1) {
      val store = NodeStore(new Unstored, 4)
      val nodes = (1 << 16) / (level + 1)
      (1 until nodes).foreach(_ => store.allocate(level))
      val before = threads.getThreadAllocatedBytes(thread)
      store.allocate(level)
      val doubled = threads.getThreadAllocatedBytes(thread) - before
      assert(math.abs(doubled - 2 * nodes * 64 * (level + 1)) < 10000)
    }
  }
}
