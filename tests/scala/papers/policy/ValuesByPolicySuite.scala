package io.sash.papers.policy

import scala.collection.mutable

import org.scalacheck.Gen
import org.scalacheck.Prop.{forAllNoShrink, propBoolean}

import io.sash.core.Laws
import io.sash.core.elements.InOrderWindow
import io.sash.core.stored.MapStore
import io.sash.papers.algebra.{Concatenate, Sum, Window}
import io.sash.papers.fat.{BaseIntervals, ReactiveAggregator}
import io.sash.papers.fiba.Fiba
import io.sash.papers.inorder._
import io.sash.papers.mta.{Amta, LogMta}
import io.sash.papers.stored.KvsAmta

/** A policy over any window of values. */
class ValuesByPolicySuite extends Laws {
  private val windows = Seq[(String, () => Window[String, String, InOrderWindow])](
    ("Two-Stacks", () => TwoStacks(Concatenate)),
    ("Two-Stacks Lite", () => TwoStacksLite(Concatenate)),
    ("DABA", () => Daba(Concatenate)),
    ("DABA Lite in chunks", () => DabaLite.inChunks(Concatenate)),
    ("SlickDeque (Inv)", () => SlickDequeInv(Concatenate)),
    ("FlatFIT", () => FlatFit(Concatenate)),
    ("B-Int", () => BaseIntervals(Concatenate)),
    ("Reactive Aggregator", () => ReactiveAggregator(Concatenate)),
    ("Log MTA", () => LogMta(Concatenate)),
    ("AMTA", () => Amta(Concatenate)),
    ("KVS-AMTA", () => KvsAmta(Concatenate, new MapStore, logFanOut = 1))
  )

  private val policies = Seq[() => WindowPolicy](
    () => new CountPolicy(5, 2),
    () => new TimePolicy(6, 2),
    () => new DeltaPolicy(6, 3),
    () => new SessionPolicy(3),
    () => new PunctuationPolicy
  )

  private def triggered(
      make: mutable.Buffer[String] => ValuesByPolicy[String, String],
      times: Seq[Long]
  ): Seq[String] = {
    val answers = mutable.Buffer.empty[String]
    val window = make(answers)
    times.foreach(t => window.insert(t, s"$t,"))
    window.punctuate(Long.MaxValue)
    answers.toSeq
  }

  private val steps: Gen[List[Long]] = Gen.listOf(Gen.choose(0L, 4L))

  law("every window triggers as Recalculate does, under every policy", runs = 50) {
    forAllNoShrink(steps) { steps =>
      val wrong = policies.flatMap { policy =>
        // FiBA makes peers one element, and a policy by count counts elements
        val ascends = policy().isInstanceOf[CountPolicy]
        val times = steps.filter(_ > 0 || !ascends).scanLeft(0L)(_ + _).drop(1)
        val expected = triggered(
          answers =>
            new ValuesByPolicy(
              Recalculate(Concatenate),
              policy(),
              (s: String) => answers += s
            ),
          times
        )
        val byTime = triggered(
          answers => new ValuesByPolicy(Fiba(Concatenate), policy(), (s: String) => answers += s),
          times
        )
        val others = windows.filter { case (_, window) =>
          expected != triggered(
            answers => new ValuesByPolicy(window(), policy(), (s: String) => answers += s),
            times
          )
        }
        others.map(_._1) ++ Seq("FiBA").filter(_ => byTime != expected)
      }
      wrong.isEmpty :| wrong.mkString(", ")
    }
  }

  test("over a window by time, values that are late are in order when it triggers") {
    val answers = mutable.Buffer.empty[String]
    val window =
      new ValuesByPolicy(Fiba(Concatenate), new CountPolicy(3, 3), (s: String) => answers += s)
    Seq(5L, 1L, 3L, 9L, 8L, 7L).foreach(t => window.insert(t, s"$t,"))
    assert(answers == Seq("1,3,5,", "7,8,9,"))
  }

  test("a window that only grows ends at a punctuation, and with a session") {
    for (policy <- Seq(new PunctuationPolicy, new SessionPolicy(5))) {
      val answers = mutable.Buffer.empty[Long]
      val window =
        new ValuesByPolicy(GrowingWindow(Sum[Long]), policy, (sum: Long) => answers += sum)
      window.insert(0L, 3L)
      window.insert(1L, 1L)
      assert(window.size == 2)
      window.punctuate(100L)
      window.insert(200L, 5L)
      window.punctuate(300L)
      assert(answers == Seq(4L, 5L))
    }
  }

  test("a policy that has a window takes no other") {
    val policy = new CountPolicy(2, 2)
    def window() =
      new ValuesByPolicy[Long, Long](TwoStacksLite(Sum[Long]), policy, (_: Long) => ())
    window()
    assert(intercept[IllegalStateException](window()).getMessage.contains("another window's"))
  }

  test("a predicate over answers") {
    val answers = mutable.Buffer.empty[Long]
    val sums = TwoStacksLite(Sum[Long])
    val atMostTen = new PredicatePolicy(slot => sums.answer(slot) <= 10L)
    val window = new ValuesByPolicy(sums, atMostTen, (sum: Long) => answers += sum)
    Seq(2L, 2L, 3L, 3L, 4L, 11L).foreach(window.insert(0L, _))
    assert(answers == Seq(2L, 4L, 7L, 10L, 10L, 0L) && window.size == 0)
  }

  test("a value that cannot be lifted does not enter, and the next one does") {
    val answers = mutable.Buffer.empty[String]
    val window = new ValuesByPolicy(
      TwoStacksLite(Concatenate),
      new CountPolicy(2, 1),
      (s: String) => answers += s
    )
    window.insert(0L, "a")
    assertThrows[NullPointerException](window.insert(0L, null))
    assert(window.size == 1)
    window.insert(0L, "b")
    assert(answers == Seq("a", "ab"))
    window.clear()
    assert(window.size == 0)
  }

  test("after an output that throws, the same call goes on, and the value is in once") {
    val answers = mutable.Buffer.empty[String]
    var fails = true
    val window = new ValuesByPolicy(
      SlickDequeInv(Concatenate),
      new CountPolicy(2, 1),
      (s: String) => if (fails) throw new IllegalStateException("full") else answers += s
    )
    assertThrows[IllegalStateException](window.insert(0L, "a"))
    assert(window.size == 1)
    val refused = intercept[IllegalStateException](window.insert(0L, "b"))
    assert(refused.getMessage.contains("repeat the last call"))
    fails = false
    window.insert(0L, "a")
    window.insert(0L, "b")
    assert(answers == Seq("a", "ab") && window.size == 2)
  }
}
