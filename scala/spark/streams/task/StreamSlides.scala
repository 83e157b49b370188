package io.sash.spark.streams.task

import java.util.BitSet

import org.apache.spark.sql.catalyst.InternalRow

import io.sash.core.stored.PeerMarks
import io.sash.spark.streams.program.StreamProgram

/** The windows that slide: for each, the peers of the current group at which it answers. */
private[task] final class StreamSlides(program: StreamProgram, current: PeerMarks) {
  private[this] val slides =
    program.windows.map(_.createSlide(_.rows(current, null))).toArray
  private[this] val ordinals = program.windows.indices.map(program.resultsOf(_).toArray).toArray
  private[this] val answered = slides.map(_ => new BitSet)

  /** Another key begins. */
  def clear(): Unit = slides.foreach(s => if (s != null) s.clear())

  /** Notes which windows answer a peer, by its number. Each peer is noted once, in order. */
  def note(peer: Int): Unit = {
    var w = 0
    while (w < slides.length) {
      if (slides(w) != null) answered(w).set(peer, slides(w).isAt(current.firstPeer + peer))
      w += 1
    }
  }

  /** Sets the results of the first peers to NULL for windows that do not answer them. */
  def dropBetween(results: Array[InternalRow], peers: Int): Unit = {
    var w = 0
    while (w < slides.length) {
      var i = 0
      while (slides(w) != null && i < peers) {
        if (!answered(w).get(i)) ordinals(w).foreach(results(i).setNullAt)
        i += 1
      }
      w += 1
    }
  }
}
