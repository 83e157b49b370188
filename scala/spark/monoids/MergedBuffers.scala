package io.sash.spark.monoids

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodeGenerator, CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.codegen.{FalseLiteral, JavaCode}
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.types.{BinaryType, DataType}

import io.sash.spark.slots.Unboxed

/**
 * The monoid of an imperative aggregate. A slot's only cell holds a whole buffer: the bytes that
 * Spark would send through a shuffle (TypedImperativeAggregate), or a row.
 *
 * A merge writes into its left operand and may keep parts of its right one, and both may still be
 * in their slots. So each merge writes into a new cell, and no object in a slot is ever written.
 *
 * Cost of a combine: for bytes, two deserializations, two merges and a serialization; for rows, a
 * copy of the left operand and one merge.
 */
private[spark] object MergedBuffers {

  /** The monoid of `f`, or none for a ranking or offset function, which cannot be merged. */
  def of(f: ImperativeAggregate): Option[AggregateMonoid] =
    if (f.isInstanceOf[WindowFunction]) None else Some(monoid(f))

  /**
   * The partial of the rows of `cell` and one more row. The update may write into `cell`, so no
   * other slot may hold that object. It costs one update, and for an aggregate whose cells are
   * bytes, a deserialization and a serialization.
   */
  def updated(f: ImperativeAggregate, cell: Expression): Expression = {
    val inputs = f.children.filterNot(_.foldable)
    val columns = inputs.zipWithIndex.map { case (c, i) =>
      BoundReference(i, c.dataType, c.nullable)
    }.iterator
    val bound = f.withNewChildren(f.children.map(c => if (c.foldable) c else columns.next()))
    UpdatePartial(at0(bound.asInstanceOf[ImperativeAggregate]), form(f), cell, inputs)
  }

  private def form(f: ImperativeAggregate): BufferForm = f match {
    case t: TypedImperativeAggregate[_] =>
      TypedBuffer(at0(t).asInstanceOf[TypedImperativeAggregate[AnyRef]])
    case _ => RowBuffer(at0(f))
  }

  private def monoid(f: ImperativeAggregate): AggregateMonoid = {
    val partial = form(f)
    val left = AttributeReference("partial", partial.cellType, nullable = false)()
    val right = left.newInstance()
    AggregateMonoid(
      left = Seq(left),
      right = Seq(right),
      identity = Seq(EmptyPartial(partial)),
      lift = Seq(LiftPartial(f, partial)),
      combine = Seq(MergePartials(partial, left, right)),
      lower = LowerPartial(partial, left, f.dataType, f.nullable)
    )
  }

  private def at0(f: ImperativeAggregate): ImperativeAggregate =
    f.withNewMutableAggBufferOffset(0).withNewInputAggBufferOffset(0)
}

/**
 * The operations of an imperative aggregate on its buffers, in the form in which cells hold them.
 */
private[spark] abstract class BufferForm extends Serializable {
  def cellType: DataType

  def empty(): Any

  /** @param f the aggregate, bound to the columns of `row` */
  def lift(f: ImperativeAggregate, row: InternalRow): Any

  /** Adds a row to a partial, which may be changed; the result is the partial from now on. */
  def update(f: ImperativeAggregate, partial: Any, row: InternalRow): Any =
    merge(partial, lift(f, row))

  /** Returns a new partial and leaves its operands unchanged. */
  def merge(left: Any, right: Any): Any

  def lower(partial: Any): Any
}

/** Buffers as bytes. */
private final case class TypedBuffer(f: TypedImperativeAggregate[AnyRef]) extends BufferForm {
  override def cellType: DataType = BinaryType

  override def empty(): Any = bytesOf(f.createAggregationBuffer())

  override def lift(bound: ImperativeAggregate, row: InternalRow): Any = {
    val typed = bound.asInstanceOf[TypedImperativeAggregate[AnyRef]]
    bytesOf(typed.update(typed.createAggregationBuffer(), row))
  }

  override def update(bound: ImperativeAggregate, partial: Any, row: InternalRow): Any = {
    val typed = bound.asInstanceOf[TypedImperativeAggregate[AnyRef]]
    bytesOf(typed.update(buffer(partial), row))
  }

  override def merge(left: Any, right: Any): Any = {
    val merged = f.createAggregationBuffer()
    bytesOf(f.merge(f.merge(merged, buffer(left)), buffer(right)))
  }

  override def lower(partial: Any): Any = f.eval(buffer(partial))

  /** Copies the bytes, since an aggregate may serialize into the same array each time. */
  private def bytesOf(buffer: AnyRef): Array[Byte] = f.serialize(buffer).clone()

  private def buffer(partial: Any): AnyRef = f.deserialize(partial.asInstanceOf[Array[Byte]])
}

/** Buffers as rows. */
private final case class RowBuffer(f: ImperativeAggregate) extends BufferForm {
  private val types = f.aggBufferSchema.map(_.dataType).toArray
  private val inPlace = types.forall(t => UnsafeRow.isMutable(t) && UnsafeRow.isFixedLength(t))

  override def cellType: DataType = f.aggBufferSchema

  @transient private lazy val initial: InternalRow = {
    val buffer = new SpecificInternalRow(types.toIndexedSeq)
    f.initialize(buffer)
    if (inPlace) UnsafeProjection.create(types)(buffer) else buffer
  }

  override def empty(): Any = own(initial)

  override def lift(bound: ImperativeAggregate, row: InternalRow): Any = {
    val buffer = empty().asInstanceOf[InternalRow]
    bound.update(buffer, row)
    buffer
  }

  override def update(bound: ImperativeAggregate, partial: Any, row: InternalRow): Any = {
    bound.update(partial.asInstanceOf[InternalRow], row)
    partial
  }

  override def merge(left: Any, right: Any): Any = {
    val buffer = own(left.asInstanceOf[InternalRow])
    f.merge(buffer, right.asInstanceOf[InternalRow])
    buffer
  }

  override def lower(partial: Any): Any = f.eval(own(partial.asInstanceOf[InternalRow]))

  private def own(partial: InternalRow): InternalRow = partial match {
    case u: UnsafeRow if inPlace => u.copy()
    case row =>
      val copy = new GenericInternalRow(types.length)
      var i = 0
      while (i < types.length) {
        copy.update(i, own(row.get(i, types(i))))
        i += 1
      }
      copy
  }

  /**
   * Also copies bytes, which Spark's row copies share and merges write into (a bitmap, a heap's
   * indexes).
   */
  private def own(value: Any): Any = value match {
    case bytes: Array[Byte] => bytes.clone()
    case other              => InternalRow.copyValue(other)
  }
}

