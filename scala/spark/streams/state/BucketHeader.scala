package io.sash.spark.streams.state

import java.nio.ByteBuffer

import io.sash.core.slots.Bytes

/**
 * The header of a bucket: when the bucket is due, and where its waiting rows are. A batch that
 * changes the bucket writes the whole header, with an entry for each chunk: O(pending bytes / 8
 * KB).
 *
 * @param latest the latest time of a row, in microseconds or in panes; or `KeyHeader.NoTime`
 * @param timer the time of the registered timer, in milliseconds, if there is one
 * @param sweep the time, in microseconds, of the next walk over all keys, if one is planned
 * @param debt the number of rows that have to come before another walk over keys that never leave
 * @param pending the chunks of rows that the watermark has not passed
 * @param unanswered the chunks of rows that the watermark has passed, but not their due time
 */
private[spark] final case class BucketHeader(
    latest: Long,
    timer: Option[Long],
    sweep: Option[Long],
    debt: Long,
    pending: PendingChunks,
    unanswered: PendingChunks
) {

  /** The first time, in microseconds, at which something in the bucket is due, if ever. */
  def due: Option[Long] = (pending.earliest ++ unanswered.earliest ++ sweep).minOption

  def toBytes: Array[Byte] = {
    val out = new Bytes
    out.putLong(latest)
    Seq(timer, sweep).foreach { time =>
      out.putNumber(time.size)
      time.foreach(out.putLong)
    }
    out.putNumber(debt)
    pending.write(out)
    unanswered.write(out)
    out.toArray
  }
}

private[spark] object BucketHeader {

  /** The header of a bucket without rows. */
  val Empty: BucketHeader = BucketHeader(
    KeyHeader.NoTime,
    None,
    None,
    0L,
    PendingChunks.Empty,
    PendingChunks.Empty
  )

  def read(bytes: Array[Byte]): BucketHeader = {
    val in = ByteBuffer.wrap(bytes)
    def time() = Option.when(Bytes.number(in) == 1)(in.getLong())
    BucketHeader(
      in.getLong(),
      time(),
      time(),
      Bytes.number(in),
      PendingChunks.read(in),
      PendingChunks.read(in)
    )
  }
}

/**
 * The chunks of [[PendingRows]], in the order in which they were written.
 *
 * @param next the number of the next chunk
 */
private[spark] final case class PendingChunks(chunks: Vector[PendingChunk], next: Long) {
  def earliest: Option[Long] = chunks.map(_.earliest).minOption

  def write(out: Bytes): Unit = {
    out.putNumber(next)
    out.putNumber(chunks.length)
    chunks.foreach { c =>
      out.putNumber(c.number)
      out.putLong(c.earliest)
      out.putNumber(c.bytes)
    }
  }
}

private[spark] object PendingChunks {
  val Empty: PendingChunks = PendingChunks(Vector.empty, 0L)

  def read(in: ByteBuffer): PendingChunks = {
    val next = Bytes.number(in)
    val chunks = Vector.fill(Bytes.number(in).toInt)(
      PendingChunk(Bytes.number(in), in.getLong(), Bytes.number(in).toInt)
    )
    PendingChunks(chunks, next)
  }
}

/**
 * A chunk of rows in the state.
 *
 * @param earliest the least time of its rows, in microseconds
 */
private[spark] final case class PendingChunk(number: Long, earliest: Long, bytes: Int)
