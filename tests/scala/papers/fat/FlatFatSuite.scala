package io.sash.papers.fat

import org.scalacheck.{Gen, Prop}
import org.scalacheck.Prop.{forAllNoShrink, propBoolean}

import io.sash.core.{Element, Laws, Operation, TestColumn}
import io.sash.core.fat.RecordingColumn

/** Section 4 of the Reactive Aggregator's paper: laws, theorem 4.2, figures 3 and 4. */
class FlatFatSuite extends Laws {
  private final class Tree[A](operation: Operation[A], n: Int) {
    val column = new RecordingColumn(operation)
    val fat = new FlatFat(column, n)
    var model: Vector[Element] = Vector.empty

    def fill(elements: Seq[Element]): this.type = {
      elements.indices.foreach(i => column.lift(fat.leaf(i + 1), elements(i)))
      model = elements.toVector
      fat.build()
      this
    }

    def update(changes: Seq[(Int, Element)]): Unit = {
      changes.foreach { case (i, element) =>
        column.lift(fat.leaf(i), element)
        model = model.updated(i - 1, element)
      }
      val locations = changes.map(_._1).toArray :+ -1 // locations beyond the count are not read
      fat.update(locations, changes.length)
    }

    def cost(body: => Unit): Int = column.combinedBy(body).length

    def isCombined(slot: Int, left: Int, right: Int): Boolean =
      column(slot) == operation.combine(column(left), column(right))

    /** The first answer that differs from the model's. */
    def wrongAnswer: Option[String] = {
      fat.checkInvariants(isCombined)
      val answers = for {
        i <- (1 to n).iterator
        j <- 1 to n
        elements = if (i <= j) model.slice(i - 1, j) else model.drop(i - 1) ++ model.take(j)
        if column(fat.range(i, j)) != operation.aggregate(elements)
      } yield s"range($i, $j)"
      def prefixes = (1 to n).find { i =>
        column(fat.prefix(i)) != operation.aggregate(model.take(i))
      }
      def suffixes = (1 to n).find { j =>
        column(fat.suffix(j)) != operation.aggregate(model.drop(j - 1))
      }
      answers
        .nextOption()
        .orElse(prefixes.map(i => s"prefix($i)"))
        .orElse(suffixes.map(j => s"suffix($j)"))
        .orElse(Option.when(column(fat.aggregate()) != operation.aggregate(model))("aggregate()"))
    }
  }

  private def tree(n: Int): Tree[Long] =
    new Tree(Operation.Sum, n).fill((1 to n).map(i => Element(i, i)))

  private val powers = Gen.choose(0, 10).map(1 << _)

  /** ⌈log(n/m)⌉ */
  private def ceilLog(n: Int, m: Int): Int =
    Iterator.from(0).dropWhile(l => (m.toLong << l) < n).next()

  private def log(n: Int): Int = ceilLog(n, 1)

  /** The law for one operation: a tree, then batches of changes in any order. */
  private def agrees[A](operation: Operation[A]): Prop =
    forAllNoShrink(Gen.choose(0, 4), Gen.listOf(Gen.listOf(Gen.choose(0, 999)))) {
      (levels, batches) =>
        val n = 1 << levels
        val tree = new Tree(operation, n).fill((0 until n).map(i => Element(i % 4, i)))
        val wrong = tree.wrongAnswer.orElse {
          batches.zipWithIndex.iterator
            .flatMap { case (batch, b) =>
              val changes = batch.distinctBy(_ % n).zipWithIndex.map { case (draw, k) =>
                (draw % n + 1, Element(draw / 16 - 5, n * (b + 1) + k))
              }
              tree.update(changes)
              tree.wrongAnswer.map(w => s"$w after batch $b")
            }
            .nextOption()
        }
        wrong.isEmpty :| s"n = $n: ${wrong.getOrElse("")}"
    }

