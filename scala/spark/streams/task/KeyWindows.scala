package io.sash.spark.streams.task

import java.nio.ByteBuffer

import scala.collection.IndexedSeq

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import io.sash.core.slots.Bytes
import io.sash.core.stored.PeerMarks
import io.sash.spark.streams.program.StreamProgram
import io.sash.spark.streams.state.{KeyHeader, StreamMetrics, StreamState}

/** The windows of a [[StreamProgram]] for one key at a time, and their answers. */
private[streams] final class KeyWindows(program: StreamProgram, state: StreamState) {
  private[this] val current = new PeerMarks(program.marks.length)
  private[this] val trees =
    program.trees.indices.map(new KeyTree(program, _, current, state)).toArray
  private[this] val slides = new StreamSlides(program, current)
  private[this] val marks = new Marks(program)
  private[this] val answered = new PeerAnswers(program, current, trees, marks, slides)
  private[this] val out = new Bytes

  private[this] val known = new KeyHeader(program)
  private[this] val other = new KeyHeader(program) // for `isIdle` of a key that is not open
  private[this] var key: Array[Byte] = _
  private[this] var begunAnew = 0L // how often, since the key's state was read or written

  /**
   * Moves to a key.
   *
   * @param header the bytes that `write` has left; null if the key is new
   * @param rewrites whether the state may have nodes of rows after these
   */
  def open(key: Array[Byte], header: Array[Byte], rewrites: Boolean = false): Unit = {
    this.key = key
    begunAnew = 0L
    if (header == null) {
      known.clear()
      trees.foreach(_.clear(key))
    } else {
      val in = ByteBuffer.wrap(header)
      known.read(in)
      trees.foreach(_.read(key, in, rewrites))
    }
    slides.clear()
    if (!known.isNew) {
      current.open(known.lastTime, end)
      marks.read(known.lastTime, current.of(end - 1))
    }
  }

  def header: KeyHeader = known

  /** The number of the key's rows. */
  def end: Long = trees(0).end

  /** Takes in a whole group of peers, and answers them. Peers are equal in the window's order. */
  def take(peers: IndexedSeq[UnsafeRow]): Unit = {
    begin(peers)
    var i = 0
    while (i < peers.length) {
      answered.come(peers(i), i)
      takeIn(peers(i))
      answered.answerOne(peers, i)
      slides.note(i)
      i += 1
    }
    answered.answerAll(peers)
  }

  /** Takes in a group of peers, which `answerLater` will answer. */
  def takeUnanswered(peers: IndexedSeq[UnsafeRow]): Unit = {
    begin(peers)
    peers.foreach(takeIn)
    known.unanswered += peers.length
    if (program.countsGroups) known.unansweredGroups += 1
  }

  /**
   * Answers the oldest rows without an answer. If windows count groups, or frames are of peers,
   * the rows are a whole group of peers.
   */
  def answerLater(peers: IndexedSeq[UnsafeRow]): Unit = {
    current.begin(
      peers.head.getLong(program.time),
      end - known.unanswered,
      peers.length,
      known.groups - known.unansweredGroups + 1
    )
    var i = 0
    while (i < peers.length) {
      answered.come(peers(i), i)
      answered.answerOne(peers, i)
      i += 1
    }
    answered.answerAll(peers)
    known.unanswered -= peers.length
    if (program.countsGroups) known.unansweredGroups -= 1
  }

  /** The output rows of the rows that were answered last, by [[PeerAnswers.of]]. */
  def answers(rows: IndexedSeq[UnsafeRow]): Iterator[UnsafeRow] = answered.of(rows)

  /** Writes the key's state. */
  def write(): Unit = {
    out.clear()
    known.write(out)
    trees.foreach(_.write(out))
    state.heads.updateValue(key, out.toArray)
    state.counts(StreamMetrics.KeysRemoved) += begunAnew
    begunAnew = 0L
  }

  /**
   * The header of the windows as they are now, from which they can go on while `write` has left
   * an earlier one. The key must not have begun anew.
   */
  def headerBeside(): Array[Byte] = {
    out.clear()
    known.write(out)
    trees.foreach(_.writeBeside(out))
    out.toArray
  }

  /** Whether the key has begun anew since its state was read or written. */
  def hasBegunAnew: Boolean = begunAnew > 0

  /** Forgets the rows that have been taken in since the key's state was written. */
  def discard(): Unit = trees.foreach(_.discard())

  /** Removes the key's state. */
  def drop(): Unit = {
    state.counts(StreamMetrics.KeysRemoved) += 1
    trees.foreach(_.drop())
    state.heads.removeKey(key)
  }

  /** Whether the key can be forgotten: no row to come could tell it from a new key. */
  def isIdle(passed: Long): Boolean = isIdle(known, passed)

  /** The same for a key with this header, which need not be open. */
  def isIdle(header: Array[Byte], passed: Long): Boolean = {
    other.read(ByteBuffer.wrap(header))
    isIdle(other, passed)
  }

  private def isIdle(key: KeyHeader, passed: Long): Boolean =
    key.isNew || (key.unanswered == 0 && marks.isIdle(key.lastTime, passed))

  /** The time at which a key is idle whose last row has this time: see `Marks.nextSweep`. */
  def nextSweep(time: Long): Option[Long] = marks.nextSweep(time)

  /**
   * Begins a group of peers. It fails if they are older than the rows before: Spark lets no such
   * row through, and the state would be wrong.
   */
  private def begin(peers: IndexedSeq[UnsafeRow]): Unit = {
    val time = peers.head.getLong(program.time)
    if (isOver(time)) beginAnew()
    if (time < known.lastTime)
      throw new IllegalStateException(
        s"a row of $time came after one of ${known.lastTime}, in microseconds since 1970"
      )
    known.lastTime = time
    known.groups += 1
    current.begin(time, end, peers.length, known.groups)
  }

  /** Whether the key's time to live is over. */
  private def isOver(time: Long): Boolean =
    !known.isNew && program.timeToLive.exists(time - known.lastTime > _)

  /** Forgets all rows of the key, whose time to live is over. */
  private def beginAnew(): Unit = {
    trees.foreach(_.beginAnew())
    known.clear()
    slides.clear()
    begunAnew += 1
  }

  private def takeIn(row: UnsafeRow): Unit = {
    var t = 0
    while (t < trees.length) {
      trees(t).takeIn(row)
      t += 1
    }
  }
}
