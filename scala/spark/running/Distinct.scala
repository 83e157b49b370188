package io.sash.spark.running

import java.util.LinkedHashMap

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.sash.SqlInternals
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.types.{DataType, StringType}

import io.sash.spark.slots.{RunningAnswer, RunningState}

/**
 * An aggregate over the distinct inputs of a window: a multiset that counts how often each is
 * there, and the answer of `of` over its members. Inputs that Spark groups together are one, of
 * which the first to come stands for all.
 *
 * Cost: a look-up in a hash map for each row that enters or leaves; a step of `of` for each first
 * and each last. Space: the distinct inputs.
 *
 * @param of what is asked about the members, whose inputs are not NULL where it ignores them
 */
private[spark] final case class Distinct(of: RunningAnswer) extends RunningAnswer {

  /** Spark's DISTINCT knows one NaN and one zero, too. */
  override def inputs: Seq[Expression] = of.inputs.map {
    case OrderedLong(value) => OrderedLong(SqlInternals.normalized(value)) // not by its bits
    case e                  => SqlInternals.normalized(e)
  }

  override def dataType: DataType = of.dataType

  override def isInvertible: Boolean = true

  override def title: String = "a multiset"

  /** Generated once: Spark's operator asks for a state in each partition. */
  @transient private lazy val key = UnsafeProjection.create(inputs.zipWithIndex.map {
    case (e, i) => Distinct.key(BoundReference(i, e.dataType, nullable = true))
  })

  /** The key's row is used before another state asks for one. */
  override def create(): RunningState = new DistinctState(of.create(), of.isInvertible, key)
}

private[spark] object Distinct {

  /** Whether values of the type can be told apart by their bytes. */
  def canKey(dataType: DataType): Boolean =
    RowOrdering.isOrderable(dataType) &&
      (dataType.isInstanceOf[StringType] || UnsafeRowUtils.isBinaryStable(dataType))

  /** What is equal in bytes where `e`, whose floats are normalized, is equal in a GROUP BY. */
  def key(e: Expression): Expression = e.dataType match {
    case s: StringType if !UnsafeRowUtils.isBinaryStable(s) => CollationKey(e)
    case _                                                  => e
  }
}

private final class DistinctState(
    of: RunningState,
    invertible: Boolean,
    key: UnsafeProjection
) extends RunningState {
  import DistinctState.Member

  private[this] val members = new LinkedHashMap[UnsafeRow, Member]
  private[this] var answered = false // whether `of` has seen the present members
  private[this] var memberBytes = 0L

  override def clear(): Unit = {
    members.clear()
    of.clear()
    answered = invertible
    memberBytes = 0L
  }

  override def add(inputs: InternalRow): Unit = {
    val wanted = key(inputs)
    val member = members.get(wanted)
    if (member == null) {
      val first = inputs.copy() // slots may leave memory, and the row is used again
      members.put(wanted.copy(), new Member(first))
      memberBytes += DistinctState.bytesOf(wanted)
      if (invertible) of.add(first) else answered = false
    } else {
      member.count += 1
    }
  }

  override def remove(inputs: InternalRow): Unit = {
    val wanted = key(inputs)
    val member = members.get(wanted)
    member.count -= 1
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

  /** Of a key that stands in a map, and of a value of about its size: entries, rows and arrays. */
  def bytesOf(key: UnsafeRow): Long = 192L + 2L * key.getSizeInBytes

  final class Member(val inputs: InternalRow) {
    var count = 1L
  }
}
