package io.sash.spark.slots

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.types.{BooleanType, DataType}

/** An expression that uses running state number `index` of its column. */
private[spark] sealed trait RunningExpression extends Expression {
  def index: Int

  /** Finds a running state by its number, in an interpreted column. */
  def states: Int => RunningState

  /** The same expression for another state number. */
  def at(index: Int): Expression

  /** The same expression in an interpreted column with these states. */
  def in(states: Int => RunningState): Expression

  override final lazy val deterministic: Boolean = false

  override final def foldable: Boolean = false

  protected final def state: RunningState = states(index)

  /** The Java expression for the state, a call of an inherited method. */
  protected final def stateTerm: String = s"running($index)"
}

/**
 * If `counts` is true: clears the state, or adds or removes the inputs. Always returns true,
 * which the caller may store in the first cell of the answer's slot.
 */
private[spark] final case class RunningStep(
    kind: RunningStep.Kind,
    counts: Expression,
    inputs: Seq[Expression],
    index: Int = 0,
    states: Int => RunningState = null
) extends RunningExpression {
  override def prettyName: String = kind.name

  override def children: Seq[Expression] = counts +: inputs

  override def dataType: DataType = BooleanType

  override def nullable: Boolean = false

  override def at(index: Int): Expression = copy(index = index)

  override def in(states: Int => RunningState): Expression = copy(states = states)

  override def eval(input: InternalRow): Any = {
    if (counts.eval(input) == true) {
      val row = new GenericInternalRow(inputs.map(_.eval(input)).toArray[Any])
      kind match {
        case RunningStep.Clear  => state.clear()
        case RunningStep.Add    => state.add(row)
        case RunningStep.Remove => state.remove(row)
      }
    }
    true
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val types = ctx.addReferenceObj("types", inputs.map(_.dataType).toArray, "Object")
    val rowClass = classOf[SpecificInternalRow].getName
    val factory = RunningStep.getClass.getName.stripSuffix("$")
    val row =
      ctx.addMutableState(
        rowClass,
        "inputs",
        v => s"$v = $factory.row($types);",
        forceInline = true
      )
    val on = counts.genCode(ctx)
    val values = inputs.map(_.genCode(ctx))
    val writes = inputs.zip(values).zipWithIndex.map { case ((e, v), i) =>
      // the slots hold copies, so the row may share the value
      val write =
        if (CodeGenerator.isPrimitiveType(e.dataType))
          CodeGenerator.setColumn(row, e.dataType, i, v.value)
        else s"$row.update($i, ${v.value})"
      if (e.nullable) s"if (${v.isNull}) { $row.setNullAt($i); } else { $write; }" else s"$write;"
    }
    val call = kind match {
      case RunningStep.Clear  => s"$stateTerm.clear();"
      case RunningStep.Add    => s"$stateTerm.add($row);"
      case RunningStep.Remove => s"$stateTerm.remove($row);"
    }
    val code = code"""
      ${on.code}
      if (${on.value}) {
        ${values.map(_.code.toString).mkString("\n")}
        ${writes.mkString("\n")}
        $call
      }"""
    ev.copy(code = code, isNull = FalseLiteral, value = TrueLiteral)
  }

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[Expression]
  ): RunningStep = copy(counts = newChildren.head, inputs = newChildren.tail)
}

private[spark] object RunningStep {
  sealed abstract class Kind(val name: String)
  case object Clear extends Kind("clear")
  case object Add extends Kind("add")
  case object Remove extends Kind("remove")

  /** Makes the row of inputs, for generated code. */
  def row(types: Any): SpecificInternalRow =
    new SpecificInternalRow(types.asInstanceOf[Array[DataType]].toIndexedSeq)
}

/**
 * The answer of the running state.
 *
 * @param own the value of the row that the answer is for, over the input
 */
private[spark] final case class RunningResult(
    dataType: DataType,
    own: Option[Expression],
    index: Int = 0,
    states: Int => RunningState = null
) extends RunningExpression {
  override def prettyName: String = "running_answer"

  override def children: Seq[Expression] = own.toSeq

  override def nullable: Boolean = true

  override def at(index: Int): Expression = copy(index = index)

  override def in(states: Int => RunningState): Expression = copy(states = states)

  override def eval(input: InternalRow): Any =
    if (own.isEmpty) state.result() else state.result(own.get.eval(input))

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
    own.map(_.genCode(ctx)) match {
      case None => Unboxed(ctx, ev, dataType, s"$stateTerm.result()")
      case Some(value) =>
        val boxed = s"${value.isNull} ? null : (Object) (${value.value})"
        val answer = Unboxed(ctx, ev, dataType, s"$stateTerm.result($boxed)")
        answer.copy(code = code"${value.code}${answer.code}")
    }

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[Expression]
  ): RunningResult = copy(own = newChildren.headOption)
}
