package io.sash.spark.multisets

import java.util.LinkedHashMap

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.sash.SqlInternals
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.types._

import io.sash.spark.base.TimeUnit
import io.sash.spark.base.TimeUnit.Nano
import io.sash.spark.slots.{RunningAnswer, RunningState}

/**
 * An aggregate over the distinct inputs of a window: a multiset that counts each distinct input,
 * and the answer `of` over its members. Inputs are equal if Spark would group them together; the
 * first of them to arrive is the member.
 *
 * Cost: a hash look-up for each row that enters or leaves, and an addition or removal in `of`
 * whenever an input's first row comes or its last one goes. If `of` is not invertible, an answer
 * adds all members to `of` anew once they have changed. Space: the distinct inputs.
 *
 * @param of the answer over the members; it leaves out NULL itself if its aggregate does
 */
private[spark] final case class Distinct(of: RunningAnswer) extends RunningAnswer {

  /** Normalized, since Spark's DISTINCT, too, has one NaN and one zero. */
  override def inputs: Seq[Expression] = of.inputs.map {
    case OrderedLong(value) => OrderedLong(SqlInternals.normalized(value)) // not the long
    case e                  => SqlInternals.normalized(e)
  }

  override def dataType: DataType = of.dataType

  override def isInvertible: Boolean = true

  override def isIncremental: Boolean = of.isIncremental

  override def title: String = of match {
    case members: MergedMembers if members.isInTree => "a multiset and FlatFAT"
    case _                                          => "a multiset"
  }

  /** Compiled once, since Spark's operator creates a state in each partition. */
  @transient private lazy val key = UnsafeProjection.create(inputs.zipWithIndex.map {
    case (e, i) => Distinct.key(BoundReference(i, e.dataType, nullable = true))
  })

  /**
   * All states share the projection, and with it the row that it returns. Each state uses that
   * row before another state can ask for one.
   */
  override def create(): RunningState = new DistinctState(of.create(), of.isInvertible, key)
}

private[spark] object Distinct {

  /** Whether [[key]] makes a key of values of the type. */
  def canKey(dataType: DataType): Boolean =
    RowOrdering.isOrderable(dataType) && (dataType match {
      case _: StringType | TimeUnit(Nano) => true
      case other                          => areOfEqualBytes(other)
    })

  /**
   * A key whose bytes are equal if Spark's GROUP BY finds `e` equal. Floats in `e` are
   * normalized.
   */
  def key(e: Expression): Expression = e.dataType match {
    case s: StringType if !UnsafeRowUtils.isBinaryStable(s) => CollationKey(e)
    case TimeUnit(Nano) => // a NULL struct takes no room
      val one = CreateNamedStruct(Seq(Literal("of"), e))
      If(IsNull(e), Literal.create(null, one.dataType), one)
    case _ => e
  }

  /** Whether equal values of the type have equal bytes in a row, and all NULLs, too. */
  def areOfEqualBytes(dataType: DataType): Boolean =
    UnsafeRowUtils.isBinaryStable(dataType) && !leavesRoom(dataType)

  /**
   * Whether a row keeps room for a NULL, so that an update can put a value there. That room may
   * hold bytes of an earlier row. (For a NULL DECIMAL, Spark clears the room.)
   */
  private def leavesRoom(dataType: DataType): Boolean = dataType match {
    case TimeUnit(Nano) | CalendarIntervalType => true
    case s: StructType                         => s.exists(f => leavesRoom(f.dataType))
    case a: ArrayType                          => leavesRoom(a.elementType)
    case m: MapType                            => leavesRoom(m.keyType) || leavesRoom(m.valueType)
    case u: UserDefinedType[_]                 => leavesRoom(u.sqlType)
    case _                                     => false
  }
}

private final class DistinctState(
    of: RunningState,
    invertible: Boolean,
    key: UnsafeProjection
) extends RunningState {
  import DistinctState.Member

  private[this] val members = new LinkedHashMap[UnsafeRow, Member]
  private[this] var answered = false // whether `of` holds the present members
  private[this] var memberBytes = 0L

  override def clear(): Unit = {
    members.clear()
    of.clear()
    answered = invertible
    memberBytes = 0L
  }

  override def add(inputs: InternalRow): Unit = add(inputs, 1L)

  override def add(inputs: InternalRow, times: Long): Unit = {
    val wanted = key(inputs)
    val member = members.get(wanted)
    if (member == null) {
      val first = inputs.copy() // slots may move to disk, and the row is reused
      members.put(wanted.copy(), new Member(first, times))
      memberBytes += DistinctState.bytesOf(wanted)
      if (invertible) of.add(first) else answered = false
    } else {
      member.count += times
    }
  }

  override def remove(inputs: InternalRow): Unit = remove(inputs, 1L)

  override def remove(inputs: InternalRow, times: Long): Unit = {
    val wanted = key(inputs)
    val member = members.get(wanted)
    member.count -= times
    if (member.count == 0) {
      members.remove(wanted)
      memberBytes -= DistinctState.bytesOf(wanted)
      if (invertible) of.remove(member.inputs) else answered = false
    }
  }

  override def result(): Any = {
    if (!answered) {
      of.clear()
      members.values.forEach(member => of.add(member.inputs))
      answered = true
    }
    of.result()
  }

  override def bytes: Long = memberBytes + of.bytes
}

private object DistinctState {

  /**
   * Estimated bytes of a key in the map and a value of about its size: entries, rows and arrays.
   */
  def bytesOf(key: UnsafeRow): Long = 192L + 2L * key.getSizeInBytes

  final class Member(val inputs: InternalRow, var count: Long)
}
