package io.sash.spark.streams

import java.nio.ByteBuffer
import java.util.{ArrayList, Arrays, Comparator, LinkedHashMap}

import scala.util.hashing.MurmurHash3

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateOrdering

import io.sash.core.stored.{Bytes, StoredWindows, WriteBehind}
import io.sash.spark.memory.WindowMemory
import io.sash.spark.slots.SlotColumns

/** Rows of a bucket that the watermark has passed, by their keys. */
private[spark] final class ReadyRows(key: UnsafeProjection) {
  private[streams] val byKey = new LinkedHashMap[UnsafeRow, ArrayList[UnsafeRow]]

  /** The caller does not change the row any more. */
  def add(row: UnsafeRow): Unit = {
    val of = key(row)
    var rows = byKey.get(of)
    if (rows == null) {
      rows = new ArrayList
      byKey.put(of.copy(), rows)
    }
    rows.add(row)
  }
}

/** What a task keeps for a [[StreamProgram]] from bucket to bucket. */
private[spark] final class StreamTask(program: StreamProgram, state: StreamState) {
  private[this] val key = UnsafeProjection.create(program.keys, program.input)
  private[this] val order: Comparator[InternalRow] =
    GenerateOrdering.generate(program.order, program.input)

  private[this] val nodes = new state.Nodes
  private[this] val behind = new WriteBehind(nodes)
  private[this] val slots =
    SlotColumns(program.slots).accountedBy(WindowMemory.Unlimited, program.slots)
  private[this] val stored = new StoredWindows(
    slots,
    slots.codec,
    behind,
    StreamTask.LogFanOut,
    program.windows.map(_.shape)
  )
  private[this] val windows = program.windows.toArray
  private[this] val boundsOf = new Bounds(program)

  private[this] val output = UnsafeProjection.create(program.output, program.input)
  private[this] val joined = new JoinedRow
  private[this] var results = Array(newResult())
  private[this] val out = new Bytes
  private[this] var hasWritten = false // a key of this bucket

  val pending = new PendingRows(state, program.time, program.input.length)

  val textHash: Long = {
    val text = program.text
    (MurmurHash3.stringHash(text).toLong << 32) | (MurmurHash3.stringHash(text, 1) & 0xffffffffL)
  }

  def ready(): ReadyRows = new ReadyRows(key)

  /** The rows with their answers, key by key; a key's state is read and written on the way. */
  def answers(ready: ReadyRows): Iterator[InternalRow] = {
    hasWritten = false
    new Answers(ready)
  }

  private final class Answers(ready: ReadyRows) extends Iterator[InternalRow] {
    private[this] val keys = ready.byKey.entrySet.iterator
    private[this] var key: Array[Byte] = _
    private[this] var rows = Array.empty[UnsafeRow]
    private[this] var at = 0 // the next row to leave
    private[this] var peers = 0 // the first of its peers
    private[this] var end = 0 // the row after the last of them
    private[this] var lastTime = 0L

    override def hasNext: Boolean = {
      if (at == end) advance()
      at < end
    }

    override def next(): InternalRow = {
      if (!hasNext) throw new NoSuchElementException("no more rows")
      val answer = output(joined(rows(at), results(at - peers)))
      at += 1
      answer
    }

    private def advance(): Unit = {
      if (end == rows.length) {
        if (key != null) close()
        if (keys.hasNext) open()
      }
      if (end < rows.length) {
        peers = end
        lastTime = rows(end).getLong(program.time)
        end = takePeers(rows, end)
      }
    }

    private def open(): Unit = {
      val entry = keys.next()
      key = entry.getKey.getBytes
      rows = entry.getValue.toArray(new Array[UnsafeRow](0))
      keys.remove() // its memory is not needed any longer than its rows
      sort(rows)
      at = 0
      peers = 0
      end = 0
      read(key, state.heads.getValue(key))
    }

    private def close(): Unit = {
      write(key, lastTime)
      key = null
      rows = Array.empty
      at = 0
      end = 0
    }
  }

  /**
   * Drops the keys whose windows are empty for good, if the time for that has come: a walk over
   * all keys of the bucket, once in the time that the longest range takes.
   *
   * @param planned when the walk was to be, none if there was no key
   * @param passed what the watermark has passed
   * @return when the next one is to be, none if no key is left
   */
  def sweep(planned: Option[Long], passed: Long): Option[Long] =
    if (!program.expires || (planned.isEmpty && !hasWritten)) {
      None
    } else if (planned.forall(_ > passed)) {
      planned.orElse(Some(boundsOf.next(passed)))
    } else {
      val first = boundsOf.first(passed + 1)
      var others = false
      val idle = state.heads
        .iterator()
        .filter { case (_, header) =>
          val isIdle = ByteBuffer.wrap(header).getLong() < first
          others |= !isIdle
          isIdle
        }
        .toVector
      idle.foreach { case (key, header) => drop(key, header) }
      Option.when(others)(boundsOf.next(passed))
    }

  private def drop(key: Array[Byte], header: Array[Byte]): Unit = {
    read(key, header)
    stored.drop()
    behind.flush()
    state.heads.removeKey(key)
  }

  private def read(key: Array[Byte], header: Array[Byte]): Unit = {
    nodes.of(key)
    if (header == null) {
      stored.clear()
    } else {
      val in = ByteBuffer.wrap(header)
      in.getLong() // its last time
      stored.read(in)
    }
  }

  private def write(key: Array[Byte], lastTime: Long): Unit = {
    hasWritten = true
    out.clear().putLong(lastTime)
    stored.write(out)
    state.heads.updateValue(key, out.toArray)
    behind.flush()
  }

  private def sort(rows: Array[UnsafeRow]): Unit = {
    var i = 1
    while (i < rows.length && order.compare(rows(i - 1), rows(i)) <= 0) i += 1
    if (i < rows.length) Arrays.sort(rows, order)
  }

  /** Takes the rows of one time into the windows, and answers them. Where the next time begins. */
  private def takePeers(rows: Array[UnsafeRow], first: Int): Int = {
    val time = rows(first).getLong(program.time)
    boundsOf.read(rows(first))
    var end = first
    while (end < rows.length && rows(end).getLong(program.time) == time) {
      append(rows(end), time)
      if (end - first == results.length) results :+= newResult()
      answer(ofPeers = false, end - first, end - first + 1)
      end += 1
    }
    answer(ofPeers = true, 0, end - first)
    stored.release()
    end
  }

  private def append(row: UnsafeRow, time: Long): Unit = {
    val slot = stored.open()
    column.lift(slot, row)
    var w = 0
    while (w < windows.length) {
      if (!windows(w).lags) stored.window(w).insert(slot)
      w += 1
    }
    stored.append(time)
  }

  /** Moves the windows that are of peers, or that are not, and writes what they answer. */
  private def answer(ofPeers: Boolean, first: Int, until: Int): Unit = {
    var w = 0
    while (w < windows.length) {
      if (windows(w).isOfPeers == ofPeers) {
        val window = stored.window(w)
        windows(w).move(window, stored.end, boundsOf.values)
        val slot = window.query()
        var i = first
        while (i < until) {
          column.lower(w, slot, results(i))
          i += 1
        }
      }
      w += 1
    }
  }

  private def column: SlotColumns = stored.column.asInstanceOf[SlotColumns]

  private def newResult(): InternalRow = new SpecificInternalRow(program.results)
}

private[spark] object StreamTask {

  /** 32 partials in a node. */
  val LogFanOut: Int = 5
}

/** The times that ranges begin and end at. */
private final class Bounds(program: StreamProgram) {
  private[this] val of = program.bounds.toArray
  private[this] val projection =
    if (of.isEmpty) null else UnsafeProjection.create(program.bounds, program.input)

  val values: Array[Long] = new Array[Long](of.length)

  def read(row: InternalRow): Unit = if (projection != null) {
    val bounds = projection(row)
    var i = 0
    while (i < values.length) {
      values(i) = bounds.getLong(i)
      i += 1
    }
  }

  /** The first time that a window of a row of this time holds. */
  def first(time: Long): Long = {
    val row = new GenericInternalRow(program.input.length)
    row.update(program.time, time)
    read(row)
    program.windows.collect { case StreamRange(Some(bound), _) => values(bound) }.min
  }

  /** When windows that hold a row of this time are empty. */
  def next(time: Long): Long = time + math.max(time - first(time), Bounds.Second)
}

private object Bounds {
  private val Second: Long = 1000000L
}
