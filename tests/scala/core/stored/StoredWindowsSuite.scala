package io.sash.core.stored

import java.nio.ByteBuffer

import org.scalacheck.Gen
import org.scalacheck.Prop.{forAll, propBoolean}

import io.sash.core.{Element, Laws, Operation}
import io.sash.core.slots.{Bytes, Invertible}

/** Windows whose elements are in a store, and whose headers are written and read as bytes. */
class StoredWindowsSuite extends Laws {
  import StoredWindowsSuite._

  private val bounds: Gen[Bound] = Gen.frequency(
    3 -> Gen.choose(0, 40).map(n => Rows(n.toLong, 0L)),
    2 -> Gen.choose(0, 60).map(t => Time(t.toLong)),
    1 -> Gen.zip(Gen.choose(0, 40), Gen.choose(1, 30)).map { case (more, until) =>
      Between(more.toLong + until, until.toLong)
    },
    1 -> Gen.zip(Gen.choose(0, 30), Gen.choose(1, 20)).map { case (n, lag) =>
      Rows(n.toLong + lag, lag.toLong)
    },
    1 -> Gen.const(Growing),
    1 -> Gen.choose(1, 30).map(n => Late(n.toLong)),
    1 -> Gen.choose(1, 30).map(Ending(_))
  )

  private val steps: Gen[Seq[Step]] =
    Gen.choose(0, 400).flatMap { n =>
      Gen.listOfN(
        n,
        Gen.frequency(
          8 -> Gen.frequency(6 -> Gen.choose(0, 3), 1 -> Gen.choose(0, 100)).map(Arrive(_)),
          1 -> Gen.const(Restart)
        )
      )
    }

  law("every window's answer is the aggregate of its elements, in order, whenever it restarts") {
    forAll(steps, Gen.choose(1, 3).flatMap(Gen.listOfN(_, bounds)), Gen.choose(1, 3)) {
      (steps, bounds, logFanOut) =>
        val stream = new Stream(bounds, logFanOut)
        steps.foreach(stream(_))
        true
    }
  }

  law("so are answers made by an inverse, and anew where there is none") {
    forAll(
      steps,
      Gen.choose(1, 3).flatMap(Gen.listOfN(_, bounds)),
      Gen.choose(1, 3),
      Gen.oneOf(true, false)
    ) { (steps, bounds, logFanOut, subtracting) =>
      var selected = -1
      val inverse = StoredWindows.Inverse(subtracting, selected = _)
      val stream = new Stream(bounds, logFanOut, Some(inverse), selected)
      steps.foreach(stream(_))
      true
    }
  }

  law("an inverse costs what comes and leaves, and after a restart the window", runs = 20) {
    forAll(Gen.choose(1, 2000), Gen.choose(1, 100), Gen.choose(1, 5)) { (rows, m, logFanOut) =>
      val stream =
        new Stream(Seq(Rows(rows.toLong, 0L)), logFanOut, Some(StoredWindows.Inverse()))
      (0 until 2 * rows).foreach(_ => stream(Arrive(1)))
      stream(Restart)
      val (gets, operations) = (stream.store.gets, stream.operations)
      (0 until m).foreach(_ => stream(Arrive(1)))
      val done = stream.operations - operations
      val got = stream.store.gets - gets
      (done <= rows + 2 * m) :| s"$done combines and subtractions for $m rows of $rows" &&
      (got <= (rows + m >> logFanOut) + (m >> logFanOut) + 4) :| s"$got nodes for $m rows of $rows" &&
      (stream.store.size <= (rows >> logFanOut) + 2) :| s"${stream.store.size} nodes for $rows rows"
    }
  }

  test(
    "by an inverse, F elements load a node where they enter, leave, and are looked at for times"
  ) {
    def loads(bound: Bound): Long = {
      val stream = new Stream(Seq(bound), logFanOut = 5, Some(StoredWindows.Inverse()))
      (0 until 1000).foreach(_ => stream(Arrive(1)))
      stream(Restart)
      stream(Arrive(1))
      val before = stream.store.gets
      (0 until 3200).foreach(_ => stream(Arrive(1)))
      stream.store.gets - before
    }
    assert(loads(Rows(499L, 0L)) <= 2 * 100 + 3)
    assert(loads(Time(500L)) <= 3 * 100 + 3)
    assert(loads(Between(500L, 100L)) <= 4 * 100 + 4)
  }

