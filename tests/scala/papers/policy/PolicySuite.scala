package io.sash.papers.policy

import org.scalacheck.Gen
import org.scalacheck.Prop.{forAllNoShrink, propBoolean}

import io.sash.core.{Element, Laws, Operation, TestColumn}
import io.sash.core.inorder.{InOrderWindow, SlickDequeInv, TwoStacksLite}
import io.sash.core.slots.{Invertible, Partials}

/** Count, delta, punctuation, session and predicate windows, each beside a plain model. */
class PolicySuite extends Laws {

  /** Attributes in order, with peers and gaps. */
  private val attributes: Gen[Seq[Long]] = for {
    start <- Gen.choose(-30L, 30L)
    steps <- Gen.listOf(Gen.frequency(4 -> Gen.choose(0L, 3L), 1 -> Gen.choose(0L, 40L)))
  } yield steps.scanLeft(start)(_ + _).drop(1)

  law("count: the last `size` elements, at each `slide`-th") {
    forAllNoShrink(Gen.choose(1, 40), Gen.choose(1, 40), Gen.choose(0, 200)) { (a, b, count) =>
      val (size, slide) = (a max b, a min b)
      val elements = (1L to count.toLong)
      val expected = (slide to count by slide).map(i => elements.take(i).takeRight(size))
      Watched.windows(new CountPolicy(size, slide), elements) == expected
    }
  }

  test("count: from one element to tumbling windows, whatever the attributes") {
    val stream = Seq(5L, 1, 4, 2, 3, 6)
    assert(
      Watched.windows(new CountPolicy(2, 1), stream) ==
        Seq(Seq(5), Seq(5, 1), Seq(1, 4), Seq(4, 2), Seq(2, 3), Seq(3, 6))
    )
    assert(
      Watched.windows(new CountPolicy(3, 3), stream) == Seq(Seq(5, 1, 4), Seq(2, 3, 6))
    )
  }

  /**
   * Slides at the first element at least `slide` beyond the element of the last slide. Each slide
   * shows the elements from `size` - `slide` before that last element on, without the present
   * one.
   */
  private def deltaModel(size: Long, slide: Long, all: Seq[Long]): Seq[Seq[Long]] = {
    val slides = all.indices.drop(1).foldLeft(all.indices.take(1).toVector) { (found, i) =>
      if (all(i) >= all(found.last) + slide) found :+ i else found
    }
    // the end of the stream is beyond every attribute
    slides.zip(slides.drop(1) :+ all.length).map { case (i, next) =>
      all.take(next).filter(i == 0 || _ >= all(i) - (size - slide))
    }
  }

  law("delta: slides when the attribute has moved by `slide`, spans at most `size`") {
    forAllNoShrink(attributes, Gen.choose(1L, 20L), Gen.choose(0L, 20L)) { (all, a, b) =>
      val (size, slide) = (a max b, a min b)
      val triggered = Watched.windows(new DeltaPolicy(size, slide), all)
      val covered = triggered.flatten.toSet == all.toSet
      (triggered == deltaModel(size, slide, all)) :| s"$triggered for $all by $size, $slide" &&
      covered :| "every element is in a window that triggers" &&
      triggered.forall(w => w.last - w.head <= size) :| "none spans more than its size"
    }
  }

  test("delta: sliding by each element, by 5, and tumbling") {
    val stream = Seq(0L, 3, 5, 11, 12, 30)
    assert(
      Watched.windows(new DeltaPolicy(10, 10), stream) ==
        Seq(Seq(0, 3, 5), Seq(11, 12), Seq(30))
    )
    assert(
      Watched.windows(new DeltaPolicy(10, 5), stream) ==
        Seq(Seq(0, 3), Seq(0, 3, 5), Seq(11, 12), Seq(30))
    )
    assert(
      Watched.windows(new DeltaPolicy(6, 0), stream) ==
        Seq(Seq(0), Seq(0, 3), Seq(0, 3, 5), Seq(5, 11), Seq(11, 12), Seq(30))
    )
  }

