package io.sash.spark.streams.task

import java.nio.ByteBuffer
import java.util.ArrayList

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.expressions._

import io.sash.core.slots.Bytes
import io.sash.spark.streams.checkpoint.{EarlierStates, StateErrors, StateLayout, StateMapping}
import io.sash.spark.streams.program.StreamProgram
import io.sash.spark.streams.state._

/**
 * Turns buckets of an earlier generation into the state of a program. Partials are copied and
 * never computed anew.
 *
 * Cost: each element of a bucket's windows is read and written once. The nodes of one key, and
 * the headers of the bucket's keys, are in memory.
 *
 * @param hasPlaces whether rows that wait have the same keys and the same order in both states
 */
private[streams] final class StateCarry(
    was: StateLayout,
    hasPlaces: Boolean,
    program: StreamProgram,
    state: StreamState
) {
  private[this] val is = program.layout
  private[this] val mapping = StateMapping.of(was, is)
  private[this] val before = new KeyHeader(was.header)
  private[this] val after = new KeyHeader(is.header)
  private[this] val stored = was.trees.indices.map(t => new StoredTree(was.trees(t), t, state))
  private[this] val trees = is.trees.indices.map { t =>
    new CarriedTree(is.trees(t), mapping.trees(t), stored, new KeyTree(program, t, state))
  }
  private[this] val pendingBefore = new PendingOfKey(state, was.columns.length, was.time)
  private[this] val pendingAfter = new PendingOfKey(state, is.columns.length, is.time)
  private[this] val out = new Bytes

  /** The windows go on, and the rows that wait go on waiting. */
  def goOn(header: BucketHeader): BucketHeader = {
    keys().foreach { case (key, head) =>
      val rows = takeWaiting(key, Long.MinValue)
      carry(key, head, pendingBefore.nodeEnd)
      pendingAfter.replace(key, rows)
    }
    val rows = pending(header, Long.MinValue)
    header.copy(pending = wait(rows, header.pending.next))
  }

  /**
   * The windows begin anew. Of the rows that wait, only those after a time are left: the others
   * are in the history.
   */
  def beginAnew(header: BucketHeader, until: Long): BucketHeader = {
    val left = keys().map(_._1).map(key => key -> takeWaiting(key, until)).filterNot(_._2.isEmpty)
    val rows = pending(header, until)
    requireColumns(rows ++ left.flatMap(_._2.asScala.map(_.row)), until)
    state.clear()
    left.foreach { case (key, rows) =>
      after.clear()
      trees.foreach(_.beginAnew(key))
      write(key)
      pendingAfter.replace(key, rows)
    }
    BucketHeader
      .empty(header.generation)
      .copy(
        timer = header.timer,
        sweep = Option.when(left.nonEmpty)(until),
        pending = wait(rows, header.pending.next)
      )
  }

  private def requireColumns(rows: Seq[UnsafeRow], until: Long): Unit = {
    val columns = is.columns.zip(mapping.columns).collect { case (c, None) => c.text }
    val lacking = columns ++ Option.when(!hasPlaces)("another PARTITION BY or ORDER BY")
    if (rows.nonEmpty && lacking.nonEmpty)
      throw StateErrors.behindHistory(until, rows.map(_.getLong(is.time)).max, lacking)
  }

  /** The keys with their headers. The walk ends before anything is written. */
  private def keys(): Vector[(Array[Byte], Array[Byte])] = state.heads.iterator().toVector

  private def carry(key: Array[Byte], head: Array[Byte], nodeEnd: Long): Unit = {
    val in = ByteBuffer.wrap(head)
    before.read(in)
    stored.foreach(_.read(key, in))
    after.clear()
    after.lastTime = before.lastTime
    after.groups = before.groups
    mapping.beginnings.zipWithIndex.foreach { case (earlier, b) =>
      // a beginning that the state lacks is at the next row
      after.beginPosition(b) = earlier.fold(stored.head.end)(before.beginPosition(_))
      after.beginTime(b) = earlier.fold(KeyHeader.NoTime)(before.beginTime(_))
    }
    trees.foreach(_.carry(key))
    stored.foreach(_.drop(nodeEnd))
    write(key)
  }

  private def write(key: Array[Byte]): Unit = {
    out.clear()
    after.write(out)
    trees.foreach(_.write(out))
    state.heads.updateValue(key, out.toArray)
  }

  /**
   * Takes out the rows of a key that wait in update mode. Those after a time are in the present
   * columns.
   */
  private def takeWaiting(key: Array[Byte], after: Long): ArrayList[Waiting] = {
    val rows = new ArrayList[Waiting]
    pendingBefore.open(key)
    pendingBefore.takeAll().forEach { w =>
      if (w.row.getLong(was.time) > after) rows.add(new Waiting(present(w.row), w.answered))
    }
    rows
  }

  /** Takes out the bucket's pending rows. Those after a time are in the present columns. */
  private def pending(header: BucketHeader, after: Long): Seq[UnsafeRow] = {
    val rows = Seq.newBuilder[UnsafeRow]
    val earlier = new PendingRows(state.pending, was.time, was.columns.length)
    earlier.open(header.pending, Long.MaxValue) { row =>
      if (row.getLong(was.time) > after) rows += present(row)
    }
    rows.result()
  }

  private def wait(rows: Seq[UnsafeRow], next: Long): PendingChunks = {
    val present = new PendingRows(state.pending, is.time, is.columns.length)
    present.open(PendingChunks(Vector.empty, next), Long.MinValue)(_ => ())
    rows.foreach(present.add)
    present.close()
  }

  private[this] val columns = UnsafeProjection.create(mapping.columns.zip(is.columns).map {
    case (Some(i), c) => BoundReference(i, c.sqlType, nullable = true)
    case (None, c)    => Literal.create(null, c.sqlType)
  })

  private def present(row: UnsafeRow): UnsafeRow = columns(row).copy()
}

/**
 * Turns buckets of earlier generations into buckets of the present one.
 *
 * @param program the program of the present generation
 */
private[streams] final class StateCarries(
    earlier: EarlierStates,
    program: StreamProgram,
    state: StreamState
) {
  private[this] val made = mutable.HashMap.empty[Int, StateCarry]

  def change(header: BucketHeader): BucketHeader = {
    val from = header.generation
    val carry = made.getOrElseUpdate(
      from,
      new StateCarry(earlier.layoutOf(from), earlier.hasPlacesOf(from), program, state)
    )
    earlier.begunAnewAfter(from) match {
      case Some(until) => carry.beginAnew(header, until)
      case None        => carry.goOn(header)
    }
  }
}