  law("the store holds what a window may still ask for, and no more", runs = 100) {
    forAll(steps, bounds, Gen.choose(1, 3)) { (steps, bound, logFanOut) =>
      val stream = new Stream(Seq(bound), logFanOut)
      steps.foreach(stream(_))
      stream(Restart)
      val fanOut = 1 << logFanOut
      val held = stream.end - stream.needed
      // of each level as many as fit in, and one that begins before the front; only levels in
      // which the window ever held an entry
      val levels = (math.log(stream.peak.toDouble) / math.log(fanOut.toDouble) + 1e-9).toInt + 1
      val most = (1 to levels).map(l => (held / math.pow(fanOut, l)).toLong + 1).sum
      (stream.store.size <= most) :| s"${stream.store.size} nodes for $held elements, not $most"
    }
  }

  /** Sums of 0, 1, 2, … in a window of `rows` rows, in one run or with restarts. */
  private final class Sums(rows: Long, logFanOut: Int) {
    val store = new MapStore
    private var windows = create(new LongSums)

    private def create(of: LongSums) =
      new StoredWindows(of, LongSums.Codec, store, logFanOut, Seq(StoredWindows.Shape()))

    def slide(count: Int): Unit = (0 until count).foreach { _ =>
      val slot = windows.open()
      windows.column.asInstanceOf[LongSums](slot) = windows.end
      windows.window(0).insert(slot)
      windows.append(windows.end)
      windows.window(0).evictTo(math.max(windows.window(0).front, windows.end - rows))
      windows.release()
      val size = windows.window(0).size
      val sum = windows.column.asInstanceOf[LongSums](windows.window(0).query())
      assert(sum == LongSums.expected(windows.window(0).front, size.toInt))
    }

    def restart(): Int = {
      val header = bytesOf(windows)
      windows = create(new LongSums)
      windows.read(ByteBuffer.wrap(header))
      header.length
    }
  }

  law("a batch of m rows asks the store for O(m / F + log n) nodes, however long the window") {
    forAll(Gen.oneOf(100, 1000, 10000), Gen.choose(1, 200), Gen.choose(2, 5)) { (rows, m, log) =>
      val s = new Sums(rows, log)
      s.slide(2 * rows)
      val fanOut = 1 << log
      val levels = math.ceil(math.log(rows.toDouble) / math.log(fanOut.toDouble)) + 1
      (1 to 10)
        .map { _ =>
          s.restart()
          val before = (s.store.gets, s.store.puts)
          s.slide(m)
          val gets = s.store.gets - before._1
          val puts = s.store.puts - before._2
          (gets <= 3.0 * m / (fanOut - 1) + 3 * levels) :| s"$gets nodes read for $m of $rows" &&
          (puts <= m / (fanOut - 1.0) + levels) :| s"$puts nodes put for $m of $rows"
        }
        .reduce(_ && _)
    }
  }

  law("a header holds F partials a level, and a window's front", runs = 20) {
    forAll(Gen.oneOf(10, 100, 1000, 10000), Gen.choose(2, 5)) { (rows, log) =>
      val s = new Sums(rows, log)
      s.slide(2 * rows + 7)
      val fanOut = 1 << log
      val levels = math.ceil(math.log(rows.toDouble) / math.log(fanOut.toDouble)).toInt + 1
      val bytes = s.restart()
      val inEdges =
        (0 until levels).map(l => math.min(fanOut, (rows / math.pow(fanOut, l)).toLong + 1)).sum
      val inFront = math.min(fanOut, rows) + levels
      val most = 17 * (inEdges + inFront + 2) + 10 * levels + 20
      (bytes <= most) :| s"$bytes bytes for $rows rows at fan-out $fanOut, not $most"
    }
  }

  test("a header holds no partial from before the window") {
    val s = new Sums(1L, logFanOut = 5)
    s.slide(32 * 40 + 1)
    val atBeginning = s.restart()
    s.slide(30)
    assert(s.restart() <= atBeginning + 4)
  }

  test("nodes that begin before the window have no parents, which nobody would ask for") {
    val s = new Sums(1L, logFanOut = 2)
    s.slide(4096)
    assert(s.store.puts == 4096 / 4)
  }

