package io.sash.spark.streams.read

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{ArrayType, StructField, StructType}

import io.sash.spark.streams.ask.ReadState
import io.sash.spark.streams.plan.StatefulPlan

/**
 * The keys of windows: their columns in a row, and the place of their state.
 *
 * @param input the columns of a row
 * @param time the ordinal of the column that is hashed if there are no keys
 * @param clause the clause that names the keys
 */
private[read] final class KeysOfState(
    input: Seq[Attribute],
    keys: Seq[Expression],
    time: Int,
    clause: String
) extends Serializable {

  /** The ordinals of the columns that the clause names. */
  private[this] val columns: Array[Int] =
    keys.flatMap(_.references).map(a => input.indexWhere(_.exprId == a.exprId)).toArray

  private[this] val types = columns.map(input(_).dataType)

  /** Whether the values of a key can be read from its bytes in the state. */
  def areReadable: Boolean =
    keys.forall(k => k.references.forall(_.dataType == k.dataType))

  def refuseUnreadable(): Nothing = throw ReadState.refuse(
    "keys",
    s"$clause has a collation, and the state has no text of such keys; name the keys"
  )

  /** The values of each key in an array. */
  def valuesOf(asked: Expression): Seq[InternalRow] = {
    val ofOne =
      if (types.length == 1) types.head
      else StructType(types.indices.map(i => StructField(s"_${i + 1}", types(i))))
    val cast =
      Cast(asked, ArrayType(ofOne), Some(SQLConf.get.sessionLocalTimeZone), EvalMode.ANSI)
    if (types.isEmpty)
      throw ReadState.refuse("keys", s"the windows have no $clause; leave it out")
    if (cast.checkInputDataTypes().isFailure)
      throw ReadState.refuse(
        "keys",
        s"it is an ARRAY of ${ofOne.sql}, as in $clause, where it is ${asked.dataType.sql}"
      )
    val array = cast.eval().asInstanceOf[ArrayData]
    (0 until array.numElements()).map { i =>
      if (types.length > 1) array.getStruct(i, types.length)
      else InternalRow(if (array.isNullAt(i)) null else array.get(i, ofOne))
    }
  }

  /** A row of the key with these values, in which all else is NULL. */
  def moment(values: InternalRow): GenericInternalRow = {
    val row = new GenericInternalRow(input.length)
    columns.indices.foreach { i =>
      row.update(columns(i), if (values.isNullAt(i)) null else values.get(i, types(i)))
    }
    row
  }

  /** The values of a key in the state; only if they `areReadable`. */
  def valuesIn(key: UnsafeRow): InternalRow = {
    val named = keys.indices.filter(keys(_).references.nonEmpty)
    InternalRow.fromSeq(named.zipWithIndex.map { case (k, i) =>
      if (key.isNullAt(k)) null else key.get(k, types(i))
    })
  }

  def keyOf: UnsafeProjection = UnsafeProjection.create(keys, input)

  /** A key from its bytes in the state. */
  def read(bytes: Array[Byte]): UnsafeRow = {
    val key = new UnsafeRow(keys.length)
    key.pointTo(bytes, bytes.length)
    key
  }

  /** The bucket of each key. It is interpreted, since most reads name few keys. */
  def byBucket(asked: Seq[InternalRow], buckets: Int): Map[Int, Seq[InternalRow]] = {
    val bucket =
      BindReferences.bindReference(StatefulPlan.bucketOf(keys, input(time), buckets), input)
    asked.groupBy(k => bucket.eval(moment(k)).asInstanceOf[Int])
  }

  /** All buckets that rows may be in. */
  def allBuckets(buckets: Int): Seq[Int] = if (keys.nonEmpty) 0 until buckets else Seq(0)
}

private[read] object KeysOfState {

  /** The partition of a bucket's state. */
  def partitionOf(bucket: Int, partitions: Int): Int =
    HashPartitioning(Seq(Literal(bucket)), partitions).partitionIdExpression
      .eval()
      .asInstanceOf[Int]
}
