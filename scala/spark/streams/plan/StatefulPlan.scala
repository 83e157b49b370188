package io.sash.spark.streams.plan

import org.apache.spark.sql.catalyst.encoders.{AgnosticEncoders, ExpressionEncoder}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.codegen.{FalseLiteral, JavaCode, TrueLiteral}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.streaming.{OutputMode, StatefulProcessor, TimeMode}
import org.apache.spark.sql.types._

import io.sash.spark.streams.task.{BucketProcessor, StreamProcessor}

/**
 * Spark's transformWithState over buckets of keys.
 *
 * A group of it is a bucket, of which there are a fixed number, each with many keys: what a group
 * costs (calls, a timer, a directory of what is pending) is paid once a bucket. Rows reach the
 * processor as they are, and leave it as one column, of which the Project above makes the columns
 * that the query knows, with their ids and metadata.
 */
private[spark] object StatefulPlan {

  /**
   * @param keys of which the hash says the bucket; without any, all rows are in one
   * @param time a column that has a hash, as not all have
   * @param buckets how many there are, a power of two
   * @param output what the plan gives
   * @param processor over the columns that its rows have
   */
  def apply(
      child: LogicalPlan,
      keys: Seq[Expression],
      time: Attribute,
      buckets: Int,
      output: Seq[Attribute]
  )(
      processor: Seq[Attribute] => BucketProcessor
  ): LogicalPlan = {
    val bucket = Alias(bucketOf(keys, time, buckets), "bucket")()
    val rows = Project(child.output :+ bucket, child)
    val fields = output.map(a => StructField(a.name, a.dataType, a.nullable))
    val stateful = over(rows, fields, processor(rows.output))
    val answers = Project(
      output.zipWithIndex.map { case (a, i) =>
        Alias(GetStructField(stateful.outputObjAttr, i, Some(a.name)), a.name)(
          exprId = a.exprId,
          qualifier = a.qualifier,
          explicitMetadata = Some(a.metadata)
        )
      },
      stateful
    )
    // no column such as _metadata, which is below, can be asked for above
    answers.setTagValue(Project.hiddenOutputTag, Nil)
    answers
  }

  /**
   * @param rows whose last column is the bucket
   * @param fields of the one column that the operator gives
   */
  def over(
      rows: LogicalPlan,
      fields: Seq[StructField],
      processor: BucketProcessor
  ): TransformWithState = {
    val bucket = rows.output.last
    new TransformWithState(
      keyDeserializer = bucket,
      valueDeserializer = InputRow(),
      groupingAttributes = Seq(bucket),
      dataAttributes = rows.output,
      statefulProcessor = untyped(processor),
      timeMode = TimeMode.EventTime(),
      outputMode = OutputMode.Append(),
      keyEncoder = keyEncoder,
      outputObjAttr = AttributeReference("answers", StructType(fields), nullable = false)(),
      child = rows,
      hasInitialState = false,
      initialStateGroupingAttrs = Seq(bucket),
      initialStateDataAttrs = rows.output,
      initialStateDeserializer = bucket,
      initialState = LocalRelation(
        keyEncoder.schema.fields.toIndexedSeq.map(f =>
          AttributeReference(f.name, f.dataType, f.nullable)()
        )
      )
    )
  }

  def withProcessor(
      stateful: TransformWithState,
      processor: BucketProcessor
  ): TransformWithState = stateful.copy(statefulProcessor = untyped(processor))

  /**
   * A query whose watermarks have numbers, so that each of its operators has some of its own. Of one
   * that has them it is the same: the analyzer applies it until nothing changes.
   */
  def numbered(query: LogicalPlan): LogicalPlan = {
    val numbers = Iterator.from(0)
    query
      .transformUp { case Filter(_: OwnWatermark, watermark) => watermark }
      .transformUp {
        case w: EventTimeWatermark if w.isStreaming =>
          Filter(OwnWatermark(w.eventTime, numbers.next()), w)
      }
  }

  private def untyped(processor: BucketProcessor): StatefulProcessor[Any, Any, Any] =
    processor.asInstanceOf[StatefulProcessor[Any, Any, Any]]

  /** Never a constant, which the optimizer would put in the place of a grouping column. */
  private def bucketOf(keys: Seq[Expression], time: Attribute, buckets: Int): Expression =
    if (keys.isEmpty) BitwiseAnd(new Murmur3Hash(Seq(time)), Literal(0))
    else BitwiseAnd(new Murmur3Hash(keys), Literal(buckets - 1))

  private def keyEncoder: ExpressionEncoder[Any] =
    ExpressionEncoder(AgnosticEncoders.PrimitiveIntEncoder).asInstanceOf[ExpressionEncoder[Any]]
}

/**
 * True of the rows above one watermark, so that no two exchanges above two of them are alike. Of one
 * that two operators share, Spark would not see the watermark below the second, and take it for
 * 1970 in the next batch.
 *
 * It reads the time, and so is not pushed below the watermark, where a source without rows would take
 * it away.
 *
 * @param number of the watermark in the query, known when that starts
 */
private[spark] final case class OwnWatermark(child: Expression, number: Int)
    extends UnaryExpression
    with Predicate {

  override def nullable: Boolean = false

  override def foldable: Boolean = false

  override def eval(input: InternalRow): Any = true

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
    ExprCode(FalseLiteral, TrueLiteral)

  override def toString: String = s"$child of watermark $number"

  override protected def withNewChildInternal(newChild: Expression): OwnWatermark =
    copy(child = newChild)
}

/** The row that an expression is evaluated over, as it is. */
private[spark] final case class InputRow() extends LeafExpression {
  override def nullable: Boolean = false

  override def dataType: DataType = ObjectType(classOf[InternalRow])

  override def eval(input: InternalRow): Any = input

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
    ExprCode(FalseLiteral, JavaCode.variable(ctx.INPUT_ROW, dataType))
}

/** A transformWithState of ours. */
private[spark] object OfBuckets {
  def unapply(plan: LogicalPlan): Option[(TransformWithState, BucketProcessor)] = plan match {
    case t: TransformWithState =>
      (t.statefulProcessor: StatefulProcessor[_, _, _]) match {
        case p: BucketProcessor => Some((t, p))
        case _                  => None
      }
    case _ => None
  }
}

/** That of windows of rows (OVER). */
private[spark] object OfStream {
  def unapply(plan: LogicalPlan): Option[(TransformWithState, StreamProcessor)] = plan match {
    case OfBuckets(t, p: StreamProcessor) => Some((t, p))
    case _                                => None
  }
}
