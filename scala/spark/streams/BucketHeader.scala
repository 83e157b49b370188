package io.sash.spark.streams

import java.nio.ByteBuffer

import io.sash.core.stored.Bytes

/**
 * What is known of a bucket: when it wants to be called, and where its pending rows are.
 *
 * @param timer in milliseconds, if there is one
 * @param sweep when idle keys leave next, in microseconds, if they do
 * @param chunks of pending rows, in the order in which they came
 * @param nextChunk the number of the next one
 */
private[spark] final case class BucketHeader(
    timer: Option[Long],
    sweep: Option[Long],
    chunks: Vector[PendingChunk],
    nextChunk: Long
) {
  def toBytes: Array[Byte] = {
    val out = new Bytes
    Seq(timer, sweep).foreach { time =>
      out.putNumber(time.size)
      time.foreach(out.putLong)
    }
    out.putNumber(nextChunk)
    out.putNumber(chunks.length)
    chunks.foreach { c =>
      out.putNumber(c.number)
      out.putLong(c.earliest)
      out.putNumber(c.bytes)
    }
    out.toArray
  }
}

/** @param earliest the least event time of its rows, in microseconds */
private[spark] final case class PendingChunk(number: Long, earliest: Long, bytes: Int)

private[spark] object BucketHeader {
  val Empty: BucketHeader = BucketHeader(None, None, Vector.empty, 0L)

  def read(bytes: Array[Byte]): BucketHeader = {
    val in = ByteBuffer.wrap(bytes)
    def time() = Option.when(Bytes.number(in) == 1)(in.getLong())
    val (timer, sweep) = (time(), time())
    val nextChunk = Bytes.number(in)
    val chunks = Vector.fill(Bytes.number(in).toInt)(
      PendingChunk(Bytes.number(in), in.getLong(), Bytes.number(in).toInt)
    )
    BucketHeader(timer, sweep, chunks, nextChunk)
  }
}
