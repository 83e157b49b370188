package io.sash.papers.policy

import scala.collection.mutable.ArrayBuffer

import org.scalacheck.Gen
import org.scalacheck.Prop.{forAllNoShrink, propBoolean}

import io.sash.core.{Element, Laws, Operation, TestColumn}
import io.sash.core.fat.BaseIntervals
import io.sash.core.inorder.{InOrderWindow, Recalculate}
import io.sash.core.slots.Partials
import io.sash.papers.fat.ReactiveAggregator

/** Time windows, as defined in section 2.1 of the Reactive Aggregator's paper. */
class TimePolicySuite extends Laws {

  /** (range, slide) and times in order, with peers and gaps. */
  private val streams: Gen[((Long, Long), Seq[Long])] = for {
    range <- Gen.choose(0L, 12L)
    slide <- Gen.choose(1L, range + 1)
    start <- Gen.choose(-30L, 30L)
    steps <- Gen.listOf(Gen.frequency(4 -> Gen.choose(0L, 2L), 1 -> Gen.choose(0L, 40L)))
  } yield ((range, slide), steps.scanLeft(start)(_ + _).drop(1))

  /** The paper's formula for the window at time τ. */
  private def edges(range: Long, slide: Long, time: Long): (Long, Long) = {
    val begin = Math.floorDiv(time - range, slide) * slide
    (begin, begin + range)
  }

  /** The output of IStream, instant after instant: each window that differs from the last. */
  private def model(range: Long, slide: Long, times: Seq[Long]): Seq[Seq[Long]] = {
    val instants =
      if (times.isEmpty) Seq.empty else times.head - 1 to times.last + 2 * (range + slide)
    instants
      .map { time =>
        val (begin, end) = edges(range, slide, time)
        times.zipWithIndex.filter { case (t, _) => t >= begin && t <= end }
      }
      .foldLeft(Vector.empty[Seq[(Long, Int)]]) { (seen, w) =>
        if (seen.lastOption.contains(w)) seen else seen :+ w
      }
      .filter(_.nonEmpty)
      .map(_.map(_._1))
  }

  law("the windows that trigger are those of the paper's formula, each once", runs = 500) {
    forAllNoShrink(streams) { case ((range, slide), times) =>
      val triggered = Watched.windows(new TimePolicy(range, slide), times)
      (triggered == model(range, slide, times)) :|
        s"$triggered, not ${model(range, slide, times)}"
    }
  }

  law("while a window triggers, the policy tells its τb and τe, within which it lies") {
    forAllNoShrink(streams) { case ((range, slide), times) =>
      val policy = new TimePolicy(range, slide)
      val column = TestColumn(Operation.Collect)
      val triggers = ArrayBuffer.empty[(Long, Long, Seq[Long])]
      val window = new WindowByPolicy(
        new Recalculate(column),
        policy,
        answer =>
          triggers += ((policy.begin, policy.end, column(answer).map(e => times(e.arrival))))
      )
      times.zipWithIndex.foreach { case (t, i) =>
        column.lift(window.arrive(t), Element(0, i))
        window.insert()
      }
      window.punctuate(Long.MaxValue)
      val wrong = triggers.find { case (begin, end, held) =>
        (begin, end) != edges(range, slide, end) || held != times.filter(t =>
          t >= begin && t <= end
        )
      }
      wrong.isEmpty :| s"range $range, slide $slide: $wrong"
    }
  }

  law("at most two triggers an element, of one query each, and any element leaves once") {
    forAllNoShrink(streams) { case ((range, slide), times) =>
      val asked = new Asked(new Recalculate(TestColumn(Operation.Sum)))
      var triggers = 0
      val window = new WindowByPolicy(asked, new TimePolicy(range, slide), _ => triggers += 1)
      times.foreach { time =>
        window.column.identity(window.arrive(time))
        window.insert()
      }
      window.punctuate(Long.MaxValue)
      (triggers <= 2 * times.length && asked.queries == triggers) :| s"$triggers triggers" &&
      (asked.evictions == times.length) :| s"${asked.evictions} evictions"
    }
  }

  law("any algorithm gives the same answers") {
    forAllNoShrink(streams) { case ((range, slide), times) =>
      val algorithms: Seq[Partials => InOrderWindow] =
        Seq(new Recalculate(_), new ReactiveAggregator(_), new BaseIntervals(_))
      val answers = algorithms.map { make =>
        val watched = new Watched(Operation.Affine, new TimePolicy(range, slide), make)
        times.zipWithIndex.foreach { case (t, i) => watched.arrive(t, Element(i % 7, i)) }
        watched.window.punctuate(Long.MaxValue)
        watched.triggers.toSeq
      }
      (answers.distinct.length == 1) :| s"$answers"
    }
  }

