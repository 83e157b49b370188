package io.sash.papers.fiba

import org.scalatest.funsuite.AnyFunSuite

import io.sash.core.{Element, Operation}

/** The worked examples of the 2023 paper. */
class FibaExampleSuite extends AnyFunSuite {

  /** The window with this tree. Time 1 has the value a, time 2 the value b, and so on. */
  private def windowOf(drawn: Drawn): Window[String] = {
    val window = new Window(Operation.Concat, 2)
    val tree = window.fiba.tree
    val store = window.store
    def plant(d: Drawn): Int = {
      val node = store.allocate(d.height)
      store.setArity(node, d.times.size + 1)
      for ((time, i) <- d.times.zipWithIndex) {
        store.setTime(node, i, time.toLong)
        window.column.lift(store.slot(node, i), Element(time - 1, time))
      }
      for ((child, i) <- d.children.zipWithIndex) store.setChild(node, i, plant(child))
      node
    }
    def refresh(node: Int, level: Int): Unit = if (level > 0) {
      for ((child, i) <- window.children(node).zipWithIndex) {
        refresh(child, level - 1)
        tree.refresh(node, level - 1, i)
      }
    }
    def entries(d: Drawn): Int = d.times.size + d.children.map(entries).sum
    while (tree.height < drawn.height) tree.growAbove()
    tree.size = entries(drawn)
    tree.becomeRoot(plant(drawn), drawn.height)
    for (level <- (0 until drawn.height).reverse) {
      tree.left(level) = window.children(tree.left(level + 1)).head
      tree.setRight(level, window.children(tree.right(level + 1)).last)
    }
    refresh(tree.root, tree.height)
    tree.passDown()
    assert(new Invariants(window).broken.isEmpty)
    window
  }

  private def leaf(times: Int*): Drawn = Drawn(times)

  /** Figure 1: a to v at times 1 to 22 without 16, and MIN_ARITY 2. */
  private def figure1: Window[String] = windowOf(
    Drawn(
      Seq(7, 15),
      Drawn(Seq(3), leaf(1, 2), leaf(4, 5, 6)),
      Drawn(Seq(9, 12), leaf(8), leaf(10, 11), leaf(13, 14)),
      Drawn(Seq(20), leaf(17, 18, 19), leaf(21, 22))
    )
  )

  test("figure 1: the aggregates of its nodes") {
    val window = figure1
    import window.{children, column, store, tree}
    val Seq(left, _, right) = children(tree.root)
    assert(column(store.aggregate(tree.root, 1)) == "hijklmn", "up")
    assert(column(store.aggregate(right, 0)) == "qrs", "up")
    assert(column(tree.rightAggregate(2)) == "ghijklmno", "inner")
    assert(tree.left(1) == left && column(tree.leftAggregate(1)) == "cdef", "left")
    assert(tree.right(1) == right && column(tree.rightAggregate(1)) == "qrst", "right")
    assert(column(tree.rightAggregate(0)) == "qrstuv", "right")
    assert(column(tree.leftAggregate(0)) == "abcdef", "left, of the left finger")
  }

  test("figure 1: query is left finger ⊗ root ⊗ right finger, in two combines") {
    val window = figure1
    assert(window.cost(assert(window.query() == "abcdefghijklmnoqrstuv")) == 2)
  }

  test("figure 1: 2, 5 and 1 make qrs = max(4, 2, 5) = 5") {
    val window = new Window(Operation.Max, 2)
    Seq(4, 2, 5).zipWithIndex.foreach { case (v, i) => window.insert(17L + i, Element(v, i)) }
    assert(window.query().map(_.value).contains(5))
  }

  test("figure 2: a move takes entries from a neighbor that is no sibling") {
    val window = windowOf(
      Drawn(
        Seq(6, 16),
        Drawn(Seq(2, 4), leaf(1), leaf(3), leaf(5)),
        Drawn(Seq(10, 12, 14), leaf(7, 8, 9), leaf(11), leaf(13), leaf(15)),
        Drawn(Seq(18), leaf(17), leaf(19))
      )
    )
    // the boundary goes down to the leaf [5], whose neighbor [7 8 9] hangs below [10 12 14]
    window.fiba.bulkEvict(5)
    assert(
      window.shape == Seq(
        Seq(Seq(10, 16)),
        Seq(Seq(7), Seq(12, 14), Seq(18)),
        Seq(Seq(6), Seq(8, 9), Seq(11), Seq(13), Seq(15), Seq(17), Seq(19))
      )
    )
    assert(new Invariants(window).broken.isEmpty && window.query() == "fghijklmnopqrs")
  }