  law("session: runs of elements less than the gap apart") {
    forAllNoShrink(attributes, Gen.choose(1L, 10L)) { (times, gap) =>
      val sessions = times.foldLeft(Vector.empty[Vector[Long]]) { (done, t) =>
        if (done.lastOption.exists(t - _.last < gap)) done.init :+ (done.last :+ t)
        else done :+ Vector(t)
      }
      Watched.windows(new SessionPolicy(gap), times) == sessions
    }
  }

  test("session: a punctuation ends it once the gap has passed, and never twice") {
    val watched = new Watched(Operation.Sum, new SessionPolicy(10))
    watched.arrive(100, Element(1, 0))
    watched.arrive(109, Element(2, 1))
    watched.window.punctuate(118)
    assert(watched.triggers.isEmpty && watched.window.size == 2)
    watched.window.punctuate(119)
    assert(watched.triggers.toSeq == Seq(3L) && watched.window.size == 0)
    watched.window.punctuate(200)
    intercept[IllegalArgumentException](watched.window.arrive(199))
    watched.arrive(200, Element(4, 2))
    watched.arrive(210, Element(5, 3))
    assert(watched.triggers.toSeq == Seq(3L, 4L))
  }

  law("punctuation: what came since the last one, unless it is nothing") {
    forAllNoShrink(Gen.listOf(Gen.option(Gen.choose(-9, 9)))) { stream =>
      val watched = new Watched(Operation.Collect, new PunctuationPolicy)
      val all = stream.zipWithIndex.map { case (value, i) => value.map(Element(_, i)) } :+ None
      all.foreach {
        case Some(element) => watched.arrive(0, element)
        case None          => watched.window.punctuate(0)
      }
      val expected = all
        .foldLeft(Vector(Vector.empty[Element])) {
          case (runs, Some(element)) => runs.init :+ (runs.last :+ element)
          case (runs, None)          => runs :+ Vector.empty
        }
        .filter(_.nonEmpty)
      (watched.triggers.toSeq == expected && watched.window.size == 0) :| s"${watched.triggers}"
    }
  }

  private def atMost(bound: Long): Watched[Long] = {
    var watched: Watched[Long] = null
    val policy = new PredicatePolicy(answer => watched.column(answer) <= bound)
    watched = new Watched(Operation.Sum, policy)
    watched
  }

  test("predicate: the example of AMTA's section 3.2, updates that add up to at most 10") {
    val watched = atMost(10)
    Seq(2, 2, 3, 3).foreach(v => watched.arrive(0, Element(v, 0)))
    assert(watched.window.size == 4)
    watched.arrive(0, Element(4, 0))
    assert(watched.window.size == 3 && watched.query() == 3 + 3 + 4)
    watched.arrive(0, Element(11, 0))
    assert(watched.window.size == 0 && watched.triggers.last == 0)
  }

  law("predicate: the longest run up to here that meets it") {
    forAllNoShrink(Gen.listOf(Gen.choose(0, 9)), Gen.choose(0, 30)) { (values, bound) =>
      val watched = atMost(bound.toLong)
      val expected = values.indices.map { i =>
        values.take(i + 1).tails.map(_.sum).dropWhile(_ > bound).next().toLong
      }
      values.foreach(v => watched.arrive(0, Element(v, 0)))
      (watched.triggers.toSeq == expected) :| s"${watched.triggers}, not $expected"
    }
  }

  law("predicate: amortised at most 3 queries an element, and any element leaves once") {
    forAllNoShrink(Gen.listOf(Gen.choose(0, 9)), Gen.choose(0, 30)) { (values, bound) =>
      var asked: Asked = null
      var watched: Watched[Long] = null
      val policy = new PredicatePolicy(answer => watched.column(answer) <= bound)
      def make(column: Partials): InOrderWindow = {
        asked = new Asked(new TwoStacksLite(column))
        asked
      }
      watched = new Watched(Operation.Sum, policy, make)
      values.foreach(v => watched.arrive(0, Element(v, 0)))
      (asked.queries <= 3L * values.length && asked.evictions <= values.length) :|
        s"${asked.queries} queries, ${asked.evictions} evictions of ${values.length}"
    }
  }

