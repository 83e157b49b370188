package io.sash.spark.multisets

import java.nio.ByteBuffer
import java.util.{Arrays, HashMap}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import io.sash.core.slots.Bytes

/** A multiset of rows, to which rows are added. */
private[spark] final class RowMultiset {
  private val counts = new HashMap[UnsafeRow, RowMultiset.Tally]

  /** @param row copied if it is kept */
  def add(row: UnsafeRow, times: Long): Unit = {
    val known = counts.get(row)
    if (known == null) counts.put(row.copy(), new RowMultiset.Tally(times))
    else known.times += times
  }

  def addAll(other: RowMultiset): Unit =
    other.counts.forEach((row, tally) => add(row, tally.times))

  /** The multiset as bytes: see the companion. */
  def toBytes: Array[Byte] = {
    val rows = counts.keySet.toArray(new Array[UnsafeRow](0))
    Arrays.sort(
      rows,
      (a: UnsafeRow, b: UnsafeRow) => Arrays.compareUnsigned(a.getBytes, b.getBytes)
    )
    val out = new Bytes
    rows.foreach(row => RowMultiset.put(out, row, counts.get(row).times))
    out.toArray
  }
}

/**
 * Multisets of rows as bytes, which slots and states hold. Each different row is there once, with
 * its count. Rows are different if their bytes are, and lie in the order of these bytes.
 *
 * Cost: a union takes the length of both operands.
 */
private[spark] object RowMultiset {
  val Empty: Array[Byte] = Array.emptyByteArray

  private final class Tally(var times: Long)

  def one(row: UnsafeRow): Array[Byte] = {
    val out = new Bytes
    put(out, row, 1L)
    out.toArray
  }

  private def put(out: Bytes, row: UnsafeRow, times: Long): Unit = {
    out.putBytes(row.getBytes)
    out.putNumber(times)
  }

  /** The multiset with the rows of both. The operands stay as they are. */
  def union(left: Array[Byte], right: Array[Byte]): Array[Byte] =
    if (right.length == 0) left
    else if (left.length == 0) right
    else {
      // a row in both operands is written once, so the sum of their lengths is enough
      val out = ByteBuffer.allocate(left.length + right.length)
      val (l, r) = (new Cursor(left), new Cursor(right))
      while (l.isOne && r.isOne) {
        val order = l.compare(r)
        if (order < 0) l.copyTo(out)
        else if (order > 0) r.copyTo(out)
        else l.copyTo(out, r)
      }
      l.restTo(out)
      r.restTo(out)
      Arrays.copyOf(out.array, out.position())
    }

  /**
   * Calls `f` with each row and its count. The row is valid during the call only.
   *
   * @param width the number of fields of a row
   */
  def foreach(rows: Array[Byte], width: Int)(f: (UnsafeRow, Long) => Unit): Unit = {
    val row = new UnsafeRow(width)
    val cursor = new Cursor(rows)
    while (cursor.isOne) {
      cursor.pointTo(row)
      f(row, cursor.times)
      cursor.next()
    }
  }

  /** Reads the rows of a multiset one after the other. */
  private final class Cursor(rows: Array[Byte]) {
    private[this] val in = ByteBuffer.wrap(rows)
    private[this] var start, from, until = 0
    var isOne = false
    var times = 0L

    next()

    def next(): Unit = {
      isOne = in.hasRemaining
      start = in.position()
      if (isOne) {
        val length = Bytes.number(in).toInt
        from = in.position()
        until = from + length
        in.position(until)
        times = Bytes.number(in)
      }
    }

    def compare(other: Cursor): Int = other.compareTo(rows, from, until)

    private def compareTo(of: Array[Byte], first: Int, last: Int): Int =
      Arrays.compareUnsigned(of, first, last, rows, from, until)

    /** Copies the row to an array of its own, since rows begin at multiples of eight bytes. */
    def pointTo(row: UnsafeRow): Unit =
      row.pointTo(Arrays.copyOfRange(rows, from, until), until - from)

    def copyTo(out: ByteBuffer): Unit = {
      out.put(rows, start, in.position() - start)
      next()
    }

    /** Writes the row with the counts of both cursors. */
    def copyTo(out: ByteBuffer, same: Cursor): Unit = {
      out.put(rows, start, until - start)
      val count = new Bytes
      count.putNumber(times + same.times)
      out.put(count.toArray)
      next()
      same.next()
    }

    def restTo(out: ByteBuffer): Unit = if (isOne) out.put(rows, start, rows.length - start)
  }
}
