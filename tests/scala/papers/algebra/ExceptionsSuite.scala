package io.sash.papers.algebra

import scala.collection.immutable.TreeMap

import org.scalacheck.{Gen, Prop}
import org.scalacheck.Prop.{forAll, propBoolean}

import io.sash.core.Laws
import io.sash.core.algebra.Aggregation
import io.sash.core.elements.InOrderWindow
import io.sash.papers.fat.{BaseIntervals, ReactiveAggregator}
import io.sash.papers.fiba.Fiba
import io.sash.papers.inorder._
import io.sash.papers.mta.{Amta, LogMta}

/** After a function has thrown, a window of values is as it was before the call. */
class ExceptionsSuite extends Laws {
  private final class Injected extends RuntimeException("injected")

  /** Throws at the call of this number, counted over all functions that share the countdown. */
  private final class Countdown {
    var failing = 0
    def tick(): Unit = if (failing > 0) {
      failing -= 1
      if (failing == 0) throw new Injected
    }
  }

  /** Collects by functions that may all throw. */
  private final class Risky(countdown: Countdown)
      extends InvertibleAggregation[Int, Vector[Int], Vector[Int]] {
    override def identity: Vector[Int] = Vector.empty
    override def lift(in: Int): Vector[Int] = {
      countdown.tick()
      Vector(in)
    }
    override def combine(older: Vector[Int], younger: Vector[Int]): Vector[Int] = {
      countdown.tick()
      older ++ younger
    }
    override def subtract(whole: Vector[Int], oldest: Vector[Int]): Vector[Int] = {
      countdown.tick()
      assert(whole.startsWith(oldest))
      whole.drop(oldest.length)
    }
    override def lower(agg: Vector[Int]): Vector[Int] = agg
  }

  private type Answer = ((Vector[Int], Long), Vector[Int])

  /** A product of parts that throw and a part that cannot. */
  private def product(c: Countdown) =
    Both(Both(new Risky(c), Sum[Long].on((i: Int) => i.toLong)), new Risky(c))

  private val makes = Seq[(String, Countdown => Window[Int, Answer, InOrderWindow])](
    "Recalculate" -> (c => Recalculate(product(c))),
    "Two-Stacks" -> (c => TwoStacks(product(c))),
    "Two-Stacks Lite" -> (c => TwoStacksLite(product(c))),
    "DABA" -> (c => Daba(product(c))),
    "DABA Lite" -> (c => DabaLite(product(c))),
    "DABA in chunks" -> (c => Daba.inChunks(product(c))),
    "DABA Lite in chunks" -> (c => DabaLite.inChunks(product(c))),
    "FlatFIT" -> (c => FlatFit(product(c))),
    "SlickDeque (Inv)" -> (c => SlickDequeInv(product(c))),
    "B-Int" -> (c => BaseIntervals(product(c))),
    "Reactive Aggregator" -> (c => ReactiveAggregator(product(c))),
    "Log MTA" -> (c => LogMta(product(c))),
    "AMTA" -> (c => Amta(product(c)))
  )

  /** Values to insert, or None to evict; and the call that fails, or 0 for none. */
  private val schedule: Gen[List[(Option[Int], Int)]] = {
    val step = Gen.frequency(3 -> Gen.choose(0, 99).map(Option(_)), 2 -> Gen.const(None))
    val failing = Gen.frequency(1 -> Gen.const(0), 1 -> Gen.choose(1, 8))
    Gen.choose(0, 200).flatMap(Gen.listOfN(_, Gen.zip(step, failing)))
  }

  private def answer(values: Iterable[Int]): Answer = {
    val all = values.toVector
    ((all, all.map(_.toLong).sum), all)
  }

  private def failed(countdown: Countdown, failing: Int)(call: => Unit): Boolean = {
    countdown.failing = failing
    try {
      call
      false
    } catch { case _: Injected => true }
    finally countdown.failing = 0
  }

  for ((name, make) <- makes) law(s"$name over functions that throw") {
    forAll(schedule)(values(make, _))
  }

  private def values(
      make: Countdown => Window[Int, Answer, InOrderWindow],
      steps: List[(Option[Int], Int)]
  ): Prop = {
    val countdown = new Countdown
    val window = make(countdown)
    val broken = steps.iterator
      .scanLeft((Vector.empty[Int], true)) { case ((model, _), step) =>
        val next = step match {
          case (Some(v), f) => if (failed(countdown, f)(window.insert(v))) model else model :+ v
          case (None, f) =>
            if (model.isEmpty || failed(countdown, f)(window.evict())) model else model.tail
        }
        failed(countdown, step._2)(window.query())
        (next, window.size == next.size && window.query() == answer(next))
      }
      .indexWhere(!_._2)
    (broken < 0) :| s"step $broken"
  }

  law("FiBA over functions that throw") {
    val times = Gen.listOfN(300, Gen.choose(0L, 60L))
    forAll(schedule, times) { (steps, times) =>
      val countdown = new Countdown
      val window = Fiba(product(countdown), 2)
      val broken = steps
        .zip(times)
        .iterator
        .scanLeft((TreeMap.empty[Long, Vector[Int]], true)) { case ((model, _), (step, time)) =>
          def added(entries: (Long, Int)*) = entries.foldLeft(model) { case (m, (t, v)) =>
            m.updated(t, m.getOrElse(t, Vector.empty) :+ v)
          }
          val next = step match {
            case (Some(v), f) if v % 5 == 0 =>
              val bulk = Array(time, time, time + 7, time + 30)
              def call() = window.bulkInsert(bulk, Array(v, v + 1, v + 2, v + 3))
              if (failed(countdown, f)(call())) model
              else added(bulk.toSeq.zip(Seq(v, v + 1, v + 2, v + 3)): _*)
            case (Some(v), f) =>
              if (failed(countdown, f)(window.insert(time, v))) model else added(time -> v)
            case (None, f) if time % 3 == 0 && model.contains(time) =>
              if (failed(countdown, f)(window.remove(time))) model else model - time
            case (None, f) =>
              val until = if (time % 7 == 0) time else model.headOption.fold(0L)(_._1)
              if (failed(countdown, f)(window.bulkEvict(until))) model
              else model.rangeFrom(until + 1)
          }
          failed(countdown, step._2)(window.range(time - 9, time + 9))
          val expected = answer(next.values.flatten)
          (next, window.size == next.size && window.query() == expected)
        }
        .indexWhere(!_._2)
      (broken < 0) :| s"step $broken"
    }
  }

  test("an exact sum that overflows") {
    object Exact extends Aggregation[Long, Long, Long] {
      override def identity: Long = 0L
      override def lift(in: Long): Long = in
      override def combine(older: Long, younger: Long): Long = Math.addExact(older, younger)
      override def lower(agg: Long): Long = agg
    }
    val window = TwoStacksLite(Exact)
    window.insert(Long.MaxValue)
    intercept[ArithmeticException](window.insert(1L))
    assert(window.size == 1 && window.query() == Long.MaxValue)
    window.evict()
    window.insert(2L)
    assert(window.size == 1 && window.query() == 2L)
  }
}
