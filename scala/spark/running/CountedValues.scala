package io.sash.spark.running

import java.util.{Comparator, LinkedHashMap, TreeMap, TreeSet}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.sash.SqlInternals
import org.apache.spark.sql.types.DataType

import io.sash.spark.slots.{RunningAnswer, RunningState}

/**
 * A multiset of values: the count of each value, and for each count the values that have it.
 *
 * Cost: an addition or removal takes O(log d), where d is the number of different values. The
 * different counts are at most √(2n) for n values.
 *
 * @param dataType the type of the values. Floats have one zero and one NaN.
 * @param ranked whether the values of one count are kept in their order
 */
private[spark] final class CountedValues(dataType: DataType, ranked: Boolean) {
  import CountedValues._

  private[this] val value = BoundReference(0, dataType, nullable = false)
  private[this] val key = UnsafeProjection.create(Seq(Distinct.key(value)))
  private[this] val order: Comparator[Entry] =
    if (ranked) {
      val ascending = new InterpretedOrdering(Seq(SortOrder(value, Ascending)))
      Comparator.comparing[Entry, InternalRow](_.row, ascending: Comparator[InternalRow])
    } else null

  private[this] val entries = new LinkedHashMap[UnsafeRow, Entry]

  /** For each count its values, or their number if they are not ranked. */
  private[this] val byCount = new TreeMap[java.lang.Long, Same]
  private[this] var keyBytes = 0L

  /** The number of values, with multiplicity. */
  private[this] var sum = 0L

  def total: Long = sum

  def distinct: Int = entries.size

  /** Estimated bytes of the entries. */
  def bytes: Long = keyBytes + 96L * byCount.size

  def clear(): Unit = {
    entries.clear()
    byCount.clear()
    keyBytes = 0L
    sum = 0L
  }

  /** @param row has the value, which is not NULL, in its first column */
  def add(row: InternalRow, count: Long): Unit = {
    val wanted = key(row)
    var entry = entries.get(wanted)
    if (entry == null) {
      entry = new Entry(InternalRow(InternalRow.copyValue(row.get(0, dataType))))
      entries.put(wanted.copy(), entry)
      keyBytes += bytesOf(wanted)
    } else {
      leave(entry)
    }
    entry.count += count
    sum += count
    enter(entry)
  }

  def remove(row: InternalRow): Unit = {
    val wanted = key(row)
    val entry = entries.get(wanted)
    leave(entry)
    entry.count -= 1
    sum -= 1
    if (entry.count > 0) {
      enter(entry)
    } else {
      entries.remove(wanted)
      keyBytes -= bytesOf(wanted)
    }
  }

  /** Calls `f` with each value and its count, in the order in which the values came first. */
  def foreach(f: (Any, Long) => Unit): Unit =
    entries.values.forEach(e => f(e.row.get(0, dataType), e.count))

  /** Calls `f` with each count and how many values have it, in ascending order. */
  def foreachCount(f: (Long, Long) => Unit): Unit =
    byCount.forEach((count, same) => f(count, same.values))

  /** The greatest count; there is a value. */
  def greatest: Long = byCount.lastKey

  /** The values with the greatest counts, each with its count; of one count the least first. */
  def top(n: Int): Seq[(Any, Long)] = {
    val found = Seq.newBuilder[(Any, Long)]
    var left = n
    val counts = byCount.descendingMap.values.iterator
    while (left > 0 && counts.hasNext) {
      val of = counts.next().ranked.iterator
      while (left > 0 && of.hasNext) {
        val e = of.next()
        found += e.row.get(0, dataType) -> e.count
        left -= 1
      }
    }
    found.result()
  }

  private def enter(entry: Entry): Unit = {
    val same = byCount.computeIfAbsent(
      entry.count,
      _ => new Same(if (ranked) new TreeSet[Entry](order) else null)
    )
    same.values += 1
    if (ranked) same.ranked.add(entry)
  }

  private def leave(entry: Entry): Unit = {
    val same = byCount.get(entry.count)
    same.values -= 1
    if (ranked) same.ranked.remove(entry)
    if (same.values == 0) byCount.remove(entry.count)
  }
}

private[running] object CountedValues {

  /** Estimated bytes of a key, its value of about that size, and their places. */
  private def bytesOf(key: UnsafeRow): Long = 256L + 2L * key.getSizeInBytes

  final class Entry(val row: InternalRow) {
    var count = 0L
  }

  /** The values of one count. */
  final class Same(val ranked: TreeSet[Entry]) {
    var values = 0L
  }
}

/** The running answer of an aggregate over counted values. */
private[spark] final case class CountedAnswer(function: CountsByValue) extends RunningAnswer {
  override def inputs: Seq[Expression] = Seq(SqlInternals.normalized(function.value))
  override def dataType: DataType = function.dataType
  override def isInvertible: Boolean = true
  override def title: String = "counts of values"

  override def create(): RunningState = new RunningState {
    private[this] val counted = function.createAggregationBuffer()

    override def clear(): Unit = counted.clear()
    override def add(inputs: InternalRow): Unit = if (!inputs.isNullAt(0)) counted.add(inputs, 1L)
    override def remove(inputs: InternalRow): Unit =
      if (!inputs.isNullAt(0)) counted.remove(inputs)
    override def result(): Any = function.eval(counted)
    override def bytes: Long = counted.bytes
  }
}