  private val minute = 60L * 1000
  private val day = 24 * 60 * minute

  test("section 2.1: range 24 hours, slide 1 minute, in milliseconds") {
    val policy = new TimePolicy(day, minute)
    val watched = new Watched(Operation.Collect, policy)
    def call(time: Long, arrival: Int): Unit = watched.arrive(time, Element(0, arrival))
    def last: Seq[Int] = watched.triggers.last.map(_.arrival)

    val noon = 1000 * day + day / 2
    call(noon, 0)
    call(noon + 1, 1) // the window that ends at noon is over
    assert(last == Seq(0) && policy.begin == noon - day && policy.end == noon)
    call(noon + minute - 1, 2)
    assert(watched.triggers.length == 1, "no window ends within the minute")
    call(noon + minute + 1, 3)
    assert(last == Seq(0, 1, 2) && policy.end == noon + minute)
    // τb = ⌊(τ - 24 h) / 1 min⌋ · 1 min: at noon the next day the first call is still in
    call(noon + day, 4)
    assert(last == Seq(0, 1, 2, 3) && policy.end == noon + 2 * minute)
    watched.window.punctuate(noon + day + 1)
    assert(last == Seq(0, 1, 2, 3, 4) && policy.begin == noon && policy.end == noon + day)
    watched.window.punctuate(noon + day + minute + 1)
    assert(last == Seq(3, 4), "after the minute the calls of noon and its minute are out")
    assert(policy.begin == noon + minute)
  }

  test("from a slide of one unit to tumbling windows") {
    val times = Seq(0L, 1, 1, 2, 3, 5, 6, 7)
    assert(
      Watched.windows(new TimePolicy(1, 1), times) ==
        Seq(
          Seq(0),
          Seq(0, 1, 1),
          Seq(1, 1, 2),
          Seq(2, 3),
          Seq(3),
          Seq(5),
          Seq(5, 6),
          Seq(6, 7)
        ) :+
        Seq(7)
    )
    assert(
      Watched.windows(new TimePolicy(2, 3), times) ==
        Seq(Seq(0, 1, 1, 2), Seq(3, 5), Seq(6, 7)),
      "[0, 2], [3, 5], [6, 8]"
    )
    assert(
      Watched.windows(new TimePolicy(3, 3), times) ==
        Seq(Seq(0), Seq(0, 1, 1, 2, 3), Seq(3, 5, 6), Seq(6, 7)),
      "[-3, 0], [0, 3], [3, 6], [6, 9]: they share edges"
    )
  }

  test("time that goes back is refused, and nothing changes") {
    val policy = new TimePolicy(10, 5)
    val watched = new Watched(Operation.Collect, policy)
    watched.arrive(7, Element(0, 0))
    watched.arrive(7, Element(0, 1))
    val before = watched.query()
    for (late <- Seq(6L, -1L, -(1L << 61))) {
      val error = intercept[IllegalArgumentException](watched.window.arrive(late))
      assert(error.getMessage.startsWith(s"attribute $late after 7"))
      intercept[IllegalArgumentException](watched.window.punctuate(late))
    }
    for (far <- Seq(Long.MaxValue, Long.MinValue, 1L << 62, -(1L << 62)))
      intercept[IllegalArgumentException](watched.window.arrive(far))
    assert(watched.query() == before && watched.window.size == 2 && watched.triggers.isEmpty)
    watched.arrive(11, Element(0, 2))
    assert(watched.triggers.toSeq == Seq(before))
  }

  test("times and ranges near the limit of 2^62") {
    val far = (1L << 62) - 1
    val times = Seq(-far, -far, 0L, far)
    for ((range, slide) <- Seq((0L, 1L), (far, 1L), (far, far), (far, far + 1), (3L, 4L)))
      assert(
        Watched.windows(new TimePolicy(range, slide), times).flatten.toSet == times.toSet,
        s"range $range, slide $slide"
      )
  }

  test("a range or a slide that makes no window") {
    for ((range, slide) <- Seq((-1L, 1L), (5L, 0L), (5L, -1L), (5L, 7L), (1L << 62, 1L)))
      intercept[IllegalArgumentException](new TimePolicy(range, slide))
  }
}
