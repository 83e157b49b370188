package io.sash.papers.shared

import scala.collection.mutable

import org.scalacheck.Gen
import org.scalacheck.Prop
import org.scalacheck.Prop.{forAll, propBoolean}

import io.sash.core.{Element, HasInverse, Laws, Operation, PicksOperand, TestColumn}
import io.sash.core.inorder.{
  Recalculate,
  SlickDequeExample,
  SlickDequeInvRanges,
  SlickDequeNonInv
}
import io.sash.core.shared.{SharedWindows, SuffixWindows}
import io.sash.core.slots.{Invertible, Partials, Selective}
import io.sash.papers.inorder.FlatFit

private final case class Answer[A](query: Int, at: Long, value: A)

/** Shared plans against the definition of their queries. */
class SharedQueriesSuite extends Laws {

  /** Makes the windows of a plan, if the operation has the ability that they need. */
  private sealed abstract class Final(val name: String) {
    def accepts(operation: Operation[_]): Boolean
    def windows(column: Partials, queries: Int): SharedWindows
  }

  private object Inv extends Final("SlickDeque (Inv)") {
    override def accepts(operation: Operation[_]): Boolean = operation.isInstanceOf[HasInverse[_]]
    override def windows(column: Partials, queries: Int): SharedWindows = column match {
      case c: Invertible => new SlickDequeInvRanges(c, queries)
      case _             => throw new IllegalArgumentException("the column has no inverse")
    }
  }

  private object NonInv extends Final("SlickDeque (Non-Inv)") {
    override def accepts(operation: Operation[_]): Boolean =
      operation.isInstanceOf[PicksOperand[_]]
    override def windows(column: Partials, queries: Int): SharedWindows = column match {
      case c: Selective => new SuffixWindows(new SlickDequeNonInv(c), queries)
      case _            => throw new IllegalArgumentException("the column does not pick")
    }
  }

  private object Fit extends Final("FlatFIT") {
    override def accepts(operation: Operation[_]): Boolean = true
    override def windows(column: Partials, queries: Int): SharedWindows =
      new SuffixWindows(new FlatFit(column), queries)
  }

  private object Naive extends Final("Recalculate") {
    override def accepts(operation: Operation[_]): Boolean = true
    override def windows(column: Partials, queries: Int): SharedWindows =
      new SuffixWindows(new Recalculate(column), queries)
  }

  private val finals = Seq(Inv, NonInv, Fit, Naive)

  private class Run[A](
      plan: SharedPlan,
      makes: Final,
      operation: Operation[A]
  ) {
    val windows: SharedWindows = makes.windows(TestColumn(operation), plan.queries.size)
    val answers = mutable.Buffer.empty[Answer[A]]
    private val runner = new SharedQueries(
      plan,
      windows,
      (query, at, slot) => answers += Answer(query, at, column(slot))
    )
    def column: TestColumn[A] = windows.column.asInstanceOf[TestColumn[A]]

    def insert(element: Element, position: Long): Unit = {
      val slot = runner.open()
      column.lift(slot, element)
      runner.insert(position)
    }

    def advance(position: Long): Unit = runner.advance(position)

    /** Like insert or advance, but the column throws at these calls before the call succeeds. */
    def insertFailing(element: Element, position: Long, failing: Seq[Int]): Unit = {
      column.lift(runner.open(), element)
      repeat(failing)(runner.insert(position))
    }

    def advanceFailing(position: Long, failing: Seq[Int]): Unit =
      repeat(failing)(runner.advance(position))

    private def repeat(failing: Seq[Int])(call: => Unit): Unit = {
      val through = failing.exists { calls =>
        column.failing = calls
        try {
          call
          true
        } catch { case _: TestColumn.Injected => false }
      }
      column.failing = 0
      if (!through) call
    }
  }

  /**
   * Every answer from the stream's first value to `end`, by definition: at each multiple of the
   * slide, over (at - range, at].
   */
  private def expected[A](
      queries: Seq[ContinuousQuery],
      operation: Operation[A],
      stream: Seq[(Element, Long)],
      end: Long
  ): Set[Answer[A]] = {
    for {
      (query, i) <- queries.zipWithIndex
      first <- stream.headOption.map(_._2).toSeq
      at <- query.slide * -Math.floorDiv(-first, query.slide) to end by query.slide
    } yield {
      val window = stream.collect { case (e, p) if p > at - query.range && p <= at => e }
      Answer(i, at, operation.aggregate(window))
    }
  }.toSet

