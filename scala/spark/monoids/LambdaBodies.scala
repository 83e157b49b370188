package io.sash.spark.monoids

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.{
  ConstantFolding,
  ReplaceExpressions,
  SimplifyConditionals,
  SimplifyExtractValueOps
}
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.types._

import io.sash.spark.slots.{RunningResult, Unboxed}

/** How the bodies of lambdas become expressions over cells. */
private[spark] object LambdaBodies {

  /** A type as partials have it, whatever may be NULL in it: types that close are equal so. */
  def typeOf(dataType: DataType): DataType = dataType match {
    case StructType(fields) =>
      StructType(fields.map(f => StructField(f.name, typeOf(f.dataType))))
    case ArrayType(element, _)  => ArrayType(typeOf(element))
    case MapType(key, value, _) => MapType(typeOf(key), typeOf(value))
    case other                  => other
  }

  private val rules: Seq[Rule[LogicalPlan]] =
    Seq(
      ReplaceExpressions,
      InlineWith,
      SimplifyExtractValueOps,
      ConstantFolding,
      SimplifyConditionals
    )

  /** What the optimizer does to expressions of a plan, which those of an aggregate's cells are not. */
  def optimized(body: Expression): Expression = {
    val plan: LogicalPlan =
      Project(Seq(Alias(body, "body")()), LocalRelation(body.references.toSeq: _*))
    rules.foldLeft(plan)((p, rule) => rule(p)).expressions.head.asInstanceOf[Alias].child
  }

  /** A field of a struct, without the struct if possible. */
  def field(struct: Expression, i: Int): Expression = struct match {
    case s: CreateNamedStruct   => s.valExprs(i)
    case KnownNotNull(s)        => field(s, i)
    case If(condition, yes, no) => If(condition, field(yes, i), field(no, i))
    case CaseWhen(branches, Some(otherwise)) =>
      CaseWhen(
        branches.map { case (c, value) => (c, field(value, i)) },
        Some(field(otherwise, i))
      )
    case other => GetStructField(other, i)
  }

  /**
   * Puts what has no code of its own into what has, so that the rest is compiled. An answer that is
   * kept beside the slots is an input as cells are: just the operator's own code finds it.
   */
  def compilable(e: Expression): Expression = e match {
    case leaf: LeafExpression => leaf
    case fallback: codegen.CodegenFallback =>
      val cells = fallback.references.toSeq.collect { case a: AttributeReference => a }
      val states = fallback.collect { case r: RunningResult => r: Expression }.distinct
      val inputs = cells ++ states
      def at(i: Int) = BoundReference(i, inputs(i).dataType, inputs(i).nullable)
      val function = (fallback: Expression).transformUp {
        case a: AttributeReference => at(cells.indexWhere(_.exprId == a.exprId))
        case r: RunningResult      => at(cells.length + states.indexOf(r))
      }
      EvaluatedOver(function, inputs)
    case other => other.mapChildren(compilable)
  }

  private object InlineWith extends Rule[LogicalPlan] {
    override def apply(plan: LogicalPlan): LogicalPlan = plan.transformExpressionsUp {
      case With(child, definitions) =>
        val defined = definitions.map(d => d.id -> d.child).toMap
        child.transform { case r: CommonExpressionRef if defined.contains(r.id) => defined(r.id) }
    }
  }
}

/**
 * An expression without code of its own (a higher-order function, say), evaluated over a row of
 * its inputs: where cells are combined there is no row that it could be evaluated over.
 *
 * @param function over references to `inputs`
 */
private[monoids] final case class EvaluatedOver(function: Expression, inputs: Seq[Expression])
    extends Expression {
  import codegen._

  override def children: Seq[Expression] = inputs
  override def dataType: DataType = function.dataType
  override def nullable: Boolean = function.nullable

  override def eval(row: org.apache.spark.sql.catalyst.InternalRow): Any =
    function.eval(new GenericInternalRow(inputs.map(_.eval(row)).toArray))

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val inputCodes = inputs.map(_.genCode(ctx))
    val evaluated = ctx.addReferenceObj("function", function, classOf[Expression].getName)
    val values = inputCodes.map(c => s"${c.isNull} ? null : (Object) ${c.value}").mkString(", ")
    val row = s"new ${classOf[GenericInternalRow].getName}(new Object[] { $values })"
    val result = Unboxed(ctx, ev, dataType, s"$evaluated.eval($row)")
    result.copy(code = inputCodes.map(_.code).foldLeft(EmptyBlock: Block)(_ + _) + result.code)
  }

  override protected def withNewChildrenInternal(c: IndexedSeq[Expression]): EvaluatedOver =
    copy(inputs = c)
}
