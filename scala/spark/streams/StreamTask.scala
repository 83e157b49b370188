package io.sash.spark.streams

import java.nio.ByteBuffer
import java.util.BitSet

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._

import io.sash.core.policy.Condition
import io.sash.core.stored.{Bytes, StoredWindows, WriteBehind}
import io.sash.spark.memory.WindowMemory
import io.sash.spark.slots.SlotColumns

/** What a task keeps for a [[StreamProgram]] from bucket to bucket. */
private[spark] final class StreamTask(program: StreamProgram, state: StreamState) {
  private[this] val keyOf = UnsafeProjection.create(program.keys, program.input)
  private[this] val order = new RowOrders(program.input, program.keys, program.order)

  private[this] val nodes = new state.Nodes
  private[this] val behind = new WriteBehind(nodes)
  private[this] val slots =
    SlotColumns(program.slots).accountedBy(WindowMemory.Unlimited, program.slots)
  private[this] val stored = new StoredWindows(
    slots,
    slots.codec,
    behind,
    StreamTask.LogFanOut,
    program.windows.map(_.frame.shape)
  )
  private[this] val frames = program.windows.map(_.frame).toArray
  private[this] val slides = program.windows.map(_.slide.orNull).toArray
  private[this] val ordinals =
    program.windows.indices.map(program.slots.resultsOf(_).map(_._1).toArray).toArray
  private[this] val marks = new Marks(program)
  private[this] val current = new StreamRow(program.marks.length)
  private[this] val condition: Condition = slot => column.holds(slot)

  private[this] val output = UnsafeProjection.create(program.output, program.input)
  private[this] val joined = new JoinedRow
  private[this] var results = Array(newResult())
  private[this] val out = new Bytes
  private[this] var hasWritten = false // a key of this bucket

  val pending = new PendingRows(state, program.time, program.input.length)

  def ready(): ReadyRows = new ReadyRows(keyOf, order)

  /** The rows with their answers, key by key; a key's state is read and written on the way. */
  def answers(ready: ReadyRows): Iterator[InternalRow] = {
    hasWritten = false
    new Answers(ready)
  }

  private final class Answers(ready: ReadyRows) extends Iterator[InternalRow] {
    private[this] val source = ready.sorted()
    private[this] var ahead: UnsafeRow = _ // the row after the peers
    private[this] val peers = ArrayBuffer.empty[UnsafeRow] // equal in the window's order
    private[this] var at = 0 // the next of the peers to leave
    private[this] var key: UnsafeRow = _
    private[this] var lastTime = 0L

    pull()

    override def hasNext: Boolean = {
      if (at == peers.length) advance()
      at < peers.length
    }

    override def next(): InternalRow = {
      if (!hasNext) throw new NoSuchElementException("no more rows")
      val answer = output(joined(peers(at), results(at)))
      at += 1
      answer
    }

    /** Takes the next peers into their key's windows, and answers them. */
    private def advance(): Unit = {
      peers.clear()
      at = 0
      if (ahead == null || !isOfKey(ahead)) {
        if (key != null) close()
        if (ahead != null) open(ahead)
      }
      if (ahead != null) {
        val time = ahead.getLong(program.time)
        lastTime = timeAfter(lastTime, time)
        current.firstPeer = stored.end
        do {
          takeIn(ahead, time, peers.length)
          peers += ahead
          pull()
        } while (ahead != null && isPeer(ahead) && isOfKey(ahead))
        answerPeers(peers.length)
      }
    }

    private def pull(): Unit = ahead = if (source.hasNext) source.next() else null

    private def isPeer(row: UnsafeRow): Boolean = order.ofKey.compare(peers.head, row) == 0

    private def isOfKey(row: UnsafeRow): Boolean = keyOf(row) == key

    private def open(row: UnsafeRow): Unit = {
      key = keyOf(row).copy()
      lastTime = read(key.getBytes, state.heads.getValue(key.getBytes))
    }

    private def close(): Unit = {
      write(key.getBytes, lastTime)
      key = null
    }

    /** What Spark has let through is not older than what was answered; else state would be wrong. */
    private def timeAfter(last: Long, time: Long): Long = {
      if (time < last) {
        throw new IllegalStateException(
          s"a row of $time came after one of $last was answered, in microseconds since 1970"
        )
      }
      time
    }
  }

  /**
   * Drops the keys whose windows are empty for good, if the time for that has come: a walk over
   * all keys of the bucket, once in the time that the longest range takes.
   *
   * @param planned when the walk was to be, none if there was no key
   * @param passed what the watermark has passed
   * @return when the next one is to be, none if no key is left
   */
  def sweep(planned: Option[Long], passed: Long): Option[Long] =
    if (!program.expires || (planned.isEmpty && !hasWritten)) {
      None
    } else if (planned.forall(_ > passed)) {
      planned.orElse(Some(marks.next(passed)))
    } else {
      val first = marks.first(passed + 1)
      var others = false
      val idle = state.heads
        .iterator()
        .filter { case (_, header) =>
          val isIdle = ByteBuffer.wrap(header).getLong() < first
          others |= !isIdle
          isIdle
        }
        .toVector
      idle.foreach { case (key, header) => drop(key, header) }
      Option.when(others)(marks.next(passed))
    }

  private def drop(key: Array[Byte], header: Array[Byte]): Unit = {
    read(key, header)
    stored.drop()
    behind.flush()
    state.heads.removeKey(key)
  }

  /** The time of the last row that the key's windows have taken in. */
  private def read(key: Array[Byte], header: Array[Byte]): Long = {
    nodes.of(key)
    current.isFirst = header == null
    if (header == null) {
      stored.clear()
      Long.MinValue
    } else {
      val in = ByteBuffer.wrap(header)
      val lastTime = in.getLong()
      stored.read(in)
      current.time = lastTime
      marks.read(lastTime, current.values)
      lastTime
    }
  }

  private def write(key: Array[Byte], lastTime: Long): Unit = {
    hasWritten = true
    out.clear().putLong(lastTime)
    stored.write(out)
    state.heads.updateValue(key, out.toArray)
    behind.flush()
  }

  /** Takes a row into the windows, the one of this number among its peers. */
  private def takeIn(row: UnsafeRow, time: Long, peer: Int): Unit = {
    append(row, time)
    if (peer == results.length) results :+= newResult()
    answer(ofPeers = false, peer, peer + 1)
    noteSlides(peer)
  }

  /** The windows that are of peers answer when all of them are there. */
  private def answerPeers(count: Int): Unit = {
    answer(ofPeers = true, 0, count)
    dropBetweenSlides(count)
    stored.release()
  }

  private def append(row: UnsafeRow, time: Long): Unit = {
    current.advance()
    current.time = time
    marks.read(row, current.values)
    val slot = stored.open()
    column.lift(slot, row)
    var w = 0
    while (w < frames.length) {
      val window = stored.window(w)
      frames(w).arrive(window, current)
      if (!frames(w).lags) window.insert(slot)
      w += 1
    }
    stored.append(time)
    current.end = stored.end
  }

  /** Moves the windows that are of peers, or that are not, and writes what they answer. */
  private def answer(ofPeers: Boolean, first: Int, until: Int): Unit = {
    var w = 0
    while (w < frames.length) {
      if (frames(w).isOfPeers == ofPeers) {
        val window = stored.window(w)
        frames(w).move(window, current, condition)
        val slot = window.query()
        var i = first
        while (i < until) {
          column.lower(w, slot, results(i))
          i += 1
        }
      }
      w += 1
    }
  }

  /** Of the peers, at which each window slides. */
  private[this] val slidesAt = frames.map(_ => new BitSet)

  private def noteSlides(i: Int): Unit = {
    var w = 0
    while (w < slides.length) {
      if (slides(w) != null) slidesAt(w).set(i, slides(w).isAt(current))
      w += 1
    }
    current.isFirst = false
  }

  private def dropBetweenSlides(count: Int): Unit = {
    var w = 0
    while (w < slides.length) {
      var i = 0
      while (slides(w) != null && i < count) {
        if (!slidesAt(w).get(i)) ordinals(w).foreach(results(i).setNullAt)
        i += 1
      }
      w += 1
    }
  }

  private def column: SlotColumns = stored.column.asInstanceOf[SlotColumns]

  private def newResult(): InternalRow = new SpecificInternalRow(program.results)
}

