package io.sash.papers.inorder

import scala.collection.mutable

import org.scalacheck.Prop
import org.scalacheck.Prop.{forAll, propBoolean}

import io.sash.core.{Element, Laws, Operation, Schedule, Step}
import io.sash.core.elements.SlotRing
import io.sash.core.inorder.{InOrderWindow, Slider, WindowAlgorithm}
import io.sash.papers.ChunkedTestColumn

/** Theorems and invariants of sections 5 and 6 of the DABA Lite paper. */
class DabaSuite extends Laws {
  private val both = Seq(PaperAlgorithm.Daba, PaperAlgorithm.DabaLite)
  private val chunked = Seq(PaperAlgorithm.DabaInChunks, PaperAlgorithm.DabaLiteInChunks)

  /** The most combines of one insert and of one evict. */
  private val bounds = Map[WindowAlgorithm, (Long, Long)](
    PaperAlgorithm.Daba -> ((4L, 3L)),
    PaperAlgorithm.DabaLite -> ((3L, 2L)),
    PaperAlgorithm.DabaInChunks -> ((4L, 3L)),
    PaperAlgorithm.DabaLiteInChunks -> ((3L, 2L))
  )

  private def pointers(window: InOrderWindow): Seq[Long] = window match {
    case daba: BankersReversal => daba.pointers
    case other => throw new IllegalArgumentException(s"$other has no such pointers")
  }

  for (algorithm <- both ++ chunked) {
    val (insert, evict) = bounds(algorithm)

    law(s"$algorithm: query takes at most 1 combine, insert $insert, evict $evict, each time") {
      forAll(Schedule.random) { schedule =>
        val s = new Slider(algorithm, Operation.Sum)
        schedule.forall {
          case Step.Open(value) =>
            s.open(Element(value, 0))
            s.cost(s.window.insert()) <= insert
          case Step.Query                      => s.cost(s.query()) <= 1
          case Step.Evict if s.window.size > 0 => s.cost(s.window.evict()) <= evict
          case _                               => true
        }
      }
    }

    test(s"$algorithm reaches its bounds") {
      val s = new Slider(algorithm, Operation.Sum)
      val inserts = (0 until 100).map(i => s.cost(s.insert(Element(i, i))))
      val evicts = (0 until 90).map(_ => s.cost(s.window.evict()))
      assert(inserts.max == insert && evicts.max == evict)
    }

    law(s"$algorithm: the size invariants hold after each call") {
      forAll(Schedule.random) { schedule =>
        val s = new Slider(algorithm, Operation.Sum)
        schedule.forall { step =>
          step match {
            case Step.Open(value)                => s.insert(Element(value, 0))
            case Step.Evict if s.window.size > 0 => s.window.evict()
            case Step.Clear                      => s.window.clear()
            case _                               => ()
          }
          sizesHold(pointers(s.window))
        }
      }
    }

    test(s"$algorithm: each flip is followed by as many shrinks as shifts") {
      val s = new Slider(algorithm, Operation.Sum)
      val fixups = (0 until 63).map(i => s.cost(s.insert(Element(i, i))))
      // Joining the back list costs 1, and a shift costs no more. Flips come at 2, 4, 8, …
      // elements. The first, with one shrink and one shift, is too small to show in its cost.
      val shrinks = fixups.drop(3).map(_ > 1)
      val wanted = Seq(2, 4, 8, 16).flatMap(m => Seq.fill(m)(true) ++ Seq.fill(m)(false))
      assert(shrinks == wanted)
    }
  }

  law("on average, DABA takes 2.5 and 1.5 combines an insert and an evict, DABA Lite 2 and 1") {
    forAll(org.scalacheck.Gen.choose(2, 200)) { n =>
      Prop.all(Seq(PaperAlgorithm.Daba -> 4.0, PaperAlgorithm.DabaLite -> 3.0).map {
        case (algorithm, perSlide) =>
          val s = new Slider(algorithm, Operation.Sum)
          (0 until n).foreach(i => s.insert(Element(i, i)))
          val slides = 40 * n
          val cost = s.cost((0 until slides).foreach { i =>
            s.insert(Element(i, i))
            s.window.evict()
          })
          // flips and similar steps cost less, and the end may cut a cycle
          (cost <= perSlide * slides + 3 * n) :| s"$algorithm, n = $n: $cost in $slides slides"
      }: _*)
    }
  }

  private def sizesHold(pointers: Seq[Long]): Boolean = {
    val Seq(f, l, r, a, b, e) = pointers
    val ordered = pointers == pointers.sorted
    ordered && (f == e || (r - l) + (a - r) + (b - a) + 1 == (b - f) - (e - b) && r - l == a - r)
  }

