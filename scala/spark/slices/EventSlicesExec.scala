package io.sash.spark.slices

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.physical._
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.execution.{BinaryExecNode, CodegenSupport, SparkPlan, SQLExecution}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.types.LongType

import io.sash.spark.base.{MetricTable, SashConf}
import io.sash.spark.slots.SlotProgram

/** Combines events by slices, or only drops events in no range. Parameters: `OverSlices`. */
private[spark] final case class EventSlicesExec(
    keys: Seq[Attribute],
    time: Attribute,
    partials: Seq[SlicePartial],
    places: Seq[Attribute],
    ranges: Seq[Attribute],
    limit: Long,
    leastEvents: Double,
    eventsInTask: Long,
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

  /** The text for EXPLAIN, with counts once the query has run. */
  def text: String = {
    def count(metric: String) = metrics(metric).value
    def of(metric: String) = SliceChoice.of(count(metric))
    val (labels, events) = (count("labels"), count("events"))
    val alone = count("single")
    if (count("tooLarge") > 0)
      "events are exchanged one by one: the index has more bytes than " +
        s"${SashConf.LateralSliceLimit.key} after ${of("labels")} labels"
    else if (labels > 0 && count("labelSlices") == 0 && events > 0 && alone == events)
      "events are exchanged one by one: an end of a label's range overflows"
    else if (!combines)
      "events of no label are not exchanged" +
        (if (events > 0) s": ${of("dropped")} of ${of("events")}" else "")
    else {
      val ofSlices =
        if (labels == 0) "slices of the labels"
        else s"${of("labelSlices")} slices of ${of("labels")} labels"
      s"events are combined by $ofSlices before the exchange" +
        (if (alone > 0) s"; ${of("single")} of ${of("events")} events pass alone" else "")
    }
  }

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

  private def layout: SlotLayout = new SlotLayout(partials.flatMap(_.monoid.left))

  private def isNumber: Boolean = SliceIndexBuilder.isNumber(keys.map(_.dataType))

  /** @param slotBytes the bytes of a slot; evaluated only if events are combined */
  private def factory(slotBytes: => Int): SliceSlots.Factory = {
    val bytes = right.executeBroadcast[Array[InternalRow]]()
    count(SliceIndex(bytes.value))
    val combining =
      Option.when(combines)(SliceSlots.Combining(slotBytes, leastEvents, eventsInTask))
    new SliceSlots.Factory(bytes, keys.length, combining, counted)
  }

  /** Reports the size of the index to Spark's UI and EXPLAIN. */
  private def count(index: SliceIndex): Unit = {
    val counts = Seq(
      "labels" -> index.labels,
      "labelSlices" -> index.slices,
      "tooLarge" -> (if (index.isTooLarge) 1 else 0)
    )
    counts.foreach { case (name, n) => metrics(name).set(n) }
    SQLMetrics.postDriverMetricUpdates(
      sparkContext,
      sparkContext.getLocalProperty(SQLExecution.EXECUTION_ID_KEY),
      counts.map { case (name, _) => metrics(name) }
    )
  }

  override protected def doExecute(): RDD[InternalRow] = {
    val (events, keyColumns) = (left.output, keys)
    val timeAt = events.indexWhere(_.exprId == time.exprId)
    val numberAt = if (isNumber) events.indexWhere(_.exprId == keys.head.exprId) else -1
    val slots = Option.when(combines)(program)
    val made = factory(program.bytesPerSlot)
    left.execute().mapPartitions { rows =>
      val place =
        if (numberAt >= 0) new NumberedPlace(numberAt, timeAt)
        else new KeyedPlace(UnsafeProjection.create(keyColumns, events), timeAt)
      val placed = made.create()
      slots.fold(rows.filter(place.slotIn(placed, _) == 0)) {
        new SliceIterator(rows, placed, place, _, keyColumns.map(_.dataType))
      }
    }
  }

  override def inputRDDs(): Seq[RDD[InternalRow]] =
    left.asInstanceOf[CodegenSupport].inputRDDs()

  // doConsume evaluates columns where it needs them
  override def usedInputs: AttributeSet = AttributeSet.empty

  /** Java limits a method's parameters. Beyond the limit, `SliceIterator` combines events. */
  override def supportCodegen: Boolean =
    partials.forall(SlicesCodegen.hasShortParameters(_, left.output))

  override def needCopyResult: Boolean = left.asInstanceOf[CodegenSupport].needCopyResult

  @transient private[this] var slotsTerm: String = _
  @transient private[this] var slotsCode: SlicesCodegen = _
  @transient private[this] var emit: String = _

  private def keyCode: KeySource =
    if (isNumber) KeyNumberSource else new KeyRowSource(keys.map(_.dataType))

  override protected def doProduce(ctx: CodegenContext): String = {
    val made = ctx.addReferenceObj("factory", factory(layout.bytes))
    slotsTerm = ctx.addMutableState(
      classOf[SliceSlots].getName,
      "slots",
      v => s"$v = $made.create();",
      forceInline = true
    )
    if (combines) produceCombined(ctx) else left.asInstanceOf[CodegenSupport].produce(ctx, this)
  }

  private def produceCombined(ctx: CodegenContext): String = {
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
       |  ${emitted(slot)}
       |  if (shouldStop()) return;
       |}
       |$slotsTerm.close();
       |""".stripMargin
  }

  /** A call of `emit` for a slot that is not 0. */
  private def emitted(slot: String): String =
    s"$emit($slot, $slotsTerm.timeOf($slot), ${keyCode.ofSlot(slotsTerm, slot)});"

  /** Declares a function that passes the partial of a slot to the operator above. */
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
    val taken =
      if (combines) consumeCombined(input, slot, s"${at.value}, $ofKey")
      else consume(ctx, input)
    s"""
       |$place
       |$keyEval
       |int $slot = $placed;
       |if ($slot >= 0) {
       |  $taken
       |}
       |""".stripMargin
  }

  /** Code that combines an event with its slot. */
  private def consumeCombined(input: Seq[ExprCode], slot: String, place: String): String = {
    val read = AttributeSet.fromAttributeSets(partials.map(_.references))
    val early =
      if (!layout.varies) ""
      else
        s"""
           |else if ($slotsTerm.isOver()) {
           |  $slotsTerm.leaveEarly();
           |  ${emitted(slot)}
           |  ${slotsCode.begin}($slot);
           |}""".stripMargin
    s"""
       |if ($slotsTerm.begins()) ${slotsCode.begin}($slot);
       |${evaluateRequiredVariables(left.output, input, read)}
       |${slotsCode.combine(slot, input)}
       |if ($slot == 0) $emit(0, $place);
       |$early
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
  val Labels: Int = sum("labels", "labels in the index")
  val LabelSlices: Int = sum("labelSlices", "slices of labels")
  val TooLarge: Int = sum("tooLarge", "indexes over their limit")
  val PeakMemory: Int = bytes("peakMemory", "peak memory")
}