private[spark] object StreamTask {

  /** 32 partials in a node. */
  val LogFanOut: Int = 5
}

/** What frames and slides look at in a row. */
private final class Marks(program: StreamProgram) {
  private[this] val count = program.marks.length
  private[this] val ofRow = UnsafeProjection.create(program.marks, program.input)
  private[this] val ofTime = {
    val time = AttributeSet(program.input(program.time))
    val marks =
      program.marks.map(m => if (m.references.subsetOf(time)) m else Literal(0L))
    UnsafeProjection.create(marks, program.input)
  }

  def read(row: InternalRow, values: Array[Long]): Unit = read(ofRow, row, values)

  private def read(of: UnsafeProjection, row: InternalRow, values: Array[Long]): Unit = {
    val marks = if (count > 0) of(row) else null
    var i = 0
    while (i < count) {
      values(i) = marks.getLong(i)
      i += 1
    }
  }

  /** Those that depend on nothing but the time; others are 0. */
  def read(time: Long, values: Array[Long]): Unit = {
    val row = new GenericInternalRow(program.input.length)
    row.update(program.time, time)
    read(ofTime, row, values)
  }

  /** The first time that a window of a row of this time holds. */
  def first(time: Long): Long = {
    val values = new Array[Long](count)
    read(time, values)
    val marks = program.windows.collect { case StreamFraming(StreamRange(Some(m), _), _) => m }
    marks.map(values(_)).minOption.getOrElse(time)
  }

  /** When windows that hold a row of this time are empty. */
  def next(time: Long): Long = time + math.max(time - first(time), Marks.Second)
}

private object Marks {
  private val Second: Long = 1000000L
}
