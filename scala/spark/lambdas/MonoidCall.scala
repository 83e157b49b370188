package io.sash.spark.lambdas

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.analysis.{TempResolvedColumn, TypeCheckResult}
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult.{DataTypeMismatch, TypeCheckSuccess}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.{CURRENT_LIKE, HIGH_ORDER_FUNCTION}
import org.apache.spark.sql.catalyst.util.TypeUtils
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._

import io.sash.spark.base.{SashConf, SashFunction}
import io.sash.spark.monoids.LambdaBodies

/**
 * A call of `monoid_agg` during analysis. Spark binds lambdas in higher-order functions only, and
 * an aggregate is none. So the call is a higher-order function until its lambdas have their
 * types. Then a [[LambdaMonoid]], which contains no lambda, replaces it. The lift is bound first,
 * because its result, the partial aggregate, is the input of all other lambdas.
 *
 * @param identity NULL if there is none
 * @param lower NULL if left out, as are inverse and selective
 * @param selective a lambda, or a literal
 */
private[sash] final case class MonoidCall(
    input: Expression,
    identity: Expression,
    lift: Expression,
    combine: Expression,
    lower: Expression,
    inverse: Expression,
    selective: Expression
) extends HigherOrderFunction
    with Unevaluable {
  import MonoidCall._

  override def prettyName: String = Name
  override def arguments: Seq[Expression] = Seq(input, identity)
  override def functions: Seq[Expression] = Seq(lift, combine, lower, inverse, selective)
  override def argumentTypes: Seq[DataType] = Nil
  override def functionTypes: Seq[DataType] = Nil
  override def checkArgumentDataTypes(): TypeCheckResult = TypeCheckSuccess
  override def children: Seq[Expression] = arguments ++ functions

  /** The call as it is written, without the arguments that are left out at its end. */
  override def sql: String = {
    val all = Seq(input, lift, combine, lower, identity, inverse, selective)
    val written = all.take(1 + all.lastIndexWhere(!isLeftOut(_)))
    written.map(_.sql).mkString(s"$prettyName(", ", ", ")")
  }

  /** Always false: the call is replaced by an aggregate, and only the aggregate gets resolved. */
  override lazy val resolved: Boolean = false
  override def dataType: DataType = partial
  override def nullable: Boolean = true

  override protected def bindInternal(
      bind: (Expression, Seq[(DataType, Boolean)]) => LambdaFunction
  ): MonoidCall = {
    // the input is not NULL, since rows with a NULL input are skipped
    val first = bind(lift, Seq((input.dataType, false)))
    val call = copy(lift = first)
    if (!first.resolved) {
      call
    } else {
      val operand = (call.partial, true)
      def optional(lambda: Expression, operands: (DataType, Boolean)*): Expression =
        if (isLeftOut(lambda)) lambda else bind(lambda, operands)
      call.copy(
        combine = bind(combine, Seq(operand, operand)),
        lower = optional(lower, operand),
        inverse = optional(inverse, operand, operand),
        selective = if (isSwitch(selective)) selective else optional(selective, operand, operand)
      )
    }
  }

  /** The type of partial aggregates. */
  private def partial: DataType = LambdaBodies.typeOf(lift.dataType)

  private def isBound: Boolean = argumentsResolved && functions.forall {
    case l: LambdaFunction => l.resolved
    case other             => isLeftOut(other) || isSwitch(other)
  }

  override def checkInputDataTypes(): TypeCheckResult =
    if (!isBound) {
      TypeCheckSuccess
    } else {
      val results = Seq(
        "combine" -> combine.dataType -> partial,
        "inverse" -> (if (isLeftOut(inverse)) partial else inverse.dataType) -> partial,
        "selective" -> (if (isLeftOut(selective)) BooleanType
                        else selective.dataType) -> BooleanType,
        "identity" -> castIdentity.getOrElse(identity).dataType -> partial
      )
      results
        .collectFirst {
          case ((part, actual), expected) if LambdaBodies.typeOf(actual) != expected =>
            DataTypeMismatch(
              "UNEXPECTED_RETURN_TYPE",
              Map(
                "functionName" -> s"$part of `$Name`",
                "expectedType" -> s"\"${expected.sql}\"",
                "actualType" -> s"\"${LambdaBodies.typeOf(actual).sql}\""
              )
            )
        }
        .getOrElse(if (!unaliased.foldable) notConstant else comparable)
    }

  /**
   * If `selective` is true, the operand that a combine has picked is found by comparing partials.
   */
  private def comparable: TypeCheckResult = selective match {
    case Literal(true, _) => TypeUtils.checkForOrderingExpr(partial, Name)
    case _                => TypeCheckSuccess
  }

  private def notConstant: TypeCheckResult = DataTypeMismatch(
    "NON_FOLDABLE_INPUT",
    Map(
      "inputName" -> "`identity`",
      "inputType" -> s"\"${partial.sql}\"",
      "inputExpr" -> s"\"${identity.sql}\""
    )
  )

  /** The identity without aliases, which struct(… AS …) keeps until the end of the analysis. */
  private def unaliased: Expression = identity.transform { case a: Alias => a.child }

  /**
   * The identity as a partial aggregate, if its type is the partial's or can be widened to it.
   */
  private def castIdentity: Option[Expression] =
    if (LambdaBodies.typeOf(identity.dataType) == partial) Some(unaliased)
    else if (Cast.canUpCast(identity.dataType, partial))
      Some(new Cast(unaliased, partial, Some(SQLConf.get.sessionLocalTimeZone)))
    else None

  /** The aggregate, if all lambdas are bound and all types fit. */
  def aggregate: Option[AggregateExpression] =
    if (isBound && checkInputDataTypes().isSuccess) Some(monoid.toAggregateExpression()) else None

  private def monoid: LambdaMonoid = {
    val (columns, row) = input match {
      case struct: CreateNamedStruct if struct.valExprs.nonEmpty =>
        (struct.valExprs, struct.nameExprs)
      case one => (Seq(one), Nil)
    }
    val places = columns.zipWithIndex.map { case (c, i) =>
      BoundReference(i, c.dataType, c.nullable)
    }
    val x =
      if (row.isEmpty) places.head
      else CreateNamedStruct(row.zip(places).flatMap { case (name, c) => Seq(name, c) })
    val lifted = body(lift, Seq(x))
    // columns that the lambda captures become further inputs
    val captured = lifted.references.toSeq
    val at = captured.zipWithIndex.map { case (a, i) =>
      a.exprId -> BoundReference(columns.length + i, a.dataType, a.nullable)
    }.toMap
    val constants =
      (functions :+ identity).flatMap(_.collect { case e if isCurrent(e) => e }).distinct
    def withConstants(e: Expression): Expression = e.transformUp {
      case c if constants.contains(c) => LambdaMonoid.constant(constants, constants.indexOf(c))
    }
    val two = Seq(0, 1).map(BoundReference(_, partial, nullable = true))
    def closed(lambda: Expression): Expression = {
      val merged = body(lambda, two)
      merged.references.headOption.foreach { column =>
        val parameters = lambda.asInstanceOf[LambdaFunction].arguments.map(p => s"`${p.name}`")
        throw new AnalysisException(
          errorClass = "UNRESOLVED_COLUMN.WITH_SUGGESTION",
          messageParameters = Map(
            "objectName" -> s"`${column.name}`",
            "proposal" -> parameters.mkString(", ")
          )
        )
      }
      withConstants(merged)
    }
    def optional(lambda: Expression): Option[Expression] =
      if (isLeftOut(lambda)) None else Some(closed(lambda))
    LambdaMonoid(
      columns ++ captured,
      if (row.isEmpty) 1 else 0,
      withConstants(lifted.transform {
        case a: Attribute if at.contains(a.exprId) => at(a.exprId)
      }),
      closed(combine),
      optional(lower).getOrElse(two.head),
      if (isLeftOut(identity)) None else Some(withConstants(checked(castIdentity.get))),
      optional(inverse),
      selective match {
        case Literal(true, _)  => Some(Literal(true))
        case Literal(false, _) => None
        case other             => optional(other)
      },
      constants
    )
  }

  /**
   * Whether this is the current time, user or the like, which the optimizer turns into a
   * constant.
   */
  private def isCurrent(e: Expression): Boolean =
    e.containsPattern(CURRENT_LIKE) && !e.children.exists(_.containsPattern(CURRENT_LIKE))

  private def body(lambda: Expression, values: Seq[Expression]): Expression = {
    val LambdaFunction(function, parameters, _) = lambda
    val value = parameters.map(_.exprId).zip(values).toMap
    checked(
      function.transform {
        case v: NamedLambdaVariable if value.contains(v.exprId) => value(v.exprId)
        case column: TempResolvedColumn                         => column.child // in HAVING
      }
    )
  }

  private def checked(body: Expression): Expression = {
    def refuse(condition: String, parameters: (String, String)*): Unit =
      throw new AnalysisException(condition, parameters.toMap)
    body.foreach {
      case _: AggregateExpression => refuse("NESTED_AGGREGATE_FUNCTION")
      case f: PythonFuncExpression =>
        refuse("UNSUPPORTED_FEATURE.LAMBDA_FUNCTION_WITH_PYTHON_UDF", "funcName" -> f.sql)
      case e if !e.deterministic && e.children.forall(_.deterministic) =>
        refuse(
          "AGGREGATE_FUNCTION_WITH_NONDETERMINISTIC_EXPRESSION",
          "sqlExpr" -> s"\"${e.sql}\""
        )
      case _: OuterReference =>
        refuse(
          "UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY." +
            "AGGREGATE_FUNCTION_MIXED_OUTER_LOCAL_REFERENCES",
          "function" -> sql
        )
      case w: WindowExpression =>
        refuse(
          "UNSUPPORTED_EXPR_FOR_OPERATOR",
          "invalidExprSqls" -> s"\"${w.sql}\""
        )
      case _ =>
    }
    body
  }

  override protected def withNewChildrenInternal(c: IndexedSeq[Expression]): MonoidCall =
    MonoidCall(c(0), c(1), c(2), c(3), c(4), c(5), c(6))
}

