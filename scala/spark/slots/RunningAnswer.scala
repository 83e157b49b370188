package io.sash.spark.slots

import scala.annotation.unused

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.types.DataType

/**
 * An aggregate with a running answer beside the slots: a data structure, such as a multiset or a
 * tree of ranks, that elements enter and leave one by one. SlickDeque (Inv) runs it as a combine
 * with an exact inverse. The right operand is always a single element.
 */
private[sash] trait RunningAnswer extends Serializable {

  /** The aggregate's arguments, which the slot of a row holds. */
  def inputs: Seq[Expression]

  def dataType: DataType

  /** A value of the row for which an answer is, if the answer depends on it. */
  def own: Option[Expression] = None

  /** The data structure's name in EXPLAIN. */
  def title: String

  /**
   * Whether elements can leave. Otherwise each answer is computed anew from all elements of the
   * window, which costs as much as an answer that lists them all.
   */
  def isInvertible: Boolean

  /** Whether an answer costs less than a look at all elements, while elements only enter. */
  def isIncremental: Boolean = isInvertible

  /** Makes the empty running answer of one window. */
  def create(): RunningState
}

/** The running answer of one window. */
private[sash] trait RunningState {
  def clear(): Unit

  /**
   * @param inputs valid during the call only, and so are the objects in it; copy them to keep
   *   them
   */
  def add(inputs: InternalRow): Unit

  /** Removes an element that was added with equal inputs. */
  def remove(inputs: InternalRow): Unit

  /** Adds an element several times. */
  def add(inputs: InternalRow, times: Long): Unit = {
    var i = 0L
    while (i < times) {
      add(inputs)
      i += 1
    }
  }

  /** Removes an element several times. */
  def remove(inputs: InternalRow, times: Long): Unit = {
    var i = 0L
    while (i < times) {
      remove(inputs)
      i += 1
    }
  }

  /** The current answer, null for NULL. Does not change the state. */
  def result(): Any

  /**
   * The current answer for a row.
   *
   * @param own the value of `RunningAnswer.own` in that row
   */
  def result(@unused own: Any): Any = result()

  /** The estimated size in memory, which changes with the elements. */
  def bytes: Long
}
