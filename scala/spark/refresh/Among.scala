package io.sash.spark.refresh

import java.io.{ByteArrayInputStream, ByteArrayOutputStream}

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.classic.DataFrame
import org.apache.spark.sql.functions.{col, xxhash64}
import org.apache.spark.util.sketch.BloomFilter

import io.sash.spark.windows.Ties

/**
 * Looks up a row's hash in a Bloom filter over the hashes of other rows. It is true for each of
 * these rows, and for at most 1% of all others. As a condition on the table of a MERGE, it drops
 * rows before they are shuffled for the join.
 *
 * @param child the row's hash, a BIGINT
 * @param hashes the Bloom filter, serialized
 */
private[refresh] final case class Among(child: Expression, hashes: Broadcast[Array[Byte]])
    extends UnaryExpression
    with Predicate {

  @transient private lazy val filter =
    BloomFilter.readFrom(new ByteArrayInputStream(hashes.value))

  /** Generated code calls this. */
  def mayContain(hash: Long): Boolean = filter.mightContainLong(hash)

  // a table's log may keep the text of a MERGE
  override def prettyName: String = "sash_among"

  override protected def nullSafeEval(hash: Any): Any = mayContain(hash.asInstanceOf[Long])

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val among = ctx.addReferenceObj("among", this)
    defineCodeGen(ctx, ev, hash => s"$among.mayContain($hash)")
  }

  override protected def withNewChildInternal(newChild: Expression): Among =
    copy(child = newChild)
}

private[refresh] object Among {

  /** The Bloom filter's rate of false positives. */
  private val Wrong = 0.01

  /**
   * The look-up of a table row's id among the ids of `rows`, as a function of the id's columns.
   * None if equal ids may have different hashes. Cost: one job over `rows`.
   *
   * @param ids the columns of the id, in `rows` and in the table
   * @param count the number of `rows`
   */
  def one(
      table: DataFrame,
      rows: DataFrame,
      ids: Seq[String],
      count: Long
  ): Option[Seq[Expression] => Expression] = {
    def types(of: DataFrame) = of.select(ids.map(col): _*).schema.map(_.dataType)
    Option.when(types(table) == types(rows) && types(rows).forall(Ties.areTwins)) {
      val bytes = new ByteArrayOutputStream
      rows
        .select(xxhash64(ids.map(col): _*).as("hash"))
        .stat
        .bloomFilter("hash", count, Wrong)
        .writeTo(bytes)
      val hashes = rows.sparkSession.sparkContext.broadcast(bytes.toByteArray)
      of => Among(new XxHash64(of), hashes)
    }
  }
}
