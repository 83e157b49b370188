package io.sash.core.stored

import java.nio.ByteBuffer

import org.scalacheck.Gen
import org.scalacheck.Prop.{forAllNoShrink, propBoolean}

import io.sash.core.{Element, Laws, Operation}
import io.sash.core.slots.Bytes

/** Panes that get elements in any order, and a hop window over them. */
class StoredPanesSuite extends Laws {
  import StoredPanesSuite._

  private val steps: Gen[Seq[Step]] = Gen.choose(0, 300).flatMap { n =>
    val ahead =
      Gen.frequency(20 -> Gen.choose(-40, 3), 2 -> Gen.choose(0, 100), 1 -> Gen.choose(0, 20000))
    Gen.listOfN(
      n,
      Gen.frequency(
        8 -> ahead.map(a => Add(a.toLong)),
        3 -> Gen.frequency(6 -> Gen.choose(0, 2), 1 -> Gen.choose(0, 200)).map(Hop(_)),
        1 -> Gen.const(Restart)
      )
    )
  }

  private val starts = Gen.oneOf(0L, 5L, 1023L, 1024L, 1700000000L)

  law("the window's answer is the aggregate of its panes, late elements too, after any restart") {
    forAllNoShrink(steps, starts, Gen.choose(1, 60), Gen.choose(1, 3)) {
      (steps, start, width, log) =>
        val stream = new Stream(start, width.toLong, log)
        steps.foreach(stream(_))
        stream(Restart)
        stream(Hop(1))
        true
    }
  }

  law("the store holds nodes over panes that have an element and are kept, and no others") {
    forAllNoShrink(steps, starts, Gen.choose(1, 60), Gen.choose(1, 3)) {
      (steps, start, width, log) =>
        val stream = new Stream(start, width.toLong, log)
        steps.foreach(stream(_))
        stream(Restart)
        val most = stream.nodes
        val size = stream.store.size
        stream.drop()
        ((size <= most) :| s"$size nodes, not $most") &&
        ((stream.store.size == 0) :| s"${stream.store.size} nodes after all")
    }
  }

  law("an element costs O(log n) nodes, however far it jumps or how late it is", runs = 40) {
    forAllNoShrink(starts, Gen.choose(2, 5), Gen.choose(0, 1000000), Gen.choose(0, 3000)) {
      (start, log, ahead, late) =>
        val store = new MapStore(changing = true)
        val panes = new StoredPanes(new LongSums, LongSums.Codec, store, log)
        def add(pane: Long): Unit = {
          panes.column.asInstanceOf[LongSums](panes.open()) = 1
          panes.add(pane)
        }
        panes.startAt(start)
        (0 until 3000).foreach(i => add(start + i))
        panes.window.restart(start, start + 3000)
        panes.window.evictTo(start + 10)
        val levels = math.ceil(math.log(4e9) / math.log((1 << log).toDouble)) + 1
        val (gets, puts) = (store.gets, store.puts)
        add(start + 3000 + ahead)
        add(start + late)
        val sum = panes.column.asInstanceOf[LongSums](panes.window.query())
        val expected = 2990 + (if (late >= 10 && late < 3000) 1 else 0)
        (sum == expected) :| s"the sum is $sum, not $expected" &&
        (store.gets - gets <= 2 * levels) :| s"${store.gets - gets} nodes read" &&
        (store.puts - puts <= 3 * levels) :| s"${store.puts - puts} nodes put"
    }
  }
}

private object StoredPanesSuite {
  sealed trait Step

  /** Adds an element, this many panes after the last one. */
  case class Add(after: Long) extends Step

  /** Moves the window by this many panes. */
  case class Hop(by: Int) extends Step
  case object Restart extends Step

  final class Stream(start: Long, width: Long, logFanOut: Int) {
    val store = new MapStore(changing = true)
    private val behind = new WriteBehind(store, changing = true)
    private val codec = new HandleCodec
    private var panes = create()
    private var elements = Vector.empty[(Long, Element)]
    private var front = start
    private var count = 0

    panes.startAt(start)

    private def create() =
      new StoredPanes(
        new StorableColumn(Operation.Collect),
        codec,
        behind,
        logFanOut
      )

    private def column = panes.column.asInstanceOf[StorableColumn[Vector[Element]]]

    /** An upper bound of the nodes: on each level all nodes over a held pane, edges included. */
    def nodes: Int = {
      val kept = elements.map(_._1).filter(_ >= front) :+ front
      (1 to 40).map(l => kept.map(_ >> (l * logFanOut)).distinct.length).takeWhile(_ > 1).sum + 40
    }

    def drop(): Unit = {
      panes.drop()
      behind.flush()
    }

    def apply(step: Step): Unit = step match {
      case Restart =>
        val out = new Bytes
        panes.write(out)
        behind.flush()
        panes = create()
        panes.read(ByteBuffer.wrap(out.toArray))
        check()
      case Add(after) =>
        val pane = math.max(front, panes.end - 1 + after)
        val element = Element(count, count)
        count += 1
        column.lift(panes.open(), element)
        panes.add(pane)
        elements :+= (pane -> element)
        check()
      case Hop(by) =>
        front += by
        val window = panes.window
        val until = math.min(front + width, panes.end)
        if (front > window.back) {
          window.restart(front, math.max(front, until))
        } else {
          window.insertTo(until)
          window.evictTo(front)
        }
        if (front <= panes.end) {
          panes.keepFrom(front)
        } else {
          panes.drop()
          panes.startAt(front)
        }
        check()
    }

    private def check(): Unit = {
      val window = panes.window
      assert(window.front == front)
      val expected = elements.collect {
        case (p, e) if p >= front && p < window.back => e.arrival
      }
      val answer = column(window.query())
      assert(answer.map(_.arrival).sorted == expected.sorted, s"[$front, ${window.back})")
      val first = elements.map(_._1).filter(_ >= front).minOption
      assert(panes.next(front) == first.getOrElse(panes.end), "the next pane")
    }
  }
}
