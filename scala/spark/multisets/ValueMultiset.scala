package io.sash.spark.multisets

import java.util.{Comparator, LinkedHashMap, LinkedHashSet, Set, TreeSet}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.DataType

import io.sash.spark.slots.RunningState

/**
 * A multiset of values: the count of each value, and for each count the values that have it. The
 * different counts are a list in ascending order. So a value whose count changes by one finds its
 * new place beside the old one.
 *
 * Cost: an addition or removal of one copy takes O(1), and of several O(√n). If the values of one
 * count are ranked, it takes O(log d), where d is the number of different values. n values have
 * at most √(2n) different counts.
 */
private[spark] final class ValueMultiset(of: CountedType) {
  import ValueMultiset._

  private[this] val entries = new LinkedHashMap[UnsafeRow, Entry]

  /** The count 0, of values that are not there. The list begins with it. */
  private[this] val none = new Same(0L, null)

  /** The greatest count: the last one of the list, or `none`. */
  private[this] var most = none

  /** The entry of the list that became empty last, for reuse when a value gets another count. */
  private[this] var spare: Same = _
  private[this] var counts = 0
  private[this] var keyBytes = 0L
  private[this] var sum = 0L

  /** The number of values, with multiplicity. */
  def total: Long = sum

  /** The number of different values. */
  def distinct: Int = entries.size

  /** Estimated bytes of the values and their counts. */
  def bytes: Long = keyBytes + 96L * counts

  def clear(): Unit = {
    entries.clear()
    none.more = null
    most = none
    counts = 0
    keyBytes = 0L
    sum = 0L
  }

  /** @param row has the value, which is not NULL, in its first column */
  def add(row: InternalRow, times: Long = 1L): Unit = {
    val wanted = of.key(row)
    var entry = entries.get(wanted)
    if (entry == null) {
      entry = new Entry(row.copy(), none)
      entries.put(wanted.copy(), entry)
      keyBytes += bytesOf(wanted)
    }
    move(entry, times)
  }

  /** Removes copies of a value that are there. */
  def remove(row: InternalRow, times: Long = 1L): Unit = {
    val wanted = of.key(row)
    val entry = entries.get(wanted)
    move(entry, -times)
    if (entry.same eq none) {
      entries.remove(wanted)
      keyBytes -= bytesOf(wanted)
    }
  }

  /** Calls `f` with each value and its count, in the order in which the values came first. */
  def foreach(f: (Any, Long) => Unit): Unit =
    entries.values.forEach(e => f(value(e), e.same.count))

  /** Calls `f` with each count and how many values have it, in ascending order. */
  def foreachCount(f: (Long, Long) => Unit): Unit = {
    var same = none.more
    while (same != null) {
      f(same.count, same.values)
      same = same.more
    }
  }

  /** The greatest count, or 0. */
  def greatest: Long = most.count

  /**
   * Up to n values with the greatest counts, each with its count. Values of one count come in the
   * order of its set.
   */
  def top(n: Int): Seq[(Any, Long)] =
    Iterator
      .iterate(most)(_.less)
      .takeWhile(_ ne none)
      .flatMap { same =>
        val members = same.members.iterator
        Iterator.continually(members).takeWhile(_.hasNext).map(m => value(m.next()) -> same.count)
      }
      .take(n)
      .toSeq

  /** The first of the values with the greatest count, or null. */
  def mode: Any = if (most eq none) null else value(most.members.iterator.next())

  private def value(entry: Entry): Any = entry.row.get(0, of.dataType)

  private def move(entry: Entry, by: Long): Unit = {
    val count = entry.same.count + by
    sum += by
    var near = leave(entry)
    while (near.count > count) near = near.less
    while (near.more != null && near.more.count <= count) near = near.more
    entry.same = if (near.count == count) near else insert(count, near)
    if (entry.same ne none) {
      entry.same.values += 1
      if (entry.same.members != null) entry.same.members.add(entry)
    }
  }

  /** Takes the value out of the list. Returns the place from which to look for its new one. */
  private def leave(entry: Entry): Same = {
    val same = entry.same
    if (same eq none) none
    else {
      same.values -= 1
      if (same.members != null) same.members.remove(entry)
      if (same.values > 0) same
      else {
        same.less.more = same.more
        if (same.more == null) most = same.less else same.more.less = same.less
        counts -= 1
        spare = same
        same.less
      }
    }
  }

  private def insert(count: Long, after: Same): Same = {
    val same = if (spare == null) new Same(count, of.members()) else spare
    spare = null
    same.count = count
    same.less = after
    same.more = after.more
    after.more = same
    if (same.more == null) most = same else same.more.less = same
    counts += 1
    same
  }
}

private[spark] object ValueMultiset {

  /** Estimated bytes of a key, its value of about that size, and their places. */
  private def bytesOf(key: UnsafeRow): Long = 256L + 2L * key.getSizeInBytes

  /** A value. */
  final class Entry(val row: InternalRow, var same: Same)

  /**
   * The values of one count.
   *
   * @param members null if nobody asks for them
   */
  final class Same(var count: Long, val members: Set[Entry]) {
    var values = 0L
    var less: Same = _
    var more: Same = _
  }
}

/** The order in which the values of one count are kept. */
private[spark] sealed abstract class TieOrder extends Serializable

private[spark] object TieOrder {

  /** The values are not kept; only their number is. */
  case object Unkept extends TieOrder

  /** The value that has had the count longest comes first. */
  case object ByEntry extends TieOrder

  final case class ByValue(ascending: Boolean) extends TieOrder
}

/**
 * The type of multisets. They share the projection that makes keys, and with it the row that it
 * returns. Each multiset uses that row before another one can ask for one.
 */
private[spark] final class CountedType(val dataType: DataType, ties: TieOrder) {
  import ValueMultiset.Entry

  private[this] val value = BoundReference(0, dataType, nullable = false)
  private[this] val order: Comparator[Entry] = ties match {
    case TieOrder.ByValue(ascending) =>
      val direction = if (ascending) Ascending else Descending
      val byValue: Comparator[InternalRow] =
        new InterpretedOrdering(Seq(SortOrder(value, direction)))
      Comparator.comparing[Entry, InternalRow](_.row, byValue)
    case _ => null
  }

  val key: UnsafeProjection = UnsafeProjection.create(Seq(Distinct.key(value)))

  def members(): Set[Entry] = ties match {
    case TieOrder.Unkept     => null
    case TieOrder.ByEntry    => new LinkedHashSet[Entry]
    case _: TieOrder.ByValue => new TreeSet[Entry](order)
  }
}

/** The running answer of one window over its counted values. */
private[spark] final class CountedState(of: CountedType, answer: ValueMultiset => Any)
    extends RunningState {
  private[this] val counted = new ValueMultiset(of)

  override def clear(): Unit = counted.clear()
  override def add(inputs: InternalRow): Unit = add(inputs, 1L)
  override def remove(inputs: InternalRow): Unit = remove(inputs, 1L)
  override def add(inputs: InternalRow, times: Long): Unit =
    if (!inputs.isNullAt(0)) counted.add(inputs, times)
  override def remove(inputs: InternalRow, times: Long): Unit =
    if (!inputs.isNullAt(0)) counted.remove(inputs, times)
  override def result(): Any = answer(counted)
  override def bytes: Long = counted.bytes
}