  private val queries: Gen[Vector[ContinuousQuery]] = for {
    count <- Gen.choose(1, 4)
    ranges <- Gen.listOfN(count, Gen.choose(1L, 20L))
    slides <- Gen.listOfN(count, Gen.choose(1L, 6L))
  } yield ranges.zip(slides).map { case (r, s) => ContinuousQuery(r, s) }.toVector

  /** Values with their distances from the position before; 1 counts tuples. */
  private def stream(distance: Gen[Long]): Gen[List[(Int, Long)]] =
    Gen.choose(0, 120).flatMap(Gen.listOfN(_, Gen.zip(Gen.choose(-5, 5), distance)))

  /** The stream's first position: a first tuple, a present-day time, or a time before 1970. */
  private val start =
    Gen.oneOf(Gen.const(1L), Gen.choose(170000000L, 170000100L), Gen.choose(-100L, 0L))

  private val slicing = Gen.oneOf(SliceRule.Panes, SliceRule.Pairs, SliceRule.Cutty)

  private def agrees[A](makes: Final, operation: Operation[A], distance: Gen[Long]): Prop =
    forAll(queries, slicing, start, stream(distance)) { (queries, slicing, start, values) =>
      val run = new Run(new SharedPlan(queries, slicing), makes, operation)
      var position = start
      val placed = values.zipWithIndex.map { case ((value, distance), i) =>
        if (i > 0) position += distance
        (Element(value, i), position)
      }
      placed.foreach { case (element, p) => run.insert(element, p) }
      val end = placed.lastOption.fold(start)(_._2)
      run.advance(end)
      val wanted = expected(queries, operation, placed, end)
      (run.answers.toSet == wanted && run.answers.size == wanted.size) :|
        s"$slicing: ${run.answers.toSet.diff(wanted)} for ${wanted.diff(run.answers.toSet)}"
    }

  for {
    makes <- finals
    operation <- Seq(Operation.Sum, Operation.Collect, Operation.Max, Operation.MaxCount)
    if makes.accepts(operation)
  } {
    law(s"${makes.name} of $operation, every tuple at the next position") {
      agrees(makes, operation, Gen.const(1L))
    }
    law(s"${makes.name} of $operation, tuples at times with ties and gaps") {
      agrees(makes, operation, Gen.frequency(5 -> Gen.choose(0L, 2L), 1 -> Gen.choose(3L, 40L)))
    }
  }

  for {
    makes <- finals
    operation <- Seq(Operation.Collect, Operation.Max)
    if makes.accepts(operation)
  } law(s"${makes.name} of $operation, whose calls fail and are repeated") {
    agreesAfterFailures(makes, operation)
  }

  private def agreesAfterFailures[A](makes: Final, operation: Operation[A]): Prop = {
    val gaps = Gen.frequency(5 -> Gen.choose(0L, 2L), 1 -> Gen.choose(3L, 40L))
    forAll(queries, slicing, stream(gaps), Gen.listOf(Gen.choose(1, 9))) {
      (queries, slicing, values, failing) =>
        val run = new Run(new SharedPlan(queries, slicing), makes, operation)
        val positions = values.scanLeft(1L)(_ + _._2).drop(1)
        val placed = values.zip(positions).zipWithIndex.map { case (((value, _), p), i) =>
          (Element(value, i), p)
        }
        placed.foreach { case (element, p) => run.insertFailing(element, p, failing) }
        val end = positions.lastOption.getOrElse(1L)
        run.advanceFailing(end, failing)
        val wanted = expected(queries, operation, placed, end)
        (run.answers.toSet == wanted && run.answers.size == wanted.size) :|
          s"$slicing: ${run.answers.toSet.diff(wanted)} for ${wanted.diff(run.answers.toSet)}"
    }
  }

  private val example =
    Vector(ContinuousQuery(range = 3, slide = 1), ContinuousQuery(range = 5, slide = 1))

  /** The answers to both queries of the paper's examples, and the number of operations. */
  private def exampleRun[A](
      makes: Final,
      operation: Operation[A],
      filler: Seq[Element]
  ): (Map[Int, Seq[A]], Long) = {
    val run = new Run(new SharedPlan(example, SliceRule.Panes), makes, operation)
    val all = filler ++ SlickDequeExample.Stream
    var before = 0L
    all.zipWithIndex.foreach { case (element, i) =>
      if (i == filler.size) before = run.column.operations
      run.insert(element, i + 1L)
      run.advance(i + 1L)
    }
    val answers = run.answers.filter(_.at > filler.size).groupBy(_.query)
    val byRange = Seq(3, 5).zipWithIndex.map { case (range, i) =>
      range -> answers(i).sortBy(_.at).map(_.value).toSeq
    }
    (byRange.toMap, run.column.operations - before)
  }