/** An operation on partials, which generated code runs as a call of `BufferForm`. */
private[spark] sealed trait OnPartials extends Expression {
  protected def partial: BufferForm

  override def nullable: Boolean = false

  /** Makes `ev` the value that the Java expression `call` returns. */
  protected final def called(
      ctx: CodegenContext,
      ev: ExprCode,
      call: String => String
  ): ExprCode = {
    val partialTerm = ctx.addReferenceObj("partial", partial, classOf[BufferForm].getName)
    if (nullable) {
      Unboxed(ctx, ev, dataType, call(partialTerm))
    } else {
      val declared = JavaCode.javaType(dataType)
      val value = s"(${CodeGenerator.boxedType(dataType)}) ${call(partialTerm)}"
      ev.copy(code = code"$declared ${ev.value} = $value;", isNull = FalseLiteral)
    }
  }
}

private[spark] final case class EmptyPartial(partial: BufferForm)
    extends LeafExpression
    with OnPartials {
  override def prettyName: String = "empty_partial"

  override def dataType: DataType = partial.cellType

  override def eval(input: InternalRow): Any = partial.empty()

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
    called(ctx, ev, p => s"$p.empty()")
}

/** The partial of one input row. The aggregate itself reads the row. */
private[spark] final case class LiftPartial(child: Expression, partial: BufferForm)
    extends UnaryExpression
    with OnPartials {
  override def prettyName: String = "lift_partial"

  override def dataType: DataType = partial.cellType

  override def eval(input: InternalRow): Any =
    partial.lift(child.asInstanceOf[ImperativeAggregate], input)

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val f = ctx.addReferenceObj("aggregate", child, classOf[ImperativeAggregate].getName)
    called(ctx, ev, p => s"$p.lift($f, ${ctx.INPUT_ROW})")
  }

  override protected def withNewChildInternal(newChild: Expression): LiftPartial =
    copy(child = newChild)
}

/**
 * The partial of `cell` and one more row. Unlike a lift it needs no input row, which whole-stage
 * code may lack.
 *
 * @param aggregate over a row of `inputs`
 */
private[spark] final case class UpdatePartial(
    aggregate: ImperativeAggregate,
    partial: BufferForm,
    cell: Expression,
    inputs: Seq[Expression]
) extends Expression
    with OnPartials {
  override def children: Seq[Expression] = cell +: inputs
  override def prettyName: String = "update_partial"
  override def dataType: DataType = partial.cellType

  override def eval(input: InternalRow): Any =
    partial.update(aggregate, cell.eval(input), InternalRow.fromSeq(inputs.map(_.eval(input))))

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val codes = children.map(_.genCode(ctx))
    val values = ctx.freshName("values")
    val assigns = codes.tail.zipWithIndex.map { case (c, i) =>
      code"if (!${c.isNull}) $values[$i] = ${c.value};"
    }
    val declared = code"Object[] $values = new Object[${inputs.length}];" +: assigns.toSeq
    val f = ctx.addReferenceObj("aggregate", aggregate, classOf[ImperativeAggregate].getName)
    val row = s"new ${classOf[GenericInternalRow].getName}($values)"
    val updated = called(ctx, ev, p => s"$p.update($f, ${codes.head.value}, $row)")
    updated.copy(code = (codes.map(_.code) ++ declared :+ updated.code).reduce(_ + _))
  }

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[Expression]
  ): UpdatePartial = copy(cell = newChildren.head, inputs = newChildren.tail)
}

private[spark] final case class MergePartials(
    partial: BufferForm,
    left: Expression,
    right: Expression
) extends BinaryExpression
    with OnPartials {
  override def prettyName: String = "merge_partials"

  override def dataType: DataType = partial.cellType

  override def eval(input: InternalRow): Any = partial.merge(left.eval(input), right.eval(input))

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val (l, r) = (left.genCode(ctx), right.genCode(ctx))
    val merged = called(ctx, ev, p => s"$p.merge(${l.value}, ${r.value})")
    merged.copy(code = l.code + r.code + merged.code)
  }

  override protected def withNewChildrenInternal(l: Expression, r: Expression): MergePartials =
    copy(left = l, right = r)
}

private[spark] final case class LowerPartial(
    partial: BufferForm,
    child: Expression,
    dataType: DataType,
    override val nullable: Boolean
) extends UnaryExpression
    with OnPartials {
  override def prettyName: String = "lower_partial"

  override def eval(input: InternalRow): Any = partial.lower(child.eval(input))

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val operand = child.genCode(ctx)
    val answer = called(ctx, ev, p => s"$p.lower(${operand.value})")
    answer.copy(code = operand.code + answer.code)
  }

  override protected def withNewChildInternal(newChild: Expression): LowerPartial =
    copy(child = newChild)
}
