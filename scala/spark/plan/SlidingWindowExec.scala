package io.sash.spark.plan

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodeGenerator, CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.codegen.{EmptyBlock, FalseLiteral, JavaCode}
import org.apache.spark.sql.catalyst.plans.physical.{Distribution, Partitioning}
import org.apache.spark.sql.execution.{CodegenSupport, SparkPlan}
import org.apache.spark.sql.execution.metric.SQLMetric

import io.sash.spark.ordering.{KeptOrder, KeptSort, KeyOrder}
import io.sash.spark.windows.{
  ExplainLines,
  ImmediateWindows,
  OfSubquery,
  Ties,
  WaitingWindowTask,
  WindowCall,
  WindowMetrics,
  WindowProgram,
  WindowTask
}

/**
 * Aggregates over moving and shrinking frames, in amortised constant time per row.
 *
 * Input: rows clustered by `partitionSpec`, with each key's rows together and sorted by
 * `orderSpec` (`KeyOrder`). Output: the rows in the same order. If every frame ends at or
 * before the current row (ROWS … AND CURRENT ROW), the operator takes part in whole-stage code
 * generation. Otherwise a queue, which can spill, holds each row until all rows of its frame have
 * come. In both cases the operator holds one window in memory, and not the partition, unless each
 * row has bounds of its own.
 *
 * A filter above the window on columns of its input is part of the operator. Each row moves the
 * frames, but only rows that the filter keeps get results and are part of the output.
 *
 * @param windowExpression named expressions over window calls that Sash accepts
 * @param conditions the filter's conditions; empty if every row gets results
 * @param forced the value of `spark.sash.window.algorithm`
 */
