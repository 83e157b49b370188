package io.sash.spark.streams

import java.nio.ByteBuffer
import java.util.BitSet

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._

import io.sash.core.stored.Bytes

/** What a task keeps for a [[StreamProgram]] from bucket to bucket. */
private[spark] final class StreamTask(program: StreamProgram, state: StreamState)
    extends BucketTask {
  private[this] val keyOf = UnsafeProjection.create(program.keys, program.input)
  private[this] val order = new RowOrders(program.input, program.keys, program.order)

  private[this] val groups =
    program.groups.indices.map(new GroupWindows(program, _, state)).toArray
  private[this] val slides = program.windows.map(_.slide.orNull).toArray
  private[this] val ordinals = program.windows.indices.map(program.resultsOf(_).toArray).toArray
  private[this] val marks = new Marks(program)
  private[this] val current = new StreamRow(program.marks.length)

  private[this] val output = UnsafeProjection.create(program.output, program.input)
  private[this] val joined = new JoinedRow
  private[this] var results = Array(newResult())
  private[this] val out = new Bytes
  private[this] var hasWritten = false // a key of this bucket

  private[this] val pending = new PendingRows(state, program.time, program.input.length)

  override def turn(
      before: BucketHeader,
      rows: Iterator[UnsafeRow],
      passed: Long
  ): BucketTurn = {
    val ready = new ReadyRows(keyOf, order)
    pending.open(before, passed)(ready.add)
    rows.foreach { row =>
      if (row.getLong(program.time) <= passed) ready.add(row) else pending.add(row)
    }
    val left = pending.close()
    hasWritten = false
    BucketTurn(new Answers(ready), () => left.copy(sweep = sweep(before.sweep, passed)))
  }

  /** The rows with their answers, key by key; a key's state is read and written on the way. */
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
        current.firstPeer = groups(0).end
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
   * Drops the keys that a row to come could not tell from new ones, if the time for that has come:
   * a walk over all keys of the bucket, once in the time after which a key is idle.
   *
   * @param planned when the walk was to be, none if there was no key
   * @param passed what the watermark has passed
   * @return when the next one is to be, none if no key is left
   */
  private def sweep(planned: Option[Long], passed: Long): Option[Long] =
    if (planned.isEmpty && !hasWritten) {
      None
    } else if (planned.forall(_ > passed)) {
      planned.orElse(marks.nextSweep(passed))
    } else {
      var others = false
      val idle = state.heads
        .iterator()
        .filter { case (_, header) =>
          val isIdle = marks.isIdle(ByteBuffer.wrap(header).getLong(), passed)
          others |= !isIdle
          isIdle
        }
        .toVector
      idle.foreach { case (key, header) => drop(key, header) }
      if (others) marks.nextSweep(passed) else None
    }

  private def drop(key: Array[Byte], header: Array[Byte]): Unit = {
    read(key, header)
    groups.foreach(_.drop())
    state.heads.removeKey(key)
  }

  /** The time of the last row that the key's windows have taken in. */
  private def read(key: Array[Byte], header: Array[Byte]): Long = {
    current.isFirst = header == null
    if (header == null) {
      groups.foreach(_.clear(key))
      Long.MinValue
    } else {
      val in = ByteBuffer.wrap(header)
      val lastTime = in.getLong()
      groups.foreach(_.read(key, in))
      current.time = lastTime
      marks.read(lastTime, current.values)
      lastTime
    }
  }

  private def write(key: Array[Byte], lastTime: Long): Unit = {
    hasWritten = true
    out.clear().putLong(lastTime)
    groups.foreach(_.write(out))
    state.heads.updateValue(key, out.toArray)
  }

  /** Takes a row into the windows, the one of this number among its peers. */
  private def takeIn(row: UnsafeRow, time: Long, peer: Int): Unit = {
    if (peer == results.length) results ++= Array.fill(results.length)(newResult())
    current.advance()
    current.time = time
    marks.read(row, current.values)
    var g = 0
    while (g < groups.length) {
      groups(g).takeIn(row, current)
      groups(g).answer(ofPeers = false, current, results, peer, peer + 1)
      g += 1
    }
    noteSlides(peer)
  }

  /** The windows that are of peers answer when all of them are there. */
  private def answerPeers(count: Int): Unit = {
    var g = 0
    while (g < groups.length) {
      groups(g).answer(ofPeers = true, current, results, 0, count)
      groups(g).release()
      g += 1
    }
    dropBetweenSlides(count)
  }

  /** Of the peers, at which each window slides. */
  private[this] val slidesAt = slides.map(_ => new BitSet)

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

  private def newResult(): InternalRow = new SpecificInternalRow(program.results)
}

private[spark] object StreamTask {

  /** 32 partials in a node. */
  val LogFanOut: Int = 5
}
