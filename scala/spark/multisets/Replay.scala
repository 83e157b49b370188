package io.sash.spark.multisets

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.ImperativeAggregate
import org.apache.spark.sql.types.DataType

import io.sash.spark.slots.{RunningAnswer, RunningState}

/**
 * An aggregate whose answer is about as long as its window (collect_list, listagg). The window's
 * inputs are stored once, and the aggregate updates a new buffer with all of them for each
 * answer.
 *
 * Cost: per answer one update for each row of the window, and no other work.
 */
private[spark] final case class Replay(function: ImperativeAggregate) extends RunningAnswer {
  override def inputs: Seq[Expression] = Replay.arguments(function)

  override def dataType: DataType = function.dataType

  override def isInvertible: Boolean = false

  override def title: String = "the window itself"

  override def create(): RunningState = new ReplayState(Replay.bound(function))
}

private[spark] object Replay {

  /**
   * The expressions that the function reads of a row. A foldable argument is part of the
   * function.
   */
  def arguments(function: Expression): Seq[Expression] =
    function.children.map(argument).filterNot(_.foldable)

  /** The function bound to a row of its arguments. */
  def bound(function: ImperativeAggregate): ImperativeAggregate = {
    var ordinal = -1
    val children = function.children.map { child =>
      val of = argument(child)
      if (of.foldable) {
        child
      } else {
        ordinal += 1
        val reference = BoundReference(ordinal, of.dataType, of.nullable)
        child match {
          case order: SortOrder => order.copy(child = reference, sameOrderExpressions = Nil)
          case _                => reference
        }
      }
    }
    function
      .withNewChildren(children)
      .asInstanceOf[ImperativeAggregate]
      .withNewMutableAggBufferOffset(0)
      .withNewInputAggBufferOffset(0)
  }

  private def argument(child: Expression): Expression = child match {
    case order: SortOrder => order.child
    case other            => other
  }
}

private final class ReplayState(function: ImperativeAggregate) extends RunningState {
  private[this] val buffer = new GenericInternalRow(function.aggBufferSchema.length)

  clear()

  override def clear(): Unit = function.initialize(buffer)

  override def add(inputs: InternalRow): Unit = function.update(buffer, inputs)

  override def remove(inputs: InternalRow): Unit =
    throw new IllegalStateException(s"${function.prettyName} has no inverse")

  override def result(): Any = function.eval(buffer)

  /**
   * 0, since the buffer serves one answer, which is as large, and the window's inputs are in
   * slots.
   */
  override def bytes: Long = 0L
}
