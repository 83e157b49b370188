package io.sash.spark.slots

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, DataInputStream, DataOutputStream}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{DataType, Decimal, DecimalType, StringType, UserDefinedType}
import org.apache.spark.unsafe.types.UTF8String

import io.sash.core.slots.Partials
import io.sash.spark.memory.{SpillFile, WindowMemory}

/**
 * The slots' virtual memory: all slots live in a file, page by page, and a few pages are
 * resident in an ordinary column. An algorithm sees the same slot numbers as before.
 *
 * Every algorithm walks its queue from an end, so a page is read once a pass.
 *
 * Invariants:
 *  - (P1) frameOf(page) is the frame that holds the page, or -1; pageIn(frame) is its inverse
 *  - (P2) a page that is not resident is in the file as blocks(page), or was never written
 *  - (P3) the three pages used last are resident: no operation loses an operand to another
 */
private[spark] final class PagedSlots(
    resident: SlotColumns,
    columnTypes: Seq[DataType],
    memory: WindowMemory
) extends SlotColumns {
  import PagedSlots._

  resident.resizeTo(Frames * PageSlots)

  private[this] var frameOf = Array.empty[Int]
  private[this] var blocks = Array.empty[SpillFile.Block]
  private[this] val pageIn = Array.fill(Frames)(-1)
  private[this] val usedAt = new Array[Long](Frames)
  private[this] val dirty = new Array[Boolean](Frames)
  private[this] var clock = 0L

  /** A partial may exceed the precision of its column, so a decimal travels as its digits. */
  private[this] val decimals =
    columnTypes.indices.filter(isDecimal)
  private[this] val pageTypes =
    columnTypes.indices.map(i => if (isDecimal(i)) StringType else columnTypes(i)).toArray
  private[this] val cells = new SpecificInternalRow(columnTypes)
  private[this] val pageCells = new GenericInternalRow(columnTypes.length)
  private[this] val toBytes = UnsafeProjection.create(pageTypes)
  private[this] val fromBytes = new UnsafeRow(columnTypes.length)

  private[this] val file = new SpillFile(memory)

  private[this] var operationsBefore = 0L

  override def operations: Long = operationsBefore + resident.operations

  /** Copies all slots of `other`, which keeps them, and goes on with its count. */
  def takeOver(other: SlotColumns): Unit = {
    operationsBefore = other.operations
    resizeTo(other.capacity)
    var slot = 0
    while (slot < other.capacity) {
      val at = written(slot) // may write a page out, by way of `cells`
      other.save(slot, cells)
      resident.load(at, cells)
      slot += 1
    }
  }

  override def page(): SlotColumns = this

  override def grow(wanted: Int): Partials = {
    resizeTo(math.max(wanted, capacity))
    this
  }

  override protected[spark] def fresh(): SlotColumns = resident.fresh()

  override protected def resize(slots: Int): Unit = {
    val pages = (slots + PageSlots - 1) / PageSlots
    val before = frameOf.length
    if (pages > before) {
      frameOf = java.util.Arrays.copyOf(frameOf, pages)
      java.util.Arrays.fill(frameOf, before, pages, -1)
      blocks = java.util.Arrays.copyOf(blocks, pages)
    }
  }

  override def identity(dst: Int): Unit = resident.identity(written(dst))

  override def lift(dst: Int, row: InternalRow): Unit = resident.lift(written(dst), row)

  override def copy(dst: Int, src: Int): Unit = {
    val from = read(src)
    resident.copy(written(dst), from)
  }

  override def combine(dst: Int, left: Int, right: Int): Unit = {
    val l = read(left)
    val r = read(right)
    resident.combine(written(dst), l, r)
  }

  override def subtract(dst: Int, whole: Int, oldest: Int): Unit = {
    val l = read(whole)
    val r = read(oldest)
    resident.subtract(written(dst), l, r)
  }

  override def selectsRight(left: Int, right: Int): Boolean = {
    val l = read(left)
    resident.selectsRight(l, read(right))
  }

  override def lower(slot: Int, out: InternalRow): Unit = resident.lower(read(slot), out)

  override def shift(which: Int, dst: Int, src: Int): Unit = {
    val from = read(src)
    resident.shift(which, written(dst), from)
  }

  override def compare(left: Int, right: Int): Int = {
    val l = read(left)
    resident.compare(l, read(right))
  }

  override def matches(slot: Int, row: InternalRow): Boolean = resident.matches(read(slot), row)

  override def save(slot: Int, out: InternalRow): Unit = resident.save(read(slot), out)

  override def load(dst: Int, in: InternalRow): Unit = resident.load(written(dst), in)

  private def isDecimal(i: Int): Boolean = columnTypes(i) match {
    case u: UserDefinedType[_] => u.sqlType.isInstanceOf[DecimalType]
    case t                     => t.isInstanceOf[DecimalType]
  }

  private def written(slot: Int): Int = {
    val at = read(slot)
    dirty(at / PageSlots) = true
    at
  }

  /** The resident slot of `slot`; brings its page in if need be. */
  private def read(slot: Int): Int = {
    val page = slot / PageSlots
    var frame = frameOf(page)
    if (frame < 0) frame = bringIn(page)
    clock += 1
    usedAt(frame) = clock
    frame * PageSlots + slot % PageSlots
  }

  private def bringIn(page: Int): Int = {
    val frame = leastRecentlyUsed()
    if (pageIn(frame) >= 0) {
      if (dirty(frame)) writeOut(frame)
      frameOf(pageIn(frame)) = -1
    }
    if (blocks(page) != null) readIn(page, frame)
    pageIn(frame) = page
    frameOf(page) = frame
    dirty(frame) = false
    frame
  }

  private def leastRecentlyUsed(): Int = {
    var oldest = 0
    var i = 1
    while (i < Frames) {
      if (usedAt(i) < usedAt(oldest)) oldest = i
      i += 1
    }
    oldest
  }

  private def writeOut(frame: Int): Unit = {
    val buffer = new ByteArrayOutputStream
    val out = new DataOutputStream(buffer)
    var i = 0
    while (i < PageSlots) {
      val row = toBytes(saved(frame * PageSlots + i))
      out.writeInt(row.getSizeInBytes)
      row.writeToStream(out, null)
      i += 1
    }
    val page = pageIn(frame)
    blocks(page) = file.store(blocks(page), buffer.toByteArray, buffer.size)
  }

  private def saved(slot: Int): InternalRow = {
    resident.save(slot, cells)
    if (decimals.isEmpty) {
      cells
    } else {
      pageTypes.indices.foreach(i => pageCells.update(i, cells.get(i, columnTypes(i))))
      for (i <- decimals if !cells.isNullAt(i)) {
        pageCells.update(i, UTF8String.fromString(pageCells.get(i, columnTypes(i)).toString))
      }
      pageCells
    }
  }

  private def restored(row: UnsafeRow): InternalRow =
    if (decimals.isEmpty) {
      row
    } else {
      pageTypes.indices.foreach(i => pageCells.update(i, row.get(i, pageTypes(i))))
      for (i <- decimals if !row.isNullAt(i)) {
        pageCells.update(i, Decimal(BigDecimal.exact(row.getUTF8String(i).toString)))
      }
      pageCells
    }

  private def readIn(page: Int, frame: Int): Unit = {
    val in = new DataInputStream(new ByteArrayInputStream(file.fetch(blocks(page))))
    var i = 0
    while (i < PageSlots) {
      val row = new Array[Byte](in.readInt())
      in.readFully(row)
      fromBytes.pointTo(row, row.length)
      resident.load(frame * PageSlots + i, restored(fromBytes))
      i += 1
    }
  }
}

private[spark] object PagedSlots {
  val PageSlots: Int = 256
  val Frames: Int = 16
}
