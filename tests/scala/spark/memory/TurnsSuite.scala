package io.sash.spark.memory

import java.util.concurrent.CountDownLatch

import org.scalatest.funsuite.AnyFunSuite

/** One at a time, and nobody waits for one who waits for memory. */
class TurnsSuite extends AnyFunSuite {
  private def inThread(body: => Unit): Thread = {
    val thread = new Thread(() => body)
    thread.setDaemon(true)
    thread.start()
    thread
  }

  test("of two threads one at a time") {
    val turns = new Turns
    val each = 200000
    var count = 0
    def run(take: => Unit): Unit = (1 to each).foreach { _ =>
      take
      try count += 1
      finally turns.end()
    }
    val threads = Seq(
      inThread(run(turns.take())),
      inThread(run(assert(turns.takeToSpill())))
    )
    threads.foreach(_.join(60000))
    assert(count == 2 * each)
  }

  test("who wants to spill is sent away while the other acquires memory, and served later") {
    val turns = new Turns
    turns.take()
    turns.acquiring(assert(!turns.takeToSpill()))
    turns.end()
    assert(turns.takeToSpill())
    turns.end()
  }

  test("who uses what is held waits even for one who acquires memory") {
    val turns = new Turns
    val (asked, granted) = (new CountDownLatch(1), new CountDownLatch(1))
    @volatile var ended = false
    val grower = inThread {
      turns.take()
      turns.acquiring {
        asked.countDown()
        granted.await()
      }
      ended = true
      turns.end()
    }
    asked.await()
    val user = inThread {
      turns.take()
      try assert(ended)
      finally turns.end()
    }
    user.join(50)
    assert(user.isAlive, "took a turn amid another's")
    granted.countDown()
    Seq(grower, user).foreach(_.join(60000))
    assert(!user.isAlive && ended)
  }
}
