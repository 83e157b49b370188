package io.sash.spark.streams.read

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{ArrayType, StructField, StructType}

import io.sash.spark.streams.ask.ReadState
import io.sash.spark.streams.plan.StatefulPlan
import io.sash.spark.streams.program.StreamProgram

/** The keys of a program: their columns in a row, and the place of their state. */
private[read] final class KeysOfState(program: StreamProgram) extends Serializable {

  /** The ordinals of the columns that PARTITION BY names. */
  private[this] val columns: Array[Int] =
    program.keys
      .flatMap(_.references)
      .map(a => program.input.indexWhere(_.exprId == a.exprId))
      .toArray

  private[this] val types = columns.map(program.input(_).dataType)

  /** Whether the values of a key can be read from its bytes in the state. */
  def areReadable: Boolean =
    program.keys.forall(k => k.references.forall(_.dataType == k.dataType))

  /** The values of each key in an array. */
  def valuesOf(keys: Expression): Seq[InternalRow] = {
    val ofOne =
      if (types.length == 1) types.head
      else StructType(types.indices.map(i => StructField(s"_${i + 1}", types(i))))
    val cast = Cast(keys, ArrayType(ofOne), Some(SQLConf.get.sessionLocalTimeZone), EvalMode.ANSI)
    if (types.isEmpty)
      throw ReadState.refuse("keys", "the windows have no PARTITION BY; leave it out")
    if (cast.checkInputDataTypes().isFailure)
      throw ReadState.refuse(
        "keys",
        s"it is an ARRAY of ${ofOne.sql}, as in PARTITION BY, where it is ${keys.dataType.sql}"
      )
    val array = cast.eval().asInstanceOf[ArrayData]
    (0 until array.numElements()).map { i =>
      if (types.length > 1) array.getStruct(i, types.length)
      else InternalRow(if (array.isNullAt(i)) null else array.get(i, ofOne))
    }
  }

  /** A row of the key with these values, in which all else is NULL. */
  def moment(values: InternalRow): GenericInternalRow = {
    val row = new GenericInternalRow(program.input.length)
    columns.indices.foreach { i =>
      row.update(columns(i), if (values.isNullAt(i)) null else values.get(i, types(i)))
    }
    row
  }

  /** The values of a key in the state; only if they `areReadable`. */
  def valuesIn(key: UnsafeRow): InternalRow = {
    val named = program.keys.indices.filter(program.keys(_).references.nonEmpty)
    InternalRow.fromSeq(named.zipWithIndex.map { case (k, i) =>
      if (key.isNullAt(k)) null else key.get(k, types(i))
    })
  }

  def keyOf: UnsafeProjection = UnsafeProjection.create(program.keys, program.input)

  /** The bucket of each key. */
  def byBucket(keys: Seq[InternalRow], buckets: Int): Map[Int, Seq[InternalRow]] = {
    val time = program.input(program.time)
    val bucket = UnsafeProjection.create(
      Seq(StatefulPlan.bucketOf(program.keys, time, buckets)),
      program.input
    )
    keys.groupBy(k => bucket(moment(k)).getInt(0))
  }

  /** All buckets that rows may be in. */
  def allBuckets(buckets: Int): Seq[Int] = if (program.keys.isEmpty) Seq(0) else 0 until buckets
}

private[read] object KeysOfState {

  /** The partition of a bucket's state. */
  def partitionOf(bucket: Int, partitions: Int): Int =
    HashPartitioning(Seq(Literal(bucket)), partitions).partitionIdExpression
      .eval()
      .asInstanceOf[Int]
}
