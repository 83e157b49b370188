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
 * Plans Spark's transformWithState over buckets of keys.
 *
 * Each group of the operator is a bucket. Their number is fixed, and each has many keys. So the
 * cost of a group (calls, a timer, a directory of pending rows) is paid once a bucket, not once a
 * key. Rows reach the processor unchanged and leave it as one column. The Project above makes the
 * query's columns of it, with their ids and metadata.
 */
private[spark] object StatefulPlan {

  /**
   * @param keys their hash is the bucket; without keys, all rows are in one bucket
   * @param time a column that Spark can hash; it is hashed if there are no keys
   * @param buckets the number of buckets, a power of two
   * @param output the columns of the plan
   * @param processor a function of the columns of the processor's rows
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
    // nothing above can read a hidden column below, such as _metadata
    answers.setTagValue(Project.hiddenOutputTag, Nil)
    answers
  }

  /**
   * @param rows their last column is the bucket
   * @param fields the fields of the operator's only output column
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
   * The query with a number on each watermark ([[OwnWatermark]]), so that each stateful operator
   * has watermarks of its own. A numbered query stays the same, since the analyzer applies this
   * until nothing changes.
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

  /**
   * The bucket of a row. Without keys it reads the time, since the optimizer would replace a
   * grouping column by a constant.
   */
  private def bucketOf(keys: Seq[Expression], time: Attribute, buckets: Int): Expression =
    if (keys.isEmpty) BitwiseAnd(new Murmur3Hash(Seq(time)), Literal(0))
    else BitwiseAnd(new Murmur3Hash(keys), Literal(buckets - 1))

  private def keyEncoder: ExpressionEncoder[Any] =
    ExpressionEncoder(AgnosticEncoders.PrimitiveIntEncoder).asInstanceOf[ExpressionEncoder[Any]]
}

/**
 * A predicate that is always true and differs for each watermark. It stops Spark from reusing one
 * exchange for two stateful operators. With a shared exchange, Spark would not see the watermark
 * below the second operator, and take it for 1970 in the next batch.
 *
 * The predicate reads the time, so that Spark does not push it below the watermark. There, a
 * source without rows would remove it.
 *
 * @param number the watermark's number in the query, set when the query starts
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

/** The input row of an expression, unchanged. */
private[spark] final case class InputRow() extends LeafExpression {
  override def nullable: Boolean = false

  override def dataType: DataType = ObjectType(classOf[InternalRow])

  override def eval(input: InternalRow): Any = input

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
    ExprCode(FalseLiteral, JavaCode.variable(ctx.INPUT_ROW, dataType))
}

/** Matches a transformWithState with a processor of Sash. */
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

/** Matches a transformWithState for windows of rows (OVER). */
private[spark] object OfStream {
  def unapply(plan: LogicalPlan): Option[(TransformWithState, StreamProcessor)] = plan match {
    case OfBuckets(t, p: StreamProcessor) => Some((t, p))
    case _                                => None
  }
}
