package io.sash.spark.slots

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.types.DataType

/**
 * An aggregate whose answer is kept beside the slots, in a data structure that elements enter and
 * leave one by one: a multiset, a tree of ranks. It is what SlickDeque (Inv) asks for, a combine
 * with an exact inverse, where the partial that is combined with is always one element.
 */
private[sash] trait RunningAnswer extends Serializable {

  /** What a slot keeps of a row: the arguments of the aggregate. */
  def inputs: Seq[Expression]

  def dataType: DataType

  /** The data structure, as EXPLAIN names it. */
  def title: String

  /**
   * Whether elements can leave. Else the answer is made anew from the elements of the window each
   * time that it is asked for, which costs as much as an answer that names them all.
   */
  def isInvertible: Boolean

  /** A new, empty answer of one window. */
  def create(): RunningState
}

/** The running answer of one window. */
private[sash] trait RunningState {
  def clear(): Unit

  /** @param inputs valid during the call, as are the objects in it unless they are copied */
  def add(inputs: InternalRow): Unit

  /** Takes away what was added with equal inputs. */
  def remove(inputs: InternalRow): Unit

  /** The present answer, null for NULL; it may be asked for again. */
  def result(): Any

  /** About what it takes in memory; it grows and shrinks with its elements. */
  def bytes: Long
}