  /** A window of at most 16 elements, so that slots stay as `open` returned them. */
  private def checked(
      algorithm: WindowAlgorithm
  )(check: (Slider[String], IndexedSeq[Int], String) => Unit): Prop =
    forAll(Schedule.random) { schedule =>
      val s = new Slider(algorithm, Operation.Concat)
      val slots = mutable.ArrayDeque.empty[Int]
      val values = new mutable.StringBuilder
      var arrivals = 0
      schedule.foreach { step =>
        step match {
          case Step.Open(_) if slots.size < 16 =>
            val element = Element(arrivals, 0)
            slots += s.open(element)
            values ++= Operation.Concat.lift(element)
            arrivals += 1
            s.window.insert()
          case Step.Evict if slots.nonEmpty =>
            s.window.evict()
            slots.removeHead()
            values.deleteCharAt(0)
          case _ => ()
        }
        check(s, slots.toIndexedSeq, values.toString)
      }
      true
    }

  law("DABA: each element holds the value and the aggregate that its list prescribes") {
    checked(PaperAlgorithm.Daba) { (s, slots, values) =>
      val Seq(f, l, r, a, b, _) = pointers(s.window)
      slots.indices.foreach { i =>
        def to(end: Long): String = values.slice(i, (end - f).toInt)
        def from(start: Long): String = values.slice((start - f).toInt, i + 1)
        val p = f + i
        val aggregate =
          if (p < l) to(b)
          else if (p < r) to(r)
          else if (p < a) from(r)
          else if (p < b) to(b)
          else from(b)
        assert(s.column(slots(i)) == values.substring(i, i + 1), s"value $i of $values")
        assert(
          s.column(slots(i) + SlotRing.InitialCapacity) == aggregate,
          s"aggregate $i of $values"
        )
      }
    }
  }

  law("DABA Lite: each element holds what its list prescribes") {
    checked(PaperAlgorithm.DabaLite) { (s, slots, values) =>
      val Seq(f, l, r, a, b, _) = pointers(s.window)
      slots.indices.foreach { i =>
        def to(end: Long): String = values.slice(i, (end - f).toInt)
        val p = f + i
        val own = values.substring(i, i + 1)
        val content =
          if (p < l) to(b)
          else if (p < r) to(r)
          else if (p < a) own
          else if (p < b) to(b)
          else own
        assert(s.column(slots(i)) == content, s"element $i of $values")
      }
    }
  }

  law(
    "space: DABA Lite asks for n + 3 slots, DABA for 2n + 1, rounded up by doubling",
    runs = 20
  ) {
    forAll(org.scalacheck.Gen.choose(17, 5000)) { n =>
      Prop.all(both.zip(Seq(2 * n + 1, n + 3)).map { case (algorithm, least) =>
        val s = new Slider(algorithm, Operation.Sum)
        (0 until n).foreach(i => s.insert(Element(i, i)))
        val capacity = s.column.capacity
        (capacity >= least && capacity <= 2 * least) :| s"$algorithm: $capacity slots for $n"
      }: _*)
    }
  }

  /** The most slots that a call writes while a window that has slid grows to n and drains. */
  private def mostWrites(s: Slider[_], n: Int): Long = {
    def written(call: => Unit): Long = {
      val before = s.column.writes
      call
      s.column.writes - before
    }
    (0 until 3000).foreach { i =>
      s.insert(Element(i, i))
      s.window.evict()
    }
    val inserts = (0 until n).map(i => written(s.insert(Element(i, i))))
    val evicts = (0 until n).map(_ => written(s.window.evict()))
    (inserts ++ evicts).max
  }

  test("in chunks, a call writes 6 slots at most, however long the window") {
    for (algorithm <- chunked) {
      val most = mostWrites(new Slider(algorithm, Operation.Sum), 5000)
      assert(most <= 6, algorithm)
    }
  }

  test("in slots that double, a call moves half of them at times") {
    for (algorithm <- both) {
      val most = mostWrites(new Slider(algorithm, Operation.Sum), 5000)
      assert(most > 2000, algorithm)
    }
  }

  test(
    "a call opens a chunk for each slot of an element at most; what is left behind is closed"
  ) {
    for ((algorithm, planes) <- chunked.zip(Seq(2, 1))) {
      val s = new Slider(algorithm, Operation.Sum)
      val column = s.column.asInstanceOf[ChunkedTestColumn[Long]]
      def check(): Unit = {
        // each plane's elements may begin and end within a chunk, and the first chunk stays open
        val held = planes * (s.window.size / column.chunkSize + 2) + 1
        assert(column.open <= held, s"$algorithm of ${s.window.size} elements")
      }
      def insert(i: Int): Unit = {
        val before = column.opened
        s.insert(Element(i, i))
        assert(column.opened - before <= planes, algorithm)
        check()
      }
      (0 until 3000).foreach(insert)
      (0 until 3000).foreach { i =>
        s.window.evict()
        insert(i)
      }
      (0 until 3000).foreach { _ =>
        s.window.evict()
        check()
      }
      insert(0)
      s.window.clear()
      assert(column.open == 1)
    }
  }
}