private[sash] object MonoidCall {
  private[spark] val Name = "monoid_agg"

  private def isLeftOut(e: Expression): Boolean = e match {
    case Literal(null, _) => true
    case _                => false
  }

  private def isSwitch(e: Expression): Boolean = e match {
    case Literal(_: Boolean, BooleanType) => true
    case _                                => false
  }

  private[spark] val Function: SashFunction = SashFunction.of(
    Name,
    """
    Returns the aggregate of a monoid of your own, in lambdas. `lift` makes a partial
    aggregate of a value, `combine` makes one of two that are neighbours, and `lower` makes
    the answer of a partial aggregate.

    * input - the value, or a struct of several
    * lift - x -> its partial aggregate, of any type
    * combine - (older, younger) -> the partial of both; must be associative, and not fail
      for any run of neighbouring rows
    * lower - partial -> the answer; by default the partial itself
    * identity - the partial of no rows; without one the aggregate of no rows is NULL
    * inverse - (whole, oldest) -> the rest, where whole = combine(oldest, rest)
    * selective - true if combine always returns one of its operands, or (older, younger) ->
      whether it returns the younger

    > SELECT _FUNC_(x, x -> struct(x AS lo, x AS hi), (a, b) -> struct(least(a.lo, b.lo) AS
      lo, greatest(a.hi, b.hi) AS hi), a -> a.hi - a.lo) FROM VALUES (3), (1), (4) AS
      tab(x);
    3

    > SELECT _FUNC_(x, x -> x, (a, b) -> a * b, a -> a, 1) OVER (ORDER BY x ROWS 1
      PRECEDING) FROM VALUES (2), (3), (4) AS tab(x);
    2
    6
    12

    All are Catalyst expressions and run in generated code; a partial that is a struct is
    kept as its fields. NULL stands for an argument that is left out. Rows whose input is
    NULL are skipped; a struct of several columns is not NULL, whatever they are. `combine`
    and `inverse` have to return the type of `lift`. Only `lift` may refer to other columns.
    An inverse is taken at its word, and of floats it drifts. With `inverse` or `selective`
    a moving window takes fewer combines. FILTER is not supported; make the input NULL
    instead, by IF.
    """,
    classOf[LambdaMonoid],
    optional = 4,
    lambdas = Seq("lift", "combine", "lower", "inverse", "selective")
  ) { arguments =>
    def argument(i: Int): Expression = arguments.lift(i).getOrElse(Literal(null))
    MonoidCall(
      argument(0),
      identity = argument(4),
      lift = argument(1),
      combine = argument(2),
      lower = argument(3),
      inverse = argument(5),
      selective = argument(6)
    )
  }
}

/** Replaces a call by its aggregate once all its lambdas are bound. */
private[spark] object ResolveMonoids extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!SashConf.enabled(conf)) plan
    else
      plan.resolveExpressionsWithPruning(_.containsPattern(HIGH_ORDER_FUNCTION)) {
        case call: MonoidCall => call.aggregate.getOrElse(call)
      }
}