  law("one instance serves many streams, one after the other", runs = 50) {
    val turns = Gen.listOf(Gen.zip(Gen.choose(0, 2), Gen.choose(1, 20)))
    forAll(turns, Gen.oneOf(None, Some(StoredWindows.Inverse()))) { (turns, inverse) =>
      var stream = 0
      val stores = Vector.fill(3)(new MapStore)
      val headers = new Array[Array[Byte]](3)
      val came = Array.fill(3)(Vector.empty[Element])
      val store = new KeyValueStore {
        override def put(level: Int, first: Long, values: Array[Array[Byte]]): Unit =
          stores(stream).put(level, first, values)
        override def get(level: Int, first: Long, count: Int): Array[Array[Byte]] =
          stores(stream).get(level, first, count)
        override def remove(level: Int, from: Long, until: Long): Unit =
          stores(stream).remove(level, from, until)
      }
      val shapes = Seq(StoredWindows.Shape())
      val windows =
        new StoredWindows(new LeavingColumn, new HandleCodec, store, 2, shapes, inverse)
      val window = windows.window(0)
      def column = windows.column.asInstanceOf[StorableColumn[Vector[Element]]]
      turns.forall { case (of, count) =>
        stream = of
        if (came(of).isEmpty) windows.clear() else windows.read(ByteBuffer.wrap(headers(of)))
        val isRight = (0 until count).forall { _ =>
          came(of) :+= Element(of, came(of).length)
          val slot = windows.open()
          column.lift(slot, came(of).last)
          window.insert(slot)
          windows.append(windows.end)
          window.evictTo(math.max(window.front, windows.end - 10))
          windows.release()
          column(window.query()) == came(of).takeRight(10)
        }
        headers(of) = bytesOf(windows)
        isRight
      }
    }
  }

  law("bulk eviction by time, place or both loads O(log n) nodes", runs = 200) {
    forAll(
      Gen.oneOf(1000, 20000),
      Gen.choose(2, 5),
      Gen.choose(0.0, 1.0),
      Gen.choose(0, 2)
    ) { (n, log, part, by) =>
      val store = new MapStore
      val windows =
        new StoredWindows(new LongSums, LongSums.Codec, store, log, Seq(StoredWindows.Shape()))
      (0 until n).foreach { i =>
        val slot = windows.open()
        windows.column.asInstanceOf[LongSums](slot) = i
        windows.window(0).insert(slot)
        windows.append(i)
      }
      val to = (n * part).toLong
      val levels = math.ceil(math.log(n.toDouble) / math.log((1 << log).toDouble)) + 1
      val before = store.gets
      by match {
        case 0 => windows.window(0).evictBefore(to)
        case 1 => windows.window(0).evictTo(to)
        case _ =>
          val window = windows.window(0)
          window.evictTo(math.min(window.firstAt(n), to))
      }
      val sum = windows.column.asInstanceOf[LongSums](windows.window(0).query())
      (sum == LongSums.expected(to, (n - to).toInt)) :| s"the sum is $sum" &&
      (store.gets - before <= 4 * levels) :| s"${store.gets - before} nodes of $n elements"
    }
  }

  test("elements before a place leave if they are before a time, too, in both windows") {
    for (inverse <- Seq(None, Some(StoredWindows.Inverse(subtracting = false)))) {
      val windows = new StoredWindows(
        new LongSums,
        LongSums.Codec,
        new MapStore,
        2,
        Seq(StoredWindows.Shape()),
        inverse
      )
      arrive(windows, 0 until 100)
      val window = windows.window(0)
      for (
        (time, place, front) <- Seq(
          (30L, 10L, 10L),
          (12L, 50L, 12L),
          (5L, 60L, 12L),
          (99L, 98L, 98L)
        )
      ) {
        window.evictTo(math.min(window.firstAt(time), place))
        val sum = windows.column.asInstanceOf[LongSums](window.query())
        assert(window.front == front && sum == LongSums.expected(front, (100 - front).toInt))
      }
    }
  }

