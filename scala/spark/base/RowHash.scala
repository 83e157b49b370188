package io.sash.spark.base

import org.apache.spark.sql.catalyst.expressions.{UnsafeRow, XXH64}

/** A hash of the bytes of a row. One in 2^64^ pairs of different rows has equal hashes. */
private[spark] object RowHash {
  def of(row: UnsafeRow): Long =
    XXH64.hashUnsafeBytes(row.getBaseObject, row.getBaseOffset, row.getSizeInBytes, 42L)
}