  test("figure 3: a merge with a neighbor that is no sibling takes the path between along") {
    val window = windowOf(
      Drawn(
        Seq(6, 15),
        Drawn(Seq(2, 4), leaf(1), leaf(3), leaf(5)),
        Drawn(Seq(8, 10), leaf(7), leaf(9), leaf(11, 12)),
        Drawn(Seq(18), leaf(17), leaf(19))
      )
    )
    window.fiba.bulkEvict(5)
    assert(
      window.shape == Seq(
        Seq(Seq(15)),
        Seq(Seq(8, 10), Seq(18)),
        Seq(Seq(6, 7), Seq(9), Seq(11, 12), Seq(17), Seq(19))
      )
    )
    assert(new Invariants(window).broken.isEmpty && window.query() == "fghijkloqrs")
  }

  test("figure 4: a node of the right spine becomes the root") {
    val window = figure1
    window.fiba.bulkEvict(17)
    assert(window.shape == Seq(Seq(Seq(20)), Seq(Seq(18, 19), Seq(21, 22))))
    assert(new Invariants(window).broken.isEmpty && window.query() == "rstuv")
    assert(window.fiba.size == 5)
  }

  test("figure 5: the only child of a node of the right spine becomes the root") {
    val window = figure1
    window.fiba.bulkEvict(20)
    assert(window.shape == Seq(Seq(Seq(21, 22))))
    assert(new Invariants(window).broken.isEmpty && window.query() == "uv")
    assert(window.fiba.size == 2)
  }

  test("claim 1: p = 2μ + 3 at μ = 4 is (μ + 1) + (μ + 2)") {
    val window = new Window(Operation.Concat, 4)
    window.bulkInsertAt(Seq(0, 100))
    // arity 2 · 4 + 3 means ten entries
    window.bulkInsertAt(1L to 8L)
    assert(window.shape == Seq(Seq(Seq(4)), Seq(Seq(0, 1, 2, 3), Seq(5, 6, 7, 8, 100))))
    assert(Pieces.splits(2 * 4 + 3, 4) == 1)
  }

  test("claim 1: p = 7μ + 2 at μ = 2 is four times μ + 1 and 2μ, with four entries promoted") {
    val window = new Window(Operation.Concat, 2)
    window.bulkInsertAt(Seq(0, 100))
    window.bulkInsertAt(1L to 13L)
    assert(
      window.shape == Seq(
        Seq(Seq(8)),
        Seq(Seq(2, 5), Seq(11)),
        Seq(Seq(0, 1), Seq(3, 4), Seq(6, 7), Seq(9, 10), Seq(12, 13, 100))
      )
    )
    assert(Pieces.splits(7 * 2 + 2, 2) == 4)
  }

  test("claim 1 holds for every arity") {
    for {
      minArity <- Seq(2, 4, 8, 16, 32)
      arity <- 2 * minArity + 1 to 40 * minArity
    } {
      val splits = Pieces.splits(arity, minArity)
      val last = arity - splits * (minArity + 1)
      assert(splits >= 1 && last >= minArity && last <= 2 * minArity)
    }
  }

  test("section 1: inserting 61 into a window of 60 seconds evicts five elements at once") {
    val window = new Window(Operation.Sum, 2)
    val tenths = Seq(1L, 2, 3, 4, 5, 100, 200, 300, 400, 500, 600)
    window.bulkInsertAt(tenths)
    window.insert(610)
    window.fiba.bulkEvict(610 - 600)
    assert(window.fiba.size == 7 && window.query() == 2100L + 610)
  }
}

/** A tree in the form of a drawing: times and, above the leaves, children. */
private final case class Drawn(times: Seq[Int], children: Drawn*) {
  def height: Int = children.headOption.fold(0)(_.height + 1)
}