  // the paper's step 0 fills the array of partials with the initial value
  private val initial = Seq.fill(5)(Element(0, 0))

  test("example 2 of the SlickDeque paper (figure 8): sums by Inv in 32 operations") {
    val (sums, operations) = exampleRun(Inv, Operation.Sum, initial)
    assert(sums == SlickDequeExample.Sums)
    assert(operations == 32)
  }

  test("example 2 by Naive, which takes 48") {
    val (sums, operations) = exampleRun(Naive, Operation.Sum, initial)
    assert(sums == SlickDequeExample.Sums)
    assert(operations == 48)
  }

  test("example 3 of the SlickDeque paper (figure 9): maxima by Non-Inv in 11 operations") {
    val (maxima, operations) = exampleRun(NonInv, Operation.Max, Nil)
    assert(maxima.map { case (r, m) => r -> m.map(_.get.value) } == SlickDequeExample.Maxima)
    assert(operations == 11)
  }

  law("Inv takes exactly 2 operations a slide and range", runs = 20) {
    forAll(Gen.choose(1, 30), Gen.choose(1, 6)) { (longest, count) =>
      val ranges = (0 until count).map(i => ContinuousQuery(math.max(1, longest - i).toLong, 1))
      val run = new Run(new SharedPlan(ranges, SliceRule.Panes), Inv, Operation.Sum)
      def slide(i: Int): Unit = {
        run.insert(Element(i, i), i.toLong)
        run.advance(i.toLong)
      }
      (1 to longest).foreach(slide)
      val before = run.column.operations
      (longest + 1 to longest + 100).foreach(slide)
      run.column.operations - before == 2L * count * 100
    }
  }

  law("of the queries that are due at once, those of the longest range are answered first") {
    forAll(queries, slicing) { (queries, slicing) =>
      val run = new Run(new SharedPlan(queries, slicing), Naive, Operation.Sum)
      run.insert(Element(1, 0), 1)
      run.advance(60)
      run.answers.nonEmpty && run.answers.groupBy(_.at).values.forall { atOnce =>
        val ranges = atOnce.map(answer => queries(answer.query).range)
        ranges == ranges.sorted.reverse
      }
    }
  }

  test("SlickDeque (Inv) over ranges, as a single window, is its longest one") {
    for (longest <- 0 until 3) {
      val column = TestColumn.invertible(Operation.Sum)
      val windows = new SlickDequeInvRanges(column, 3)
      (1 to 40).foreach { i =>
        column.lift(windows.open(), Element(i, i))
        windows.insert()
        (0 until 3).filter(w => w != longest && i > w + 1).foreach(w => windows.evict(w))
        if (i > 5) windows.evict()
        assert(windows.size == math.min(i, 5))
        assert(column(windows.query()) == (i - windows.size + 1 to i).sum)
      }
    }
  }

  test("one combine a value within a partial, and one an answer of Cutty within one") {
    val queries = Vector(ContinuousQuery(range = 18, slide = 5))
    val costs = Seq(SliceRule.Panes, SliceRule.Pairs, SliceRule.Cutty).map { slicing =>
      val run = new Run(new SharedPlan(queries, slicing), Inv, Operation.Sum)
      def slides(from: Int, until: Int): Unit = (from until until).foreach { i =>
        run.insert(Element(i, i), i.toLong)
        run.advance(i.toLong)
      }
      slides(1, 101)
      val before = run.column.operations
      slides(101, 151)
      run.column.operations - before
    }
    // 50 values make 10 slides of 5, 2 or 1 partials; each partial enters and leaves the window
    assert(costs == Seq(0 + 2 * 50, 30 + 2 * 20, 40 + 2 * 10 + 10))
  }

  test("an empty stretch has answers, but no partials") {
    val queries = Vector(ContinuousQuery(range = 6, slide = 2))
    val run = new Run(new SharedPlan(queries, SliceRule.Panes), Inv, Operation.Sum)
    run.insert(Element(1, 0), 1)
    run.advance(6)
    val before = run.column.operations
    run.advance(1000)
    assert(run.column.operations - before == 1 && run.windows.size(0) == 0)
    assert(run.answers.size == 500)
  }