  for (operation <- Operation.All)
    law(s"all answers over $operation are those of a plain sequence", runs = 40) {
      agrees(operation)
    }

  law("theorem 4.2 (i): new takes n - 1 combines", runs = 11) {
    forAllNoShrink(powers) { n =>
      val t = tree(n)
      (t.column.combines == n - 1L) :| s"${t.column.combines} at $n"
    }
  }

  law("theorem 4.2 (ii): update of m leaves takes at most m(1 + ⌈log(n/m)⌉) combines") {
    forAllNoShrink(powers.flatMap(n => Gen.zip(Gen.const(n), Gen.choose(1, n), Gen.long))) {
      case (n, m, order) =>
        val t = tree(n)
        val locations = new scala.util.Random(order).shuffle((1 to n).toVector).take(m).toArray
        val changed = t.column.combinedBy(t.fat.update(locations, m))
        // claim 4.3: at level l at most min(m, n/2^l) nodes, each once, and level after level
        val perLevel = changed.groupBy(node => log(n) - log(Integer.highestOneBit(node)))
        val claimed = perLevel.forall { case (l, nodes) => nodes.length <= math.min(m, n >> l) }
        val ancestors = locations.toSet.flatMap((i: Int) =>
          Iterator.iterate((n + i - 1) >> 1)(_ >> 1).takeWhile(_ > 0).toSet
        )
        (changed.length <= m * (1 + ceilLog(n, m)) && claimed) :| s"$changed at n = $n, m = $m" &&
        (changed.toSet == ancestors && changed.distinct == changed) :| "just the ancestors, once" &&
        (changed
          .map(Integer.highestOneBit)
          .sliding(2)
          .forall(p => p.head >= p.last)) :| "by level"
    }
  }

  law("theorem 4.2 (iii): prefix and suffix take at most log n combines, aggregate none") {
    forAllNoShrink(powers.flatMap(n => Gen.zip(Gen.const(n), Gen.choose(1, n)))) { case (n, i) =>
      val t = tree(n)
      (t.cost(t.fat.prefix(i)) <= log(n)) :| s"prefix($i) at $n" &&
      (t.cost(t.fat.suffix(i)) <= log(n)) :| s"suffix($i) at $n" &&
      (t.cost(t.fat.aggregate()) == 0) :| s"aggregate() at $n"
    }
  }

  law("range takes at most 2 log n combines, inverted or not") {
    forAllNoShrink(
      powers.flatMap(n => Gen.zip(Gen.const(n), Gen.choose(1, n), Gen.choose(1, n)))
    ) { case (n, i, j) =>
      val t = tree(n)
      (t.cost(t.fat.range(i, j)) <= 2 * log(n)) :| s"range($i, $j) at $n"
    }
  }

  // Figure 3: g is above e and f, e above a and b, f above c and d, and a to d above the leaves.
  private val Seq(g, e, f, a, b, c, d) = 1 to 7

  private def figure3: Tree[String] =
    new Tree(Operation.Concat, 8).fill((0 until 8).map(i => Element(i, i)))

  test(
    "figure 3: the tree on 8 leaves, made in 7 combines from W1 = {a, b, c, d} up to W3 = {g}"
  ) {
    val t = figure3
    assert((1 to 8).map(t.fat.leaf) == (8 to 15), "h(leaf(i)) = n + i - 1")
    assert(t.column.combinedBy(t.fat.build()) == Seq(a, b, c, d, e, f, g))
    assert(t.column(b) == "cd", "T(b) = a[3] ⊗ a[4]")
    assert(Seq(g, e, f).map(t.column(_)) == Seq("abcdefgh", "abcd", "efgh"))
  }

  test("section 4.2.2: when a[3] is altered, b, e and g are updated, in this order") {
    val t = figure3
    assert(t.column.combinedBy(t.update(Seq(3 -> Element(25, 8)))) == Seq(b, e, g))
    assert(t.column(t.fat.aggregate()) == "abzdefgh")
  }

