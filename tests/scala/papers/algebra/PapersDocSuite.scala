package io.sash.papers.algebra

import scala.collection.concurrent.TrieMap
import scala.collection.mutable

import org.scalatest.funsuite.AnyFunSuite

import io.sash.core.algebra.Aggregation
import io.sash.core.frames.RowsFrame
import io.sash.core.inorder.{SlickDequeInv, TwoStacksLite}
import io.sash.core.stored.KeyValueStore
import io.sash.papers.fat.{BaseIntervals, ReactiveAggregator}
import io.sash.papers.fiba.Fiba
import io.sash.papers.inorder.{DabaLite, SlickDequeInv, TwoStacksLite}
import io.sash.papers.mta.Amta
import io.sash.papers.policy.{CountPolicy, ValuesByPolicy}
import io.sash.papers.stored.PersistentWindow

/** The code of docs/papers.md, and a test that the page has this code. */
class PapersDocSuite extends AnyFunSuite {
  import PapersDocSuite._

  test("a window of values") {
    val window = TwoStacksLite(Max[Double])
    Seq(3.0, 1.0, 4.0, 1.0).foreach(window.insert)
    window.evict()
    assert(window.size == 3 && window.query() == 4.0)
  }

  test("several aggregates in one window") {
    val weather = TwoStacksLite(
      Both(
        Max[Double].on((w: Weather) => w.wind),
        ArithmeticMean[Double].on((w: Weather) => w.humidity)
      )
    )
    weather.insert(Weather(wind = 7.0, humidity = 0.5))
    weather.insert(Weather(wind = 3.0, humidity = 0.75))
    assert(weather.query() == ((7.0, 0.625)))

    val summaries = TwoStacksLite(
      Fields(
        Max[Double].on((w: Weather) => w.wind),
        ArithmeticMean[Double].on((w: Weather) => w.humidity).map(1.0 - _)
      )(Summary)
    )
    summaries.insert(Weather(wind = 7.0, humidity = 0.5))
    assert(summaries.query() == Summary(gust = 7.0, dryness = 0.5))
  }

  test("what a window can do") {
    val amta = Amta(Sum[Long])
    (1L to 100L).foreach(amta.insert)
    amta.algorithm.evict(90)
    assert(amta.query() == 955L)

    // the longest prefix whose rest still adds up to 500
    amta.algorithm.evict((total, prefix) => amta.answer(total) - amta.answer(prefix) >= 500L)
    assert(amta.size == 6 && amta.query() == 585L)

    val reactive = ReactiveAggregator(Concatenate)
    Seq("a", "b", "c").foreach(reactive.insert)
    reactive.algorithm.remove(1L) // the second that came
    assert(reactive.query() == "ac")

    val ranges = BaseIntervals(Sum[Long])
    Seq(3L, 1L, 4L, 1L).foreach(ranges.insert)
    assert(ranges.answer(ranges.algorithm.range(1, 3)) == 5L)
    assert(ranges.answer(ranges.algorithm.query(3)) == 6L)
  }

  test("iteration and a snapshot") {
    val sums = SlickDequeInv(Sum[Long])
    Seq(3L, 1L, 4L).foreach(sums.insert)
    val elements = (0 until sums.size).map(i => sums.answer(sums.algorithm.element(i)))
    assert(elements == Seq(3L, 1L, 4L))

    val goesOn = TwoStacksLite(Sum[Long])
    Snapshot.restore(goesOn, Snapshot.of(sums))
    assert(goesOn.query() == 8L)
  }

  test("a policy over any window") {
    val hottest = mutable.Buffer.empty[Double]
    val lastThree = new CountPolicy(size = 3, slide = 1)
    val byCount =
      new ValuesByPolicy(DabaLite(Max[Double]), lastThree, (max: Double) => hottest += max)
    Seq(3.0, 1.0, 4.0, 1.0, 5.0).foreach(byCount.insert(0L, _))
    assert(hottest == Seq(3.0, 3.0, 4.0, 4.0, 5.0))
  }

  test("values out of order") {
    val byTime = Fiba(Concatenate)
    byTime.insert(3L, "c")
    byTime.insert(1L, "a")
    byTime.bulkInsert(Array(0L, 2L, 5L), Array("-", "b", "e"))
    assert(byTime.query() == "-abce")
    byTime.bulkEvict(1L)
    assert(byTime.query() == "bce" && byTime.range(2L, 4L) == "bc")
    byTime.remove(3L)
    byTime.foreach((time, letter) => assert(byTime.range(time, time) == letter))
    assert(byTime.size == 2 && byTime.query() == "be")
  }

