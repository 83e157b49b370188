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

/** Turns the bodies of lambdas into expressions over cells. */
private[spark] object LambdaBodies {

  /**
   * The type with nothing nullable in it. Types of partials that differ in nullability only are
   * equal in this form.
   */
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

  /**
   * Applies optimizer rules to an expression. The optimizer itself reaches expressions of a plan
   * only, not those over an aggregate's cells.
   */
  def optimized(body: Expression): Expression = {
    val plan: LogicalPlan =
      Project(Seq(Alias(body, "body")()), LocalRelation(body.references.toSeq: _*))
    rules.foldLeft(plan)((p, rule) => rule(p)).expressions.head.asInstanceOf[Alias].child
  }

  /** A field of a struct, if possible without making the struct. */
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
   * Wraps each expression without generated code in an `EvaluatedOver`, so that the rest is
   * compiled. A running answer becomes an input like the cells, since only the operator's own
   * code can access its state.
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
 * An expression without generated code, such as a higher-order function, evaluated over a row of
 * its inputs. Generated code that combines cells has no row for it.
 *
 * @param function the expression, over references to `inputs`
 */
private[monoids] final case class EvaluatedOver(function: Expression, inputs: Seq[Expression])
    extends Expression {
  import codegen._

  override def prettyName: String = function.prettyName

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
