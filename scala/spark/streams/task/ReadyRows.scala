package io.sash.spark.streams.task

import java.util.{ArrayList, Arrays, Collections, Comparator, HashMap}

import scala.collection.BufferedIterator
import scala.collection.mutable.ArrayBuffer
import scala.jdk.CollectionConverters._

import org.apache.spark.SparkEnv
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateOrdering
import org.apache.spark.sql.execution.UnsafeExternalRowSorter
import org.apache.spark.sql.types.{StructField, StructType}
import org.apache.spark.util.collection.unsafe.sort.PrefixComparator

/**
 * Rows of a bucket that the watermark has passed, with each key's rows together and in order. Up
 * to some megabytes they stay in memory; beyond that, they go to Spark's sorter, which spills.
 *
 * @param key the key of a row
 */
private[spark] final class ReadyRows(key: UnsafeProjection, order: ReadyOrder) {
  import ReadyRows._

  private[this] val byKey = new HashMap[UnsafeRow, ArrayList[UnsafeRow]]
  private[this] var bytes = 0L
  private[this] var sorter: UnsafeExternalRowSorter = _

  /** Adds a row, which the caller must not change any more. */
  def add(row: UnsafeRow): Unit =
    if (sorter != null) {
      sorter.insertRow(row)
    } else {
      val of = key(row)
      var rows = byKey.get(of)
      if (rows == null) {
        rows = new ArrayList
        byKey.put(of.copy(), rows)
      }
      rows.add(row)
      bytes += row.getSizeInBytes
      if (bytes > MostBytes) moveToSorter()
    }

  /** All rows, which belong to the caller; `add` must not be called any more. */
  def sorted(): Iterator[UnsafeRow] =
    if (sorter == null) {
      val keys = byKey.keySet.toArray(new Array[UnsafeRow](0))
      Arrays.sort(keys, AsStored)
      keys.iterator.flatMap { key =>
        val rows = byKey.get(key)
        Collections.sort(rows, order.ofRows) // linear if they are in order
        rows.iterator.asScala
      }
    } else {
      // Spark reuses the row
      sorter.sort().map(_.asInstanceOf[UnsafeRow].copy())
    }

  private def moveToSorter(): Unit = {
    val columns = StructType(order.input.map(a => StructField(a.name, a.dataType)))
    sorter = UnsafeExternalRowSorter.create(
      columns,
      order.ofAll,
      NoPrefix,
      new NoPrefixes,
      SparkEnv.get.memoryManager.pageSizeBytes,
      false
    )
    byKey.values.forEach(_.forEach(row => sorter.insertRow(row)))
    byKey.clear()
  }
}

private[spark] object ReadyRows {

  /** A var only for tests. */
  private[streams] var MostBytes: Long = 64L << 20

  /**
   * The order of keys in the state store. In this order, neighbouring keys are read from the same
   * block of the store; in random order, each key would have its block read and unpacked again.
   * (The store orders keys of more than 255 bytes by the last byte of their size instead.)
   */
  private object AsStored extends Comparator[UnsafeRow] {
    override def compare(left: UnsafeRow, right: UnsafeRow): Int = {
      val bySize = Integer.compare(left.getSizeInBytes, right.getSizeInBytes)
      if (bySize != 0) bySize else Arrays.compareUnsigned(left.getBytes, right.getBytes)
    }
  }

  private object NoPrefix extends PrefixComparator {
    override def compare(left: Long, right: Long): Int = 0
  }

  private final class NoPrefixes extends UnsafeExternalRowSorter.PrefixComputer {
    private[this] val prefix = new UnsafeExternalRowSorter.PrefixComputer.Prefix
    override def computePrefix(row: InternalRow): UnsafeExternalRowSorter.PrefixComputer.Prefix =
      prefix
  }
}

/**
 * The order of a key's rows, and an order of all rows that keeps each key's rows together.
 *
 * @param position a column that orders rows which are equal in the window's order
 */
private[spark] final class ReadyOrder(
    val input: Seq[Attribute],
    keys: Seq[Expression],
    order: Seq[SortOrder],
    position: Option[Attribute] = None
) {
  private[this] val ofOne = order ++ position.map(SortOrder(_, Ascending))

  /** The window's order, in which peers are equal. */
  val ofKey: Comparator[InternalRow] = GenerateOrdering.generate(order, input)

  val ofRows: Comparator[InternalRow] =
    if (position.isEmpty) ofKey else GenerateOrdering.generate(ofOne, input)

  def arePeers(row: UnsafeRow, other: UnsafeRow): Boolean = ofKey.compare(row, other) == 0

  /** Takes the next rows that are equal in the window's order; there is at least one row. */
  def takePeers(rows: BufferedIterator[UnsafeRow], to: ArrayBuffer[UnsafeRow]): Unit = {
    to.clear()
    val first = rows.head
    do to += rows.next() while (rows.hasNext && arePeers(first, rows.head))
  }

  lazy val ofAll: BaseOrdering =
    GenerateOrdering.generate(keys.map(SortOrder(_, Ascending)) ++ ofOne, input)
}
