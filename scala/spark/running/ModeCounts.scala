package io.sash.spark.running

import java.util.{ArrayList, Comparator, HashMap, LinkedHashSet, Set, TreeSet}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.Mode
import org.apache.spark.sql.sash.SqlInternals
import org.apache.spark.sql.types.DataType

import io.sash.spark.slots.{RunningAnswer, RunningState}

/**
 * The most frequent value. Keeps the count of each value, and the values of each frequency. One
 * row changes the greatest frequency by at most one.
 *
 * Cost: O(1) per row. If ties go to the least or greatest value, O(log n) with n tied values.
 * Without such a rule, a tie goes to the value that has had the frequency longest.
 *
 * @param ascending whether ties go to the least value, or to the greatest; none for any value
 */
private[spark] final case class ModeCounts(child: Expression, ascending: Option[Boolean])
    extends RunningAnswer {
  override def inputs: Seq[Expression] = Seq(SqlInternals.normalized(child))

  override def dataType: DataType = child.dataType

  override def isInvertible: Boolean = true

  override def title: String = "counts of values"

  override def create(): RunningState = {
    val value = BoundReference(0, dataType, nullable = false)
    val order = ascending.map { ascending =>
      new InterpretedOrdering(
        Seq(SortOrder(value, if (ascending) Ascending else Descending))
      ): Comparator[InternalRow]
    }
    new ModeState(UnsafeProjection.create(Seq(Distinct.key(value))), dataType, order.orNull)
  }
}

private[spark] object ModeCounts {
  def of(mode: Mode): Option[ModeCounts] =
    if (Distinct.canKey(mode.child.dataType)) Some(ModeCounts(mode.child, mode.reverseOpt))
    else None
}

private final class ModeState(
    key: UnsafeProjection,
    dataType: DataType,
    order: Comparator[InternalRow]
) extends RunningState {
  import ModeState.Value

  private[this] val values = new HashMap[UnsafeRow, Value]

  /** The values of each frequency, or null if there are none. */
  private[this] val tied = new ArrayList[Set[Value]]

  /** The set that became empty last, for reuse when a value moves to another frequency. */
  private[this] var spare: Set[Value] = none()
  private[this] var greatest = 0
  private[this] var keyBytes = 0L

  clear()

  override def bytes: Long = keyBytes + 8L * tied.size

  override def clear(): Unit = {
    values.clear()
    tied.clear()
    greatest = 0
    keyBytes = 0L
  }

  override def add(inputs: InternalRow): Unit = if (!inputs.isNullAt(0)) {
    val wanted = key(inputs)
    var value = values.get(wanted)
    if (value == null) {
      value = new Value(inputs.copy())
      values.put(wanted.copy(), value)
      keyBytes += ModeState.bytesOf(wanted)
    } else {
      leave(value)
    }
    value.count += 1
    enter(value)
    greatest = math.max(greatest, value.count)
  }

  override def remove(inputs: InternalRow): Unit = if (!inputs.isNullAt(0)) {
    val wanted = key(inputs)
    val value = values.get(wanted)
    leave(value)
    if (value.count == greatest && tied.get(greatest) == null) greatest -= 1
    value.count -= 1
    if (value.count > 0) {
      enter(value)
    } else {
      values.remove(wanted)
      keyBytes -= ModeState.bytesOf(wanted)
    }
  }

  override def result(): Any =
    if (greatest == 0) null else tied.get(greatest).iterator.next().row.get(0, dataType)

  private def enter(value: Value): Unit = {
    while (tied.size <= value.count) tied.add(null)
    if (tied.get(value.count) == null) {
      tied.set(value.count, if (spare == null) none() else spare)
      spare = null
    }
    tied.get(value.count).add(value)
  }

  private def leave(value: Value): Unit = {
    val those = tied.get(value.count)
    those.remove(value)
    if (those.isEmpty) {
      tied.set(value.count, null)
      spare = those
    }
  }

  private def none(): Set[Value] =
    if (order == null) new LinkedHashSet[Value]
    else new TreeSet[Value](Comparator.comparing[Value, InternalRow](_.row, order))
}

private object ModeState {

  /** Estimated bytes of a key in the map, and of its value, about as large, in a set. */
  def bytesOf(key: UnsafeRow): Long = 256L + 2L * key.getSizeInBytes

  final class Value(val row: InternalRow) {
    var count = 0
  }
}
