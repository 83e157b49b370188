package io.sash.papers.policy

import java.lang.management.ManagementFactory

import org.scalatest.funsuite.AnyFunSuite

import io.sash.core.fat.BaseIntervals
import io.sash.core.inorder.{InOrderWindow, TwoStacksLite}
import io.sash.core.slots.Partials
import io.sash.papers.fat.ReactiveAggregator

/** In steady state a window of primitive partials makes no garbage, nor does its policy. */
class AllocationSuite extends AnyFunSuite {
  private final class Sums extends Partials {
    private[this] var sums = Array.emptyLongArray
    def lift(slot: Int, value: Long): Unit = sums(slot) = value
    def lower(slot: Int): Long = sums(slot)
    override def identity(dst: Int): Unit = sums(dst) = 0L
    override def combine(dst: Int, left: Int, right: Int): Unit =
      sums(dst) = sums(left) + sums(right)
    override def copy(dst: Int, src: Int): Unit = sums(dst) = sums(src)
    override def grow(slots: Int): Partials = {
      if (slots > sums.length) sums = java.util.Arrays.copyOf(sums, slots)
      this
    }
  }

  private val threads =
    ManagementFactory.getThreadMXBean.asInstanceOf[com.sun.management.ThreadMXBean]

  private def allocated(body: => Unit): Long = {
    val thread = Thread.currentThread.getId
    val before = threads.getThreadAllocatedBytes(thread)
    body
    threads.getThreadAllocatedBytes(thread) - before
  }

  private val steps = 100000

  /** The bytes per step over many steps, after as many steps to warm up. */
  private def bytesPerStep(step: Int => Unit): Double = {
    def run(): Unit = {
      var i = 0
      while (i < steps) {
        step(i)
        i += 1
      }
    }
    run()
    allocated(run()).toDouble / steps
  }

  private def assertNone(bytes: Double): Unit = assert(bytes < 0.1)

  for (
    (name, make) <- Seq[(String, Partials => InOrderWindow)](
      "the Reactive Aggregator" -> (new ReactiveAggregator(_)),
      "B-Int" -> (new BaseIntervals(_))
    )
  ) test(s"$name: evict, insert, query") {
    val column = new Sums
    val window = make(column)
    var answers = 0L
    def insert(value: Long): Unit = {
      column.lift(window.open(), value)
      window.insert()
    }
    (1 to 1000).foreach(i => insert(i.toLong))
    assertNone(bytesPerStep { i =>
      window.evict()
      insert(i.toLong)
      answers += column.lower(window.query())
    })
    assert(answers != 0)
  }

  test("the Reactive Aggregator: removals from the middle, compactions included") {
    val column = new Sums
    val window = new ReactiveAggregator(column)
    var answers = 0L
    def insert(value: Long): Unit = {
      column.lift(window.open(), value)
      window.insert()
    }
    (1 to 1000).foreach(i => insert(i.toLong))
    assertNone(bytesPerStep { i =>
      window.remove(window.inserted - 2) // the last slot but one
      insert(i.toLong)
      answers += column.lower(window.query())
    })
    assert(window.size == 1000 && answers != 0)
  }

  test("policies") {
    val policies = Seq[Sums => WindowPolicy](
      _ => new CountPolicy(100, 10),
      _ => new TimePolicy(100, 10),
      _ => new DeltaPolicy(100, 10),
      _ => new SessionPolicy(5),
      column => new PredicatePolicy(answer => column.lower(answer) <= 100)
    )
    for (make <- policies) {
      val column = new Sums
      val policy = make(column)
      var answers = 0L
      val output: Output = answer => answers += column.lower(answer)
      val window = new WindowByPolicy(new TwoStacksLite(column), policy, output)
      var time = 0L
      assertNone(bytesPerStep { i =>
        time += (if (i % 50 == 0) 10 else 1)
        column.lift(window.arrive(time), 1L)
        window.insert()
      })
      assert(answers != 0, policy.getClass)
    }
  }
}
