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
 * Whether a row may be among some others, whose hashes a Bloom filter has: true for all of them,
 * and for few more. As a condition of a MERGE on its table alone it leaves out rows before they
 * are shuffled for a join.
 *
 * @param child the row's hash
 */
private[refresh] final case class Among(child: Expression, hashes: Broadcast[Array[Byte]])
    extends UnaryExpression
    with Predicate {

  @transient private lazy val filter =
    BloomFilter.readFrom(new ByteArrayInputStream(hashes.value))

  /** For the code that Spark generates. */
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

  /** At most so many of the other rows are taken for one of them. */
  private val Wrong = 0.01

  /**
   * Looks up the id of a table's row among the ids of some rows. None if equal ids may have other
   * hashes.
   *
   * @param ids the columns of the id, which the table has, too
   * @param count the number of the rows
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
