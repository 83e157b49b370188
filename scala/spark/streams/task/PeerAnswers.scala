package io.sash.spark.streams.task

import scala.collection.IndexedSeq

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._

import io.sash.core.stored.PeerMarks
import io.sash.spark.streams.program.StreamProgram

/** The answers of a key's windows to the rows of one group of peers. */
private[task] final class PeerAnswers(
    program: StreamProgram,
    current: PeerMarks,
    trees: Array[KeyTree],
    marks: Marks,
    slides: StreamSlides
) {
  // the time up to which nothing is answered, and whether the current row is not after it
  private[this] val silent =
    program.start.flatMap(_.silent).getOrElse(Long.MinValue)
  private[this] var isSilent = false

  private[this] val output = UnsafeProjection.create(program.answers.output, program.input)
  private[this] val joined = new JoinedRow
  private[this] var results = Array(newResult())

  /** Makes a row the current one, to which windows move; `peer` is its number among its peers. */
  def come(row: UnsafeRow, peer: Int): Unit = {
    isSilent = row.getLong(program.time) <= silent
    if (peer == results.length) results ++= Array.fill(results.length)(newResult())
    marks.read(row, current.of(current.firstPeer + peer))
  }

  /** Answers one of the peers by the windows whose frames are not of peers. */
  def answerOne(peers: IndexedSeq[UnsafeRow], peer: Int): Unit = {
    var t = 0
    while (t < trees.length) {
      trees(t).answer(ofPeers = false, peers, results, peer, peer + 1, isSilent)
      t += 1
    }
  }

  /**
   * Answers all peers by the windows whose frames are of peers, when all of them have been taken
   * in.
   */
  def answerAll(peers: IndexedSeq[UnsafeRow]): Unit = {
    val count = peers.length
    var t = 0
    while (t < trees.length) {
      trees(t).answer(ofPeers = true, peers, results, 0, count, isSilent)
      trees(t).release()
      t += 1
    }
    slides.dropBetween(results, count)
  }

  /** The output rows of the peers, each valid until the next. Peers of the history have none. */
  def of(peers: IndexedSeq[UnsafeRow]): Iterator[UnsafeRow] = new Iterator[UnsafeRow] {
    private[this] var at = if (isSilent) peers.length else 0

    override def hasNext: Boolean = at < peers.length

    override def next(): UnsafeRow = {
      at += 1
      output(joined(peers(at - 1), results(at - 1)))
    }
  }

  private def newResult(): InternalRow = new SpecificInternalRow(program.answers.types)
}