  law("an answer for some stretches has their elements, and the next answer has all") {
    val inverses =
      Gen.oneOf(
        None,
        Some(StoredWindows.Inverse()),
        Some(StoredWindows.Inverse(subtracting = false))
      )
    forAll(Gen.choose(1, 150), Gen.choose(1, 40), Gen.choose(1, 3), inverses, Gen.long) {
      (rows, width, fanOut, inverse, seed) =>
        val logFanOut = math.max(1, fanOut) // shrinking leaves the range
        val random = new scala.util.Random(seed)
        val behind = new WriteBehind(new MapStore)
        val shapes = Seq(StoredWindows.Shape())
        def create() =
          new StoredWindows(new LeavingSums, LongSums.Codec, behind, logFanOut, shapes, inverse)
        var windows = create()
        (0 until rows).forall { i =>
          val slot = windows.open()
          windows.column.asInstanceOf[LongSums](slot) = i.toLong
          val window = windows.window(0)
          window.insert(slot)
          windows.append(i / 2L)
          window.evictTo(math.max(window.front, i + 1L - width))
          windows.release()
          val ends = Seq.fill(6)(window.front + random.nextInt(window.size.toInt + 1)).sorted
          val stretches = ends.grouped(2).toSeq.drop(random.nextInt(4))
          window.begin()
          stretches.foreach { case Seq(from, until) => window.append(from, until) }
          val some = windows.column.asInstanceOf[LongSums](window.answer())
          val time = random.nextInt(i + 1) / 2L
          val isAt = window.firstAt(time) == math.min(i + 1L, math.max(window.front, 2 * time))
          val all =
            if (random.nextBoolean()) true
            else {
              val sum = windows.column.asInstanceOf[LongSums](window.query())
              sum == (window.front to i.toLong).sum
            }
          if (random.nextInt(5) == 0) {
            val header = bytesOf(windows)
            behind.flush()
            windows = create()
            windows.read(ByteBuffer.wrap(header))
          }
          isAt && all && some == stretches.map { case Seq(f, u) => (f until u).sum }.sum
        }
    }
  }

  test("nodes that come and go between two flushes are never written") {
    val store = new MapStore
    val behind = new WriteBehind(store)
    val windows =
      new StoredWindows(new LongSums, LongSums.Codec, behind, 2, Seq(StoredWindows.Shape()))
    arrive(windows, 0 until 1000)
    assert(store.puts == 0 && store.gets == 0 && store.removes == 0)
    behind.flush()
    assert(store.size > 20 && store.size < 50 && store.removes == 0)
    windows.drop()
    behind.flush()
    assert(store.size == 0)
  }

  test("held values are written, and an earlier header can still be read") {
    val behind = new WriteBehind(new MapStore, changing = true)
    val windows =
      new StoredWindows(new LongSums, LongSums.Codec, behind, 2, Seq(StoredWindows.Shape()))
    arrive(windows, 0 until 1000)
    val before = bytesOf(windows)
    behind.flush()
    arrive(windows, 1000 until 2000)
    val after = bytesOf(windows)
    behind.putHeld()
    behind.discard()
    for ((header, from) <- Seq(after -> 2000, before -> 1000)) {
      windows.read(java.nio.ByteBuffer.wrap(header))
      arrive(windows, from until from + 50)
      val sum = windows.column.asInstanceOf[LongSums](windows.window(0).query())
      assert(sum == (from - 50 until from + 50).sum)
      behind.discard()
    }
  }

  test("what is discarded has not been") {
    val store = new MapStore
    val behind = new WriteBehind(store)
    val windows =
      new StoredWindows(new LongSums, LongSums.Codec, behind, 2, Seq(StoredWindows.Shape()))
    arrive(windows, 0 until 1000)
    val header = bytesOf(windows)
    behind.flush()
    val (puts, removes) = (store.puts, store.removes)
    arrive(windows, 1000 until 2000)
    behind.discard()
    behind.flush()
    assert(store.puts == puts && store.removes == removes)
    windows.read(java.nio.ByteBuffer.wrap(header))
    arrive(windows, 1000 until 1500)
    val sum = windows.column.asInstanceOf[LongSums](windows.window(0).query())
    assert(sum == (1400 until 1500).sum)
  }

  /** Appends elements to a window of the last 100. */
  private def arrive(windows: StoredWindows, elements: Range): Unit = elements.foreach { i =>
    val slot = windows.open()
    windows.column.asInstanceOf[LongSums](slot) = i
    windows.window(0).insert(slot)
    windows.append(i)
    windows.window(0).evictTo(math.max(0L, i - 99))
    windows.release()
  }
}

private object StoredWindowsSuite {
  def bytesOf(windows: StoredWindows): Array[Byte] = {
    val out = new Bytes
    windows.write(out)
    out.toArray
  }

  sealed trait Step
  case class Arrive(later: Int) extends Step
  case object Restart extends Step

  sealed abstract class Bound(evicts: Boolean = true, lags: Boolean = false) {
    def shape: StoredWindows.Shape = StoredWindows.Shape(evicts, lags)
  }

  /** From `preceding` rows before the current row to `until` rows before it. */
  case class Rows(preceding: Long, until: Long) extends Bound(lags = until > 0)
  case class Time(width: Long) extends Bound

