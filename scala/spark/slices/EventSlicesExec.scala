package io.sash.spark.slices

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.physical._
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.execution.{BinaryExecNode, CodegenSupport, SparkPlan}
import org.apache.spark.sql.types.LongType
import org.apache.spark.sql.execution.metric.SQLMetric

import io.sash.spark.base.MetricTable
import io.sash.spark.slots.SlotProgram

/** Combines events by slices, with the parameters of [[EventSlices]]. */
private[spark] final case class EventSlicesExec(
    keys: Seq[Attribute],
    time: Attribute,
    partials: Seq[SlicePartial],
    places: Seq[Attribute],
    ranges: Seq[Attribute],
    limit: Long,
    left: SparkPlan,
    right: SparkPlan
) extends BinaryExecNode
    with OverSlices[SparkPlan]
    with CodegenSupport {

  override def requiredChildDistribution: Seq[Distribution] =
    Seq(UnspecifiedDistribution, BroadcastDistribution(SliceMode(keys.map(_.dataType), limit)))

  override def outputPartitioning: Partitioning =
    if (combines) UnknownPartitioning(left.outputPartitioning.numPartitions)
    else left.outputPartitioning

  @transient private lazy val counted = SliceMetrics.create(sparkContext)

  override lazy val metrics: Map[String, SQLMetric] = counted.byName

  /** The text for EXPLAIN. */
  def text: String =
    if (combines) "events are combined by slices of the labels before the exchange"
    else "events of no label are not exchanged"

  /** The partials in slots. */
  private def program: SlotProgram = {
    val firsts = partials.scanLeft(0)(_ + _.cells.length)
    val parts = partials.zip(firsts).map { case (p, first) =>
      SlotProgram.Part(first, p.monoid.identity, p.lift, p.monoid.combine)
    }
    SlotProgram(
      left.output,
      partials.flatMap(_.monoid.left),
      partials.flatMap(_.monoid.right),
      parts
    )
  }

  private def isNumber: Boolean = SliceIndexBuilder.isNumber(keys.map(_.dataType))

  /** @param keeps see [[SliceSlots]] */
  private def factory(keeps: Boolean): SliceSlots.Factory = new SliceSlots.Factory(
    right.executeBroadcast[Array[InternalRow]](),
    keys.length,
    if (combines) program.bytesPerSlot else 0,
    keeps,
    counted
  )

  override protected def doExecute(): RDD[InternalRow] = {
    val (events, keyColumns, metrics) = (left.output, keys, counted)
    val timeAt = events.indexWhere(_.exprId == time.exprId)
    val numberAt = if (isNumber) events.indexWhere(_.exprId == keys.head.exprId) else -1
    val slots = Option.when(combines)(program)
    val made = factory(keeps = false)
    left.execute().mapPartitions { rows =>
      val place =
        if (numberAt >= 0) new NumberedPlace(numberAt, timeAt)
        else new KeyedPlace(UnsafeProjection.create(keyColumns, events), timeAt)
      slots.fold[Iterator[InternalRow]](new HeldEvents(rows, made.searched, place, metrics)) {
        new SliceIterator(rows, made.create(), place, _, keyColumns.map(_.dataType))
      }
    }
  }

  override def supportCodegen: Boolean = combines

  override def inputRDDs(): Seq[RDD[InternalRow]] =
    left.asInstanceOf[CodegenSupport].inputRDDs()

  // doConsume evaluates columns where it needs them
  override def usedInputs: AttributeSet = AttributeSet.empty

  override def needCopyResult: Boolean = left.asInstanceOf[CodegenSupport].needCopyResult

  private[this] var slotsTerm: String = _
  private[this] var slotsCode: SlicesCodegen = _
  private[this] var emit: String = _

  private def keyCode: KeySource =
    if (isNumber) KeyNumberSource else new KeyRowSource(keys.map(_.dataType))

  override protected def doProduce(ctx: CodegenContext): String = {
    val made = ctx.addReferenceObj("factory", factory(keeps = true))
    slotsTerm = ctx.addMutableState(
      classOf[SliceSlots].getName,
      "slots",
      v => s"$v = $made.create();",
      forceInline = true
    )
    slotsCode = new SlicesCodegen(partials, left.output, ctx, slotsTerm)
    emit = emitFunction(ctx)
    val isAtEnd = ctx.addMutableState(CodeGenerator.JAVA_BOOLEAN, "isAtEnd")
    val readName = ctx.freshName("readEvents")
    val read = ctx.addNewFunction(
      readName,
      s"""
         |private void $readName() throws java.io.IOException {
         |  ${left.asInstanceOf[CodegenSupport].produce(ctx, this)}
         |}""".stripMargin
    )
    val slot = ctx.freshName("slot")
    s"""
       |if (!$isAtEnd) {
       |  $read();
       |  if (shouldStop()) return;
       |  $isAtEnd = true;
       |}
       |int $slot;
       |while (($slot = $slotsTerm.next()) > 0) {
       |  $emit($slot, $slotsTerm.timeOf($slot), ${keyCode.ofSlot(slotsTerm, slot)});
       |  if (shouldStop()) return;
       |}
       |$slotsTerm.close();
       |""".stripMargin
  }

  /** A function that gives the partial of a slot to the operator above. */
  private def emitFunction(ctx: CodegenContext): String = {
    val (loads, cells) = slotsCode.saved("slot")
    val (keyLoads, key) = keyCode.columns(ctx)
    val at = ExprCode(EmptyBlock, FalseLiteral, JavaCode.variable("time", LongType))
    val name = ctx.freshName("emitPartial")
    ctx.addNewFunction(
      name,
      s"""
         |private void $name(int slot, long time, ${keyCode.parameters})
         |    throws java.io.IOException {
         |  $loads
         |  $keyLoads
         |  ${consume(ctx, (cells :+ at) ++ key)}
         |}""".stripMargin
    )
  }

  override def doConsume(ctx: CodegenContext, input: Seq[ExprCode], row: ExprCode): String = {
    val events = left.output
    val place = evaluateRequiredVariables(events, input, AttributeSet(keys :+ time))
    val at = input(events.indexWhere(_.exprId == time.exprId))
    val slot = ctx.freshName("slot")
    val (keyEval, ofKey, found) = if (isNumber) {
      val key = input(events.indexWhere(_.exprId == keys.head.exprId))
      val number = s"$slotsTerm.slotOf(${key.value}, ${at.value})"
      val ofNumber =
        if (key.isNull == FalseLiteral) number
        else s"${key.isNull} ? $slotsTerm.slotOfNull(${at.value}) : $number"
      ("", s"${key.value}, ${key.isNull}", ofNumber)
    } else {
      ctx.INPUT_ROW = null
      ctx.currentVars = input
      val bound = keys.map(BindReferences.bindReference[Expression](_, events))
      val key = GenerateUnsafeProjection.createCode(ctx, bound)
      (key.code.toString, key.value.toString, s"$slotsTerm.slotOf(${key.value}, ${at.value})")
    }
    val placed =
      if (at.isNull == FalseLiteral) found else s"${at.isNull} ? $slotsTerm.drop() : ($found)"
    val read = AttributeSet.fromAttributeSets(partials.map(_.references))
    s"""
       |$place
       |$keyEval
       |int $slot = $placed;
       |if ($slot >= 0) {
       |  if ($slotsTerm.begins()) ${slotsCode.begin}($slot);
       |  ${evaluateRequiredVariables(events, input, read)}
       |  ${slotsCode.combine(slot, input)}
       |  if ($slot == 0) $emit(0, ${at.value}, $ofKey);
       |}
       |""".stripMargin
  }

  override protected def withNewChildrenInternal(
      newLeft: SparkPlan,
      newRight: SparkPlan
  ): EventSlicesExec = copy(left = newLeft, right = newRight)
}

/** The metrics of [[EventSlicesExec]]. */
private[slices] object SliceMetrics extends MetricTable {
  val OutputRows: Int = sum("numOutputRows", "number of output rows")
  val Events: Int = sum("events", "events")
  val Dropped: Int = sum("dropped", "events of no label")
  val Slices: Int = sum("slices", "slices with events")
  val Single: Int = sum("single", "events that are not combined")
  val PeakMemory: Int = bytes("peakMemory", "peak memory")
}