  test("an operation of one's own") {
    val longest = OfFunctions(0)((word: String) => word.length, Math.max, n => s"$n letters")
    assert(longest.aggregate("sash", "window") == "6 letters")

    val steps = TwoStacksLite(WidestStep)
    Seq(3.0, 1.0, 4.0, 4.5).foreach(steps.insert)
    assert(steps.query() == 3.0)
  }

  test("without the façade") {
    val column = Sum[Long].newColumn()
    val slots = new SlickDequeInv(column)
    for (value <- Seq(3L, 1L, 4L)) {
      column.lift(slots.open(), value)
      slots.insert()
    }
    slots.evict()
    assert(column.lower(slots.query()) == 5L)
    column.lift(slots.slide(), 1L) // as evict() and open(), in less time
    slots.insert()
    assert(column.lower(slots.query()) == 5L)
  }

  test("frames") {
    val means = ArithmeticMean[Double].newColumn()
    val mean = new TwoStacksLite(means)
    val frame = new RowsFrame(Array(mean), lower = -1L, upper = 0L)
    val smoothed = Seq(3.0, 1.0, 4.0).zipWithIndex.map { case (value, row) =>
      means.lift(mean.open(), value)
      frame.moveTo(row.toLong, arrived = row + 1L, ended = false)
      means.lower(mean.query())
    }
    assert(smoothed == Seq(3.0, 2.0, 2.5))
  }

  test("the time of a single call") {
    val steady = DabaLite.inChunks(Max[Double])
    Seq(3.0, 1.0, 4.0).foreach(steady.insert)
    assert(steady.query() == 4.0)
  }

  test("windows that outlive the process") {
    val nodes = TrieMap.empty[(Int, Long), Array[Byte]]

    object Nodes extends KeyValueStore {
      override def put(level: Int, first: Long, values: Array[Array[Byte]]): Unit =
        values.indices.foreach(i => nodes.put((level, first + i), values(i)))
      override def get(level: Int, first: Long, count: Int): Array[Array[Byte]] =
        Array.tabulate(count)(i => nodes((level, first + i)))
      override def remove(level: Int, from: Long, until: Long): Unit =
        (from until until).foreach(number => nodes.remove((level, number)))
    }

    val hour = new PersistentWindow(Sum[Long], Nodes)
    (0 until 1000).foreach(minute => hour.insert(time = minute, minute))
    hour.evictBefore(1000 - 60)
    val saved = hour.save()

    val again = new PersistentWindow(Sum[Long], Nodes) // in another process
    again.restore(saved)
    assert(again.size == 60 && again.query() == (940 until 1000).sum)
    assert(nodes.nonEmpty)
  }

  test("from Java") {
    assert(JavaUser.values() == 1.0)
    assert(JavaUser.product().toString == "Report[gust=7.0, rain=3.5]")
    assert(JavaUser.functions() == "6 letters")
    assert(JavaUser.slots() == "window")
    assert(JavaUser.abilities().toString == "[585, ac, 0.5, [0.1, 0.2, 0.3], 0.6]")
    assert(JavaUser.policies() == "[3.0, 3.0, 4.0, 4.0, 5.0] at 1 at 3 ")
  }

  test("the page has no other code") {
    val page = Sources.lines("docs/papers.md")
    val tests = Map("scala" -> "PapersDocSuite.scala", "java" -> "JavaUser.java")
    tests.foreach { case (language, file) =>
      val code = flat(Sources.lines(s"tests/scala/papers/algebra/$file"))
      val blocks = Sources.blocks(page, s"```$language", "```")
      assert(blocks.length >= 3)
      blocks.flatMap(paragraphs).foreach(p => assert(code.contains(p), s"in $file"))
    }
  }
}

object PapersDocSuite {
  final case class Weather(wind: Double, humidity: Double)

  final case class Summary(gust: Double, dryness: Double)

  final case class Steps(first: Double, last: Double, widest: Double)

  object WidestStep extends Aggregation[Double, Option[Steps], Double] {
    override def identity: Option[Steps] = None
    override def lift(in: Double): Option[Steps] = Some(Steps(in, in, 0.0))
    override def combine(older: Option[Steps], younger: Option[Steps]): Option[Steps] =
      (older, younger) match {
        case (Some(o), Some(y)) =>
          val step = Math.abs(y.first - o.last)
          Some(Steps(o.first, y.last, Seq(o.widest, step, y.widest).max))
        case _ => older.orElse(younger)
      }
    override def lower(agg: Option[Steps]): Double = agg.fold(0.0)(_.widest)
  }

  /** The lines as one string, without their indentation. */
  private def flat(lines: Seq[String]): String = lines.map(_.trim).mkString("\n")

  private def paragraphs(block: Seq[String]): Seq[String] =
    flat(block).split("\n\n").toSeq
}