  test("figure 4: when a[1], a[2], a[4] and a[7] are, just a, b, d, e, f and g") {
    val t = figure3
    val changes = Seq(7, 2, 4, 1).map(_ -> Element(25, 8))
    val changed = t.column.combinedBy(t.update(changes))
    assert(changed.take(3).toSet == Set(a, b, d), "W1")
    assert(changed.slice(3, 5).toSet == Set(e, f), "W2")
    assert(changed.drop(5) == Seq(g), "W3")
    assert(t.column(t.fat.aggregate()) == "zzczefzh")
  }

  test("section 4.2.3: prefix(7) = T(e) ⊗ T(c) ⊗ a[7]") {
    val t = figure3
    assert(t.column.combinedBy(t.fat.prefix(7)) == Seq(0, 0))
    assert(t.column.calls.flatMap { case (_, l, r) => Seq(l, r) }.filter(_ > 0) == Seq(e, c, 14))
    assert(t.column(t.fat.prefix(7)) == "abcdefg")
  }

  law("an update whose combine throws is repeated, with other locations or none") {
    val changes = Gen.nonEmptyListOf(Gen.choose(1, 32))
    forAllNoShrink(changes, Gen.listOf(Gen.choose(1, 32)), Gen.choose(1, 20)) {
      (first, more, call) =>
        val t = new Tree(Operation.Concat, 32).fill((1 to 32).map(i => Element(i, i)))
        def to(value: Int)(location: Int) = location -> Element(location + value, value)
        t.column.failing = call
        val failed =
          try {
            t.update(first.map(to(7)))
            false
          } catch { case _: TestColumn.Injected => true }
        t.column.failing = 0
        if (failed) t.update(first.map(to(7)) ++ more.map(to(11)))
        val wrong = t.wrongAnswer
        wrong.isEmpty :| wrong.getOrElse("")
    }
  }

  test("an update whose combine throws, and is not repeated, is not taken over") {
    val t = figure3
    t.column.failing = 2
    assertThrows[TestColumn.Injected](t.update(Seq(3 -> Element(25, 8))))
    assert(t.column(b) == "zd" && t.column(t.fat.aggregate()) == "abcdefgh")
  }

  test("a tree moves to another column with all that it holds") {
    val t = figure3
    t.fat.relocate(_.asInstanceOf[RecordingColumn[String]].moved())
    val column = t.fat.column.asInstanceOf[io.sash.core.TestColumn[String]]
    assert(column ne t.column)
    assert(column(t.fat.range(6, 2)) == "fghab")
  }

  test("a capacity that is not a power of two, or none") {
    for (n <- Seq(0, -1, Int.MinValue, 3, 12, FlatFat.MaxCapacity + 1, 1 << 30)) {
      val column = new RecordingColumn(Operation.Sum)
      val error = intercept[IllegalArgumentException](new FlatFat(column, n))
      assert(error.getMessage.contains(s"capacity $n is not a power of two"))
      assert(column.capacity == 0)
    }
  }

  test("a location out of range, and the tree stays as it was") {
    val t = figure3
    val before = t.column.combines
    def refused(call: => Unit): Unit = {
      val error = intercept[IllegalArgumentException](call)
      assert(error.getMessage.contains("not one of 1 to 8"))
    }
    for (i <- Seq(0, -1, 9, Int.MaxValue, Int.MinValue)) {
      refused(t.fat.leaf(i))
      refused(t.fat.prefix(i))
      refused(t.fat.suffix(i))
      refused(t.fat.range(i, 3))
      refused(t.fat.range(3, i))
      refused(t.fat.update(Array(3, i), 2))
    }
    intercept[IllegalArgumentException](t.fat.update(Array(1), 2))
    intercept[IllegalArgumentException](t.fat.update(Array(1), -1))
    assert(t.column.combines == before && t.wrongAnswer.isEmpty)
  }
}
