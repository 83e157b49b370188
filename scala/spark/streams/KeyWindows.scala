package io.sash.spark.streams

import java.nio.ByteBuffer
import java.util.BitSet

import scala.collection.IndexedSeq

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._

import io.sash.core.stored.Bytes

/** The windows of a [[StreamProgram]], of one key at a time, and what they answer. */
private[streams] final class KeyWindows(program: StreamProgram, state: StreamState) {
  private[this] val groups =
    program.groups.indices.map(new GroupWindows(program, _, state)).toArray
  private[this] val slides = program.windows.map(_.slide.orNull).toArray
  private[this] val ordinals = program.windows.indices.map(program.resultsOf(_).toArray).toArray
  private[this] val current = new StreamRow(program.marks.length)

  private[this] val output = UnsafeProjection.create(program.output, program.input)
  private[this] val joined = new JoinedRow
  private[this] var results = Array(newResult())
  private[this] val out = new Bytes

  private[this] var key: Array[Byte] = _
  private[this] var lastTime = KeyWindows.NoTime

  private[this] val marks = new Marks(program)

  /**
   * Goes on with a key.
   *
   * @param header what `write` has left, null if nothing
   */
  def open(key: Array[Byte], header: Array[Byte]): Unit = {
    this.key = key
    if (header == null) {
      groups.foreach(_.clear(key))
      lastTime = KeyWindows.NoTime
    } else {
      val in = ByteBuffer.wrap(header)
      lastTime = in.getLong()
      groups.foreach(_.read(key, in))
    }
    current.isFirst = lastTime == KeyWindows.NoTime
    if (!current.isFirst) {
      current.time = lastTime
      marks.read(lastTime, current.values)
    }
  }

  /** Takes rows in, which are all that are equal to the first of them in the window's order. */
  def take(peers: IndexedSeq[UnsafeRow]): Unit = {
    val time = peers.head.getLong(program.time)
    lastTime = timeAfter(lastTime, time)
    current.firstPeer = groups(0).end
    var i = 0
    while (i < peers.length) {
      takeIn(peers(i), time, i)
      i += 1
    }
    answerPeers(peers.length)
  }

  /** What a row becomes, which was given the answers of the peer of this number, until the next. */
  def answer(row: UnsafeRow, i: Int): UnsafeRow = output(joined(row, results(i)))

  /** Writes the key's state. */
  def write(): Unit = {
    out.clear().putLong(lastTime)
    groups.foreach(_.write(out))
    state.heads.updateValue(key, out.toArray)
  }

  /** Forgets the rows that have come since the key's state was written. */
  def discard(): Unit = groups.foreach(_.discard())

  /** Removes the key's state. */
  def drop(): Unit = {
    groups.foreach(_.drop())
    state.heads.removeKey(key)
  }

  /** Whether no row to come could tell the key from a new one. */
  def isIdle(passed: Long): Boolean = isIdle(lastTime, passed)

  /** The same of a key that has left this header. */
  def isIdle(header: Array[Byte], passed: Long): Boolean =
    isIdle(ByteBuffer.wrap(header).getLong(), passed)

  private def isIdle(lastTime: Long, passed: Long): Boolean =
    lastTime == KeyWindows.NoTime || marks.isIdle(lastTime, passed)

  /** When keys whose last row is of this time are idle, to within its double; none if never. */
  def nextSweep(time: Long): Option[Long] = marks.nextSweep(time)

  /** What Spark has let through is not older than what was answered; else state would be wrong. */
  private def timeAfter(last: Long, time: Long): Long = {
    if (time < last) {
      throw new IllegalStateException(
        s"a row of $time came after one of $last was answered, in microseconds since 1970"
      )
    }
    time
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

private object KeyWindows {

  /** In the place of the time of the last row, where there is none. */
  private val NoTime = Long.MinValue
}