private[sash] final case class SlidingWindowExec(
    windowExpression: Seq[NamedExpression],
    partitionSpec: Seq[Expression],
    orderSpec: Seq[SortOrder],
    conditions: Seq[Expression],
    forced: String,
    child: SparkPlan
) extends KeptOrder
    with CodegenSupport {

  @transient private[spark] lazy val calls: Seq[WindowCall] =
    WindowCall.each(windowExpression)(WindowCall.of(_, forced))

  /** The windows for EXPLAIN. */
  private[spark] def texts: Seq[String] = ExplainLines.of(windowExpression, calls)

  /** The rows that get results, for EXPLAIN; none if all of them do. */
  private def askedRows: Seq[String] = {
    val (ofLabels, others) = conditions.partition(_.getTagValue(OfSubquery.Asks).nonEmpty)
    ofLabels.take(1).map(_ => "each label") ++
      others.reduceOption(And(_, _)).map(c => s"rows where ${c.sql}")
  }

  @transient private lazy val program: WindowProgram =
    WindowProgram(calls, partitionSpec, orderSpec, child.output, conf.sessionLocalTimeZone)

  override def output: Seq[Attribute] = child.output ++ windowExpression.map(_.toAttribute)

  override def order: KeyOrder = KeyOrder(partitionSpec, orderSpec)

  override lazy val seesTies: Boolean = Ties.areSeenIn(windowExpression)

  override def requiredChildDistribution: Seq[Distribution] = Seq(order.distribution)

  override def requiredChildOrdering: Seq[Seq[SortOrder]] =
    Seq(if (order.isGivenBy(child)) Nil else order.sorted)

  override def outputOrdering: Seq[SortOrder] = child.outputOrdering

  override def outputPartitioning: Partitioning = child.outputPartitioning

  private lazy val ownMetrics = WindowMetrics.create(sparkContext)

  override lazy val metrics: Map[String, SQLMetric] = ownMetrics.byName

  override protected def withNewChildInternal(newChild: SparkPlan): SlidingWindowExec =
    copy(child = newChild)

  /** The results of all calls, as references to columns after the child's output. */
  private def resultReferences: Seq[BoundReference] = calls.zipWithIndex.map { case (c, i) =>
    BoundReference(child.output.length + i, c.expression.dataType, c.expression.nullable)
  }

  private def outputExpressions: Seq[Expression] =
    WindowCall.replaced(windowExpression, calls, resultReferences)

  private def condition: Expression =
    conditions.reduceOption(And(_, _)).getOrElse(Literal.TrueLiteral)

  override protected def doExecute(): RDD[InternalRow] = {
    val (program, metrics, condition) = (this.program, ownMetrics, this.condition)
    val (input, appended) = (child.output, outputExpressions)
    child.execute().mapPartitionsWithIndex { (index, rows) =>
      val project = UnsafeProjection.create(input ++ appended, input)
      val keeps = Predicate.create(condition, input)
      keeps.initialize(index)
      if (program.isImmediate) {
        val joined = new JoinedRow
        new ImmediateWindows(
          program,
          metrics,
          rows,
          keeps,
          (row, result) => project(joined(row, result))
        )
      } else {
        new WaitingWindowTask(program, metrics, rows, input.length, keeps).map(project)
      }
    }
  }

  override def supportCodegen: Boolean = program.isImmediate

  override def inputRDDs(): Seq[RDD[InternalRow]] = child.asInstanceOf[CodegenSupport].inputRDDs()

  /** Empty, since the generated code reads each column from the row when it needs it. */
  override def usedInputs: AttributeSet = AttributeSet.empty

  private var taskTerm: String = _
  private var resultTerm: String = _

  override protected def doProduce(ctx: CodegenContext): String = {
    val program = ctx.addReferenceObj("program", this.program)
    val metrics = ctx.addReferenceObj("metrics", ownMetrics)
    val taskClass = classOf[WindowTask].getName
    taskTerm = ctx.addMutableState(
      taskClass,
      "windowTask",
      v => s"$v = new $taskClass($program, $metrics);",
      true
    )
    resultTerm =
      ctx.addMutableState("InternalRow", "windowResult", v => s"$v = $taskTerm.result();", true)
    s"""
       |${child.asInstanceOf[CodegenSupport].produce(ctx, this)}
       |$taskTerm.finish(); // behind the loop over all rows, which returns when rows go out
     """.stripMargin
  }

  override def doConsume(ctx: CodegenContext, input: Seq[ExprCode], row: ExprCode): String = {
    val results = calls.zipWithIndex.map { case (c, i) =>
      val dataType = c.expression.dataType
      val value = CodeGenerator.getValue(resultTerm, dataType, i.toString)
      val isNull =
        if (c.expression.nullable) JavaCode.isNullExpression(s"$resultTerm.isNullAt($i)")
        else FalseLiteral
      ExprCode(isNull, JavaCode.expression(s"($value)", dataType))
    }
    // the row's code has evaluated the columns, so they must not be evaluated once more
    if (row.code.nonEmpty) input.foreach(_.code = EmptyBlock)
    val read = evaluateRequiredVariables(child.output, input, condition.references)
    ctx.currentVars = input
    val keeps = BindReferences.bindReference(condition, child.output).genCode(ctx)
    val isAsked = ctx.freshName("isAsked")
    ctx.currentVars = input ++ results
    val appended = BindReferences
      .bindReferences(outputExpressions, child.output)
      .map(_.genCode(ctx))
    s"""
       |${row.code}
       |$read
       |${keeps.code}
       |boolean $isAsked = !${keeps.isNull} && ${keeps.value};
       |$taskTerm.slide(${row.value}, $isAsked);
       |if ($isAsked) {
       |  ${consume(ctx, input ++ appended)}
       |}
     """.stripMargin
  }

  override def simpleString(maxFields: Int): String =
    s"$nodeName [${texts.mkString("; ")}], " +
      s"[${partitionSpec.map(_.sql).mkString(", ")}], [${orderSpec.map(_.sql).mkString(", ")}]" +
      askedRows.map(rows => s", for $rows").mkString +
      getTagValue(KeptSort.Tag).fold("")(kept => s", ordering: Spark's sort: ${kept.reason}")

  override def verboseStringWithOperatorId(): String =
    s"""$formattedNodeName
       |Input: ${child.output.mkString("[", ", ", "]")}
       |Windows: ${texts.mkString("[", "; ", "]")}
       |Partition by: ${partitionSpec.map(_.sql).mkString("[", ", ", "]")}
       |Order by: ${orderSpec.map(_.sql).mkString("[", ", ", "]")}
       |Rows that get results: ${if (conditions.isEmpty) "all" else askedRows.mkString(", ")}
       |""".stripMargin
}
