package io.sash.spark.multisets

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.types._

import io.sash.spark.monoids.{AggregateMonoid, LambdaBodies}
import io.sash.spark.slots.RunningAnswer

/**
 * A [[RunningAnswer]] as a monoid without running state, for a window that is kept in pieces. A
 * partial is the list of its inputs, and the answer is computed from the whole list.
 *
 * Cost: a combine takes the length of its result, an answer the length of the window.
 */
private[spark] object ReplayedMonoid {
  def apply(answer: RunningAnswer, filter: Option[Expression]): AggregateMonoid = {
    val fields = answer.inputs.zipWithIndex.flatMap { case (e, i) => Seq(Literal(s"i$i"), e) }
    val one = CreateArray(Seq(CreateNamedStruct(fields)))
    val list = ArrayType(one.children.head.dataType, containsNull = false)
    val none = Literal.create(Nil, list)
    val left = AttributeReference("inputs", list, nullable = false)()
    val right = left.newInstance()
    AggregateMonoid(
      Seq(left),
      Seq(right),
      identity = Seq(none),
      lift = Seq(filter.fold[Expression](one)(If(_, one, none))),
      combine = Seq(Concat(Seq(left, right))),
      lower = LambdaBodies.compilable(ReplayedAnswer(left, answer.own, answer))
    )
  }
}

/**
 * The running answer over a list of inputs.
 *
 * @param own the value of the row that the answer is for, if it depends on that row
 */
private[spark] final case class ReplayedAnswer(
    list: Expression,
    own: Option[Expression],
    answer: RunningAnswer
) extends Expression
    with CodegenFallback {
  override def prettyName: String = "replayed"

  @transient private lazy val state = answer.create()
  @transient private lazy val width = answer.inputs.length

  override def dataType: DataType = answer.dataType

  override def nullable: Boolean = true

  override def children: Seq[Expression] = list +: own.toSeq

  override def eval(input: InternalRow): Any = {
    val inputs = list.eval(input).asInstanceOf[ArrayData]
    state.clear()
    (0 until inputs.numElements()).foreach(i => state.add(row(inputs, i)))
    own.fold(state.result())(value => state.result(value.eval(input)))
  }

  private def row(list: ArrayData, i: Int): InternalRow = list.getStruct(i, width)

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[Expression]
  ): ReplayedAnswer = copy(list = newChildren.head, own = own.map(_ => newChildren(1)))
}
