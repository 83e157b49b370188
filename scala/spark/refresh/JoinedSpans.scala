package io.sash.spark.refresh

import java.nio.ByteBuffer
import java.util.Arrays

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, UnsafeArrayData}
import org.apache.spark.sql.catalyst.expressions.aggregate.TypedImperativeAggregate
import org.apache.spark.sql.catalyst.trees.BinaryLike
import org.apache.spark.sql.types.{ArrayType, DataType, LongType}

/**
 * An aggregate that joins spans of time where they meet. The answer is an array with the first
 * and the last time of each span, in order.
 *
 * Cost: amortised O(log n) comparisons a row for n joined spans, and up to 64 bytes for each of
 * them.
 */
private[refresh] final case class JoinedSpans(
    first: Expression,
    last: Expression,
    override val mutableAggBufferOffset: Int = 0,
    override val inputAggBufferOffset: Int = 0
) extends TypedImperativeAggregate[SpanList]
    with BinaryLike[Expression] {
  override def left: Expression = first

  override def right: Expression = last

  override def nullable: Boolean = false

  override def dataType: DataType = ArrayType(LongType, containsNull = false)

  override def createAggregationBuffer(): SpanList = new SpanList

  override def update(spans: SpanList, row: InternalRow): SpanList = {
    spans.add(first.eval(row).asInstanceOf[Long], last.eval(row).asInstanceOf[Long])
    spans
  }

  override def merge(spans: SpanList, others: SpanList): SpanList = {
    val ends = others.ends
    ends.indices.by(2).foreach(i => spans.add(ends(i), ends(i + 1)))
    spans
  }

  override def eval(spans: SpanList): Any = UnsafeArrayData.fromPrimitiveArray(spans.ends)

  override def serialize(spans: SpanList): Array[Byte] = {
    val ends = spans.ends
    val bytes = ByteBuffer.allocate(ends.length * java.lang.Long.BYTES)
    bytes.asLongBuffer.put(ends)
    bytes.array
  }

  override def deserialize(bytes: Array[Byte]): SpanList = {
    val ends = ByteBuffer.wrap(bytes).asLongBuffer
    val spans = new SpanList
    while (ends.hasRemaining) spans.add(ends.get(), ends.get())
    spans
  }

  override def withNewMutableAggBufferOffset(offset: Int): JoinedSpans =
    copy(mutableAggBufferOffset = offset)

  override def withNewInputAggBufferOffset(offset: Int): JoinedSpans =
    copy(inputAggBufferOffset = offset)

  override protected def withNewChildrenInternal(
      left: Expression,
      right: Expression
  ): JoinedSpans =
    copy(first = left, last = right)
}

/** Spans of time, which are joined whenever there is no room for a further one. */
private[refresh] final class SpanList {
  private[this] var firsts = new Array[Long](2)
  private[this] var lasts = new Array[Long](2)
  private[this] var size = 0

  def add(first: Long, last: Long): Unit = {
    if (size == firsts.length) {
      join()
      if (size > firsts.length / 2) {
        firsts = Arrays.copyOf(firsts, 2 * firsts.length)
        lasts = Arrays.copyOf(lasts, firsts.length)
      }
    }
    firsts(size) = first
    lasts(size) = last
    size += 1
  }

  /** The first and the last time of each joined span, in order. */
  def ends: Array[Long] = {
    join()
    Array.tabulate(2 * size)(i => if (i % 2 == 0) firsts(i / 2) else lasts(i / 2))
  }

  /**
   * Sorts the first times and the last times, each by themselves. Where the next first time is
   * greater than a last time, all spans before have ended.
   */
  private def join(): Unit = {
    Arrays.sort(firsts, 0, size)
    Arrays.sort(lasts, 0, size)
    var joined = 0
    var begin = 0
    var i = 0
    while (i < size) {
      if (i == size - 1 || firsts(i + 1) > lasts(i)) {
        firsts(joined) = firsts(begin)
        lasts(joined) = lasts(i)
        joined += 1
        begin = i + 1
      }
      i += 1
    }
    size = joined
  }
}
