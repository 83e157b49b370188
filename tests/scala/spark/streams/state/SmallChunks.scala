package io.sash.spark.streams.state

/** Chunks of two rows of [[PendingOfKey]], so that small tests have many. */
object SmallChunks {
  def apply[T](body: => T): T = of(2)(body)

  /** No chunks: the tail has all pending rows. */
  def none[T](body: => T): T = of(Int.MaxValue / 2)(body)

  private def of[T](rows: Int)(body: => T): T = {
    val before = PendingOfKey.ChunkRows
    PendingOfKey.ChunkRows = rows
    try body
    finally PendingOfKey.ChunkRows = before
  }
}
