package io.sash.papers.stored

import java.nio.ByteBuffer

import org.rocksdb.{Options, ReadOptions, RocksDB, WriteBatch, WriteOptions}

import io.sash.core.stored.KeyValueStore

/** A store in RocksDB. A key is the level and the node's number. */
final class RocksStore(path: String) extends KeyValueStore with AutoCloseable {
  RocksDB.loadLibrary()
  private[this] val options = new Options().setCreateIfMissing(true)
  private[this] val writing = new WriteOptions().setDisableWAL(true)
  // a window reads nothing that it has removed, and checking removed ranges takes time
  private[this] val reading = new ReadOptions().setIgnoreRangeDeletions(true)
  private[this] val counting = new ReadOptions()
  private[this] val database = RocksDB.open(options, path)

  private def key(level: Int, number: Long): Array[Byte] =
    ByteBuffer.allocate(12).putInt(level).putLong(number).array

  override def put(level: Int, first: Long, values: Array[Array[Byte]]): Unit = {
    val batch = new WriteBatch
    try {
      values.indices.foreach(i => batch.put(key(level, first + i), values(i)))
      database.write(writing, batch)
    } finally batch.close()
  }

  override def get(level: Int, first: Long, count: Int): Array[Array[Byte]] = {
    val cursor = database.newIterator(reading)
    try {
      cursor.seek(key(level, first))
      Array.tabulate(count) { i =>
        val there = cursor.isValid && cursor.key.sameElements(key(level, first + i))
        require(there, s"no node ${first + i} of level $level")
        val value = cursor.value
        cursor.next()
        value
      }
    } finally cursor.close()
  }

  override def remove(level: Int, from: Long, until: Long): Unit =
    database.deleteRange(writing, key(level, from), key(level, until))

  /** The number of nodes in the store. */
  def size: Int = {
    val cursor = database.newIterator(counting)
    try {
      cursor.seekToFirst()
      Iterator
        .continually(cursor)
        .takeWhile(_.isValid)
        .map(_.next())
        .size
    } finally cursor.close()
  }

  override def close(): Unit =
    Seq(database, counting, reading, writing, options).foreach(_.close())
}