  /** From `width` time units before the current row to `until` units before it. */
  case class Between(width: Long, until: Long) extends Bound(lags = true)
  case object Growing extends Bound(evicts = false)

  /** All rows except the last `until` ones. */
  case class Late(until: Long) extends Bound(evicts = false, lags = true)

  /** All rows leave at once, after every `every` rows. */
  case class Ending(every: Int) extends Bound(evicts = false)

  /** Lists from which the oldest elements can be removed. */
  final class LeavingColumn
      extends StorableColumn[Vector[Element]](Operation.Collect)
      with Invertible {
    override def subtract(dst: Int, whole: Int, oldest: Int): Unit = {
      subtracts += 1
      require(this(whole).startsWith(this(oldest)))
      put(dst, this(whole).drop(this(oldest).length))
    }
  }

  /** Sums from which any element can be taken. */
  final class LeavingSums extends LongSums with Invertible {
    override def subtract(dst: Int, whole: Int, oldest: Int): Unit =
      this(dst) = this(whole) - this(oldest)
  }

  /** A stream of elements, over windows and over an oracle that keeps all elements. */
  final class Stream(
      bounds: Seq[Bound],
      logFanOut: Int,
      inverse: Option[StoredWindows.Inverse] = None,
      selected: => Int = -2
  ) {
    val store = new MapStore
    private val behind = new WriteBehind(store)
    private val codec = new HandleCodec
    private var windows = create()
    private var elements = Vector.empty[(Long, Element)]
    private var ended = Vector.fill(bounds.length)(0)

    /** The most elements that the first window has held. */
    var peak = 1L

    private def create() =
      new StoredWindows(
        if (inverse.isEmpty) new StorableColumn(Operation.Collect) else new LeavingColumn,
        codec,
        behind,
        logFanOut,
        bounds.map(_.shape),
        inverse
      )

    /** The combines and subtractions of the column. A restart begins the count anew. */
    def operations: Long = column.operations

    def end: Long = windows.end

    def needed: Long = {
      val window = windows.window(0)
      if (bounds.head.shape.evicts) window.front else window.back
    }

    def apply(step: Step): Unit = step match {
      case Restart =>
        val header = bytesOf(windows)
        behind.flush()
        windows = create()
        windows.read(ByteBuffer.wrap(header))
      case Arrive(later) =>
        val time = elements.lastOption.fold(0L)(_._1) + later
        val element = Element(later, elements.length)
        elements :+= (time -> element)
        val slot = windows.open()
        column.lift(slot, element)
        bounds.indices.foreach { i =>
          bounds(i) match {
            case b if b.shape.lags => ()
            case _                 => windows.window(i).insert(slot)
          }
        }
        windows.append(time)
        peak = math.max(peak, end - needed)
        bounds.indices.foreach(i => move(bounds(i), i, time))
        windows.release()
        bounds.indices.foreach(i => check(bounds(i), i, time))
    }

    private def column = windows.column.asInstanceOf[StorableColumn[Vector[Element]]]

    private def move(bound: Bound, i: Int, time: Long): Unit = {
      val window = windows.window(i)
      bound match {
        case Rows(preceding, until) =>
          window.insertTo(math.max(0L, end - until))
          window.evictTo(math.min(window.back, math.max(0L, end - 1 - preceding)))
        case Time(width) => window.evictBefore(time - width)
        case Between(width, until) =>
          while (window.back < end && window.timeOf(window.back) <= time - until)
            window.insertTo(window.back + 1)
          window.evictBefore(time - width)
        case Growing     => ()
        case Late(until) => window.insertTo(math.max(0L, end - until))
        case Ending(every) =>
          if (end % every == 0) {
            window.evictAll()
            ended = ended.updated(i, end.toInt)
          }
      }
    }

    private def check(bound: Bound, i: Int, time: Long): Unit = {
      val n = elements.length
      val expected = bound match {
        case Rows(preceding, until) =>
          val to = math.max(0, n - until.toInt)
          elements.slice(math.min(to, math.max(0, n - 1 - preceding.toInt)), to)
        case Time(width) => elements.filter(_._1 >= time - width)
        case Between(width, until) =>
          elements.filter { case (t, _) => time - width <= t && t <= time - until }
        case Growing     => elements
        case Late(until) => elements.dropRight(until.toInt)
        case Ending(_)   => elements.drop(ended(i))
      }
      val answer = column(windows.window(i).query())
      assert(selected == -2 || selected == i)
      assert(answer == expected.map(_._2), s"window $i of $bounds at row $n")
    }
  }
}
