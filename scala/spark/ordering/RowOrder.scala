package io.sash.spark.ordering

import java.util.function.Supplier

import org.apache.spark.TaskContext
import org.apache.spark.sash.SparkInternals
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.execution.{SortPrefixUtils, UnsafeExternalRowSorter}
import org.apache.spark.sql.execution.UnsafeExternalRowSorter.PrefixComputer
import org.apache.spark.sql.types.{BinaryType, StringType}
import org.apache.spark.util.collection.unsafe.sort.{PrefixComparator, RecordComparator}

/**
 * An order of rows in the forms that Spark's sorters take. A prefix of 8 bytes, from the first
 * sort column, is compared first. If two prefixes are equal, the whole order decides.
 *
 * @param radix whether Spark's radix sort may be used
 */
private[spark] final case class RowOrder(
    order: Seq[SortOrder],
    input: Seq[Attribute],
    radix: Boolean
) {
  private def first: SortOrder = BindReferences.bindReference(order.head, input)

  /** Whether rows of equal prefixes, none of them NULL, are equal in this order. */
  def prefixDecides: Boolean =
    order.length == 1 && SortPrefixUtils.canSortFullyWithPrefix(first)

  def prefixComparator: PrefixComparator = SortPrefixUtils.getPrefixComparator(first)

  /**
   * The ordinal of the first sort column, if it has strings or binaries that are compared by
   * bytes.
   */
  def bytesColumn: Option[Int] = first.child match {
    case BoundReference(column, StringType | BinaryType, _) => Some(column)
    case _                                                  => None
  }

  /** The prefix, as an expression over the input. */
  def prefix: SortPrefix = SortPrefix(order.head)

  private def prefixComputer: PrefixComputer = {
    val expression = prefix
    val project = UnsafeProjection.create(Seq(expression), input)
    new PrefixComputer {
      private[this] val result = new PrefixComputer.Prefix

      override def computePrefix(row: InternalRow): PrefixComputer.Prefix = {
        val prefix = project(row)
        result.isNull = prefix.isNullAt(0)
        result.value = if (result.isNull) expression.nullValue else prefix.getLong(0)
        result
      }
    }
  }

  def recordComparator: RecordComparator = {
    val (ordering, fields) = (RowOrdering.create(order, input), input.length)
    new RecordComparator {
      private[this] val left = new UnsafeRow(fields)
      private[this] val right = new UnsafeRow(fields)

      override def compare(
          leftBase: AnyRef,
          leftOffset: Long,
          leftLength: Int,
          rightBase: AnyRef,
          rightOffset: Long,
          rightLength: Int
      ): Int = {
        left.pointTo(leftBase, leftOffset, leftLength)
        right.pointTo(rightBase, rightOffset, rightLength)
        ordering.compare(left, right)
      }
    }
  }

  /** Spark's own sorter, which spills. `comparator` decides the order of rows that tie. */
  def sorter(comparator: Supplier[RecordComparator]): UnsafeExternalRowSorter =
    UnsafeExternalRowSorter.createWithRecordComparator(
      DataTypeUtils.fromAttributes(input),
      comparator,
      prefixComparator,
      prefixComputer,
      SparkInternals.taskMemoryManager(TaskContext.get()).pageSizeBytes,
      radix && prefixDecides
    )
}