  law("delta: at most one trigger an element, and any element leaves once") {
    forAllNoShrink(attributes, Gen.choose(1L, 20L), Gen.choose(0L, 20L)) { (all, a, b) =>
      val asked = new Asked(new TwoStacksLite(TestColumn(Operation.Sum)))
      var triggers = 0
      val window =
        new WindowByPolicy(asked, new DeltaPolicy(a max b, a min b), _ => triggers += 1)
      all.forall { attribute =>
        val before = triggers
        window.column.identity(window.arrive(attribute))
        window.insert()
        triggers <= before + 1
      } && asked.queries == triggers && asked.evictions <= all.length
    }
  }

  private def policies: Seq[WindowPolicy] = Seq(
    new CountPolicy(4, 4),
    new TimePolicy(5, 2),
    new DeltaPolicy(5, 2),
    new PunctuationPolicy,
    new SessionPolicy(4),
    new PredicatePolicy(_ => true)
  )

  law("calls that fail and are repeated trigger as if they had not failed") {
    forAllNoShrink(attributes, Gen.listOf(Gen.choose(1, 4)), Gen.oneOf(true, false)) {
      (all, failing, inverse) =>
        val make: Partials => InOrderWindow =
          if (inverse) c => new SlickDequeInv(c.asInstanceOf[Partials with Invertible])
          else new TwoStacksLite(_)
        policies.zip(policies).forall { case (policy, again) =>
          def run(policy: WindowPolicy, failing: Seq[Int]): Seq[Vector[Element]] = {
            val watched = new Watched(Operation.Collect, policy, make)
            def repeat[T](call: => T): T = {
              val done = failing.iterator
                .map { calls =>
                  watched.column.failing = calls
                  try Some(call)
                  catch { case _: TestColumn.Injected => None }
                }
                .collectFirst { case Some(answer) => answer }
              watched.column.failing = 0
              done.getOrElse(call)
            }
            all.zipWithIndex.foreach { case (a, i) =>
              val slot = repeat(watched.window.arrive(a))
              watched.column.lift(slot, Element(a.toInt, i))
              repeat(watched.window.insert())
            }
            repeat(watched.window.punctuate(Long.MaxValue))
            watched.triggers.toSeq
          }
          run(policy, failing) == run(again, Nil)
        }
    }
  }

  test("clear lets a window and its policy begin anew") {
    for (policy <- policies) {
      val watched = new Watched(Operation.Collect, policy)
      def run(): Seq[Vector[Element]] = {
        watched.triggers.clear()
        Seq(1L, 2L, 4L, 9L, 10L).foreach(t => watched.arrive(t, Element(t.toInt, 0)))
        watched.window.punctuate(14)
        watched.triggers.toSeq
      }
      val first = run()
      assert(first.nonEmpty)
      watched.arrive(20, Element(20, 0))
      watched.window.arrive(21) // it is never inserted
      watched.window.clear()
      assert(watched.window.size == 0)
      assert(run() == first, policy.getClass)
    }
  }

  test("calls out of turn are refused, and the window stays as it was") {
    for (policy <- policies) {
      val watched = new Watched(Operation.Collect, policy)
      val early = intercept[IllegalStateException](watched.window.insert())
      assert(early.getMessage.contains("call arrive()"))
      watched.column.lift(watched.window.arrive(1), Element(1, 0))
      for (call <- Seq(() => watched.window.arrive(2), () => watched.window.punctuate(2))) {
        val error = intercept[IllegalStateException](call())
        assert(error.getMessage.contains("call insert()"))
      }
      watched.window.insert()
      assert(watched.window.size == 1 && watched.query() == Vector(Element(1, 0)))
    }
  }

  test("sizes, slides and gaps that make no window") {
    for ((size, slide) <- Seq((0, 1), (3, 0), (3, 4), (-1, -1)))
      intercept[IllegalArgumentException](new CountPolicy(size, slide))
    for ((size, slide) <- Seq((0L, 0L), (3L, -1L), (3L, 4L), (1L << 62, 1L)))
      intercept[IllegalArgumentException](new DeltaPolicy(size, slide))
    for (gap <- Seq(0L, -1L, 1L << 62))
      intercept[IllegalArgumentException](new SessionPolicy(gap))
  }
}
