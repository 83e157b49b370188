package io.sash.spark.multisets

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.types.{BinaryType, DataType}

import io.sash.spark.monoids._
import io.sash.spark.slots.{RunningAnswer, RunningState}

/**
 * The multiset of the inputs of a pane's rows. It is the partial of an aggregate whose answer
 * comes from all inputs, such as a median or an aggregate of DISTINCT inputs.
 *
 * @param inputs the inputs of the running answer
 */
private[spark] final case class PaneMultiset(
    inputs: Seq[Expression],
    mutableAggBufferOffset: Int = 0,
    inputAggBufferOffset: Int = 0
) extends TypedImperativeAggregate[RowMultiset] {
  override def children: Seq[Expression] = inputs

  override def dataType: DataType = BinaryType

  override def nullable: Boolean = false

  override def prettyName: String = "pane_multiset"

  @transient private lazy val row = UnsafeProjection.create(inputs)

  /** The multiset of one row's inputs. */
  def one(input: InternalRow): Array[Byte] = RowMultiset.one(row(input))

  override def createAggregationBuffer(): RowMultiset = new RowMultiset

  override def update(buffer: RowMultiset, input: InternalRow): RowMultiset = {
    buffer.add(row(input), 1L)
    buffer
  }

  override def merge(buffer: RowMultiset, other: RowMultiset): RowMultiset = {
    buffer.addAll(other)
    buffer
  }

  override def eval(buffer: RowMultiset): Any = buffer.toBytes

  override def serialize(buffer: RowMultiset): Array[Byte] = buffer.toBytes

  override def deserialize(bytes: Array[Byte]): RowMultiset = {
    val buffer = new RowMultiset
    RowMultiset.foreach(bytes, inputs.length)(buffer.add)
    buffer
  }

  override def withNewMutableAggBufferOffset(offset: Int): PaneMultiset =
    copy(mutableAggBufferOffset = offset)

  override def withNewInputAggBufferOffset(offset: Int): PaneMultiset =
    copy(inputAggBufferOffset = offset)

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[Expression]
  ): PaneMultiset = copy(inputs = newChildren)
}

private[spark] object PaneMultiset {

  /**
   * The monoid whose cell is such a multiset, for windows that are kept in pieces. A combine
   * takes the length of its result, and an answer the length of the window.
   */
  def monoid(answer: RunningAnswer, filter: Option[Expression]): AggregateMonoid = {
    val form = MultisetForm(answer)
    val left = AttributeReference("members", form.cellType, nullable = false)()
    val right = left.newInstance()
    val (one, none) = (LiftPartial(PaneMultiset(answer.inputs), form), EmptyPartial(form))
    AggregateMonoid(
      Seq(left),
      Seq(right),
      identity = Seq(none),
      lift = Seq(filter.fold[Expression](one)(If(_, one, none))),
      combine = Seq(MergePartials(form, left, right)),
      lower = LowerPartial(form, left, answer.dataType, nullable = true),
      grows = true
    )
  }

  /**
   * The monoid whose running answer takes in and gives back a pane's multiset as one element.
   *
   * @param multiset the column of the panes' multisets
   */
  def running(answer: RunningAnswer, multiset: Expression): AggregateMonoid =
    RunningMonoid(AnswerOverPanes(answer, multiset), None).copy(hasPrefixes = true)
}

/** A multiset in a cell. The answer is computed anew each time that it is asked for. */
private final case class MultisetForm(answer: RunningAnswer) extends BufferForm {
  private[this] val width = answer.inputs.length
  @transient private lazy val state = answer.create()

  override def cellType: DataType = BinaryType

  override def empty(): Any = RowMultiset.Empty

  override def lift(f: ImperativeAggregate, row: InternalRow): Any =
    f.asInstanceOf[PaneMultiset].one(row)

  override def merge(left: Any, right: Any): Any =
    RowMultiset.union(left.asInstanceOf[Array[Byte]], right.asInstanceOf[Array[Byte]])

  override def lower(partial: Any): Any = {
    state.clear()
    RowMultiset.foreach(partial.asInstanceOf[Array[Byte]], width)(state.add)
    state.result()
  }
}

/** A running answer whose elements are multisets of inputs. */
private final case class AnswerOverPanes(of: RunningAnswer, multiset: Expression)
    extends RunningAnswer {
  override def inputs: Seq[Expression] = Seq(multiset)

  override def dataType: DataType = of.dataType

  override def title: String = of.title

  override def isInvertible: Boolean = of.isInvertible

  override def create(): RunningState = new StateOverPanes(of.create(), of.inputs.length)
}

private final class StateOverPanes(of: RunningState, width: Int) extends RunningState {
  override def clear(): Unit = of.clear()

  override def add(inputs: InternalRow): Unit =
    RowMultiset.foreach(inputs.getBinary(0), width)(of.add)

  override def remove(inputs: InternalRow): Unit =
    RowMultiset.foreach(inputs.getBinary(0), width)(of.remove)

  override def result(): Any = of.result()

  override def bytes: Long = of.bytes
}