  test("example 1 (figure 7): ranges 6 and 8 with slides 2 and 4 share partials of 2 tuples") {
    val queries = Vector(ContinuousQuery(6, 2), ContinuousQuery(8, 4))
    val plan = new SharedPlan(queries, SliceRule.Panes)
    assert(plan.compositeSlide == 4 && plan.partials == 2)
    val run = new Run(plan, NonInv, Operation.Max)
    (1 to 40).foreach { i =>
      run.insert(Element(i % 7, i), i.toLong)
      run.advance(i.toLong)
    }
    assert(run.windows.size(0) == 3 && run.windows.size(1) == 4)
  }

  test("Pairs halve the partials of Panes, and Cutty those of Pairs (figures 1 to 3)") {
    def partials(slicing: SliceRule): Int =
      new SharedPlan(Vector(ContinuousQuery(range = 18, slide = 5)), slicing).partials
    assert(Seq(SliceRule.Panes, SliceRule.Pairs, SliceRule.Cutty).map(partials) == Seq(5, 2, 1))
  }

  test("a plan of no query, or of slides that share no multiple, is refused") {
    assertThrows[IllegalArgumentException](new SharedPlan(Vector.empty, SliceRule.Panes))
    assertThrows[IllegalArgumentException](ContinuousQuery(0, 1))
    assertThrows[IllegalArgumentException](ContinuousQuery(1, 0))
    Seq(
      Vector(ContinuousQuery(10, 999983), ContinuousQuery(10, 1000003)),
      Vector(ContinuousQuery(10, Long.MaxValue), ContinuousQuery(10, Long.MaxValue - 1)),
      Vector(ContinuousQuery(Int.MaxValue.toLong, 1000000007L))
    ).foreach { queries =>
      val e = intercept[IllegalArgumentException](new SharedPlan(queries, SliceRule.Panes))
      assert(e.getMessage.contains("share no multiple"))
    }
  }

  test("positions that descend are refused, and nothing is lost") {
    val run = new Run(new SharedPlan(example, SliceRule.Panes), Inv, Operation.Sum)
    run.insert(Element(1, 0), 1)
    run.insert(Element(2, 1), 2)
    assertThrows[IllegalArgumentException](run.advance(1))
    assertThrows[IllegalArgumentException](run.insert(Element(10, 2), 1))
    run.advance(2)
    assertThrows[IllegalArgumentException](run.insert(Element(10, 3), 2))
    run.insert(Element(4, 4), 3)
    run.advance(3)
    assert(run.answers.filter(_.query == 0).sortBy(_.at).map(_.value) == Seq(1L, 3L, 7L))
    assertThrows[IllegalStateException](
      new SharedQueries(
        new SharedPlan(example, SliceRule.Panes),
        Inv.windows(TestColumn(Operation.Sum), 2),
        (_, _, _) => ()
      ).insert(1)
    )
  }

  test("a stream starts with its first value, wherever that is") {
    val queries = Vector(ContinuousQuery(range = 7, slide = 3))
    for (slicing <- Seq(SliceRule.Panes, SliceRule.Pairs, SliceRule.Cutty)) {
      val run = new Run(new SharedPlan(queries, slicing), Inv, Operation.Sum)
      run.advance(100000000L)
      run.insert(Element(1, 0), 170000000L)
      run.insert(Element(2, 1), 170000004L)
      run.advance(170000008L)
      assert(
        run.answers.toSeq == Seq(
          Answer(0, 170000001L, 1L),
          Answer(0, 170000004L, 3L),
          Answer(0, 170000007L, 2L)
        ),
        slicing
      )
      val far = new Run(new SharedPlan(queries, slicing), Inv, Operation.Sum)
      assertThrows[IllegalArgumentException](far.insert(Element(1, 0), Long.MinValue))
      assertThrows[IllegalArgumentException](far.insert(Element(1, 0), 1L << 62))
      far.insert(Element(1, 0), 1L)
      far.advance(3L)
      assert(far.answers.toSeq == Seq(Answer(0, 3L, 1L)))
    }
  }

  test("evicting from an empty window is refused") {
    finals.filter(_.accepts(Operation.Sum)).foreach { makes =>
      val windows = makes.windows(TestColumn(Operation.Sum), 2)
      assertThrows[NoSuchElementException](windows.evict(1))
    }
  }

  test("before the first value, no position has an answer, the greatest neither") {
    val plan = new SharedPlan(Vector(ContinuousQuery(2L, 1L)), SliceRule.Panes)
    val windows = Fit.windows(TestColumn(Operation.Sum), 1)
    val none: Answers = (_: Int, at: Long, _: Int) => fail(s"an answer at $at")
    new SharedQueries(plan, windows, none).advance(Long.MaxValue)
  }
}
