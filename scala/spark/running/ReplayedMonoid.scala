package io.sash.spark.running

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.types._

import io.sash.spark.base.Described
import io.sash.spark.monoids.AggregateMonoid
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
      lower = Replayed(left, answer)
    )
  }
}

/** The running answer over a list of inputs. */
private[spark] final case class Replayed(child: Expression, answer: RunningAnswer)
    extends UnaryExpression
    with CodegenFallback
    with Described {
  override def prettyName: String = "replayed"

  @transient private lazy val state = answer.create()
  @transient private lazy val width = answer.inputs.length

  override def dataType: DataType = answer.dataType

  override def nullable: Boolean = true

  override protected def nullSafeEval(inputs: Any): Any = {
    val list = inputs.asInstanceOf[ArrayData]
    state.clear()
    (0 until list.numElements()).foreach(i => state.add(row(list, i)))
    state.result()
  }

  private def row(list: ArrayData, i: Int): InternalRow = list.getStruct(i, width)

  override protected def withNewChildInternal(newChild: Expression): Replayed =
    copy(child = newChild)
}
