package io.sash.spark.streams

import java.nio.ByteBuffer

import io.sash.core.stored.Bytes

/**
 * What is known of a bucket: for what it was written, when it wants to be called, and where its
 * pending rows are.
 *
 * @param text a hash of what the state is for
 * @param timer in milliseconds, if there is one
 * @param sweep when idle keys leave next, in microseconds, if they do
 * @param chunks of pending rows
 * @param nextChunk the number of the next one
 */
private[spark] final case class BucketHeader(
    text: Long,
    timer: Option[Long],
    sweep: Option[Long],
    chunks: Vector[PendingChunk],
    nextChunk: Long
) {
  def toBytes: Array[Byte] = {
    val out = new Bytes
    out.putNumber(BucketHeader.Layout)
    out.putLong(text)
    Seq(timer, sweep).foreach { time =>
      out.putNumber(time.size)
      time.foreach(out.putLong)
    }
    out.putNumber(nextChunk)
    out.putNumber(chunks.length)
    chunks.foreach { c =>
      out.putNumber(c.number)
      out.putLong(c.earliest)
    }
    out.toArray
  }
}

/** @param earliest the least event time of its rows, in microseconds */
private[spark] final case class PendingChunk(number: Long, earliest: Long)

private[spark] object BucketHeader {

  /** The version of all that Sash writes into its state. */
  val Layout: Int = 1

  def of(text: Long): BucketHeader = BucketHeader(text, None, None, Vector.empty, 0L)

  def layoutOf(bytes: Array[Byte]): Long = Bytes.number(ByteBuffer.wrap(bytes))

  /** None if it is of another layout. */
  def read(bytes: Array[Byte]): Option[BucketHeader] = {
    val in = ByteBuffer.wrap(bytes)
    Option.when(Bytes.number(in) == Layout) {
      val text = in.getLong()
      def time() = Option.when(Bytes.number(in) == 1)(in.getLong())
      val (timer, sweep) = (time(), time())
      val nextChunk = Bytes.number(in)
      val chunks =
        Vector.fill(Bytes.number(in).toInt)(PendingChunk(Bytes.number(in), in.getLong()))
      BucketHeader(text, timer, sweep, chunks, nextChunk)
    }
  }
}
