package io.sash.spark.lateral

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, Predicate}
import org.apache.spark.sql.catalyst.expressions.aggregate.BloomFilterAggregate
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode, FalseLiteral}
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.util.sketch.BloomFilter

/**
 * Whether an event might be of a label. True for each event of a label, for some others, and for
 * many others where most events are of a label ([[Sieve]]).
 *
 * @param filter the Bloom filter of the labels' hashes, as bytes; NULL if there is no label
 * @param hashes the hashes under which a label of the event can be, BIGINTs that are never NULL
 * @param mayMove whether Spark may move it to other operators. Rows before an event decide
 *   whether it passes without a label. So below a group the condition would tear groups apart,
 *   and below a join it would compute keys of rows that the join removes.
 */
private[lateral] final case class MightHaveLabel(
    filter: Expression,
    hashes: Seq[Expression],
    mayMove: Boolean
) extends Expression
    with Predicate {

  override def children: Seq[Expression] = filter +: hashes
  override def nullable: Boolean = false

  override lazy val deterministic: Boolean = mayMove && children.forall(_.deterministic)
  override def prettyName: String = "might_have_label"

  @transient private lazy val sieve: Sieve = new Sieve(
    Option(filter.eval()).map(bytes =>
      BloomFilterAggregate.deserialize(bytes.asInstanceOf[Array[Byte]])
    )
  )

  override def eval(input: InternalRow): Any =
    sieve.rests() ||
      sieve.note(hashes.exists(h => sieve.mightContain(h.eval(input).asInstanceOf[Long])))

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val tested = ctx.addReferenceObj("sieve", sieve)
    val tests = hashes.map { h =>
      val hash = h.genCode(ctx)
      code"if (!${ev.value}) { ${hash.code} ${ev.value} = $tested.mightContain(${hash.value}); }"
    }
    ev.copy(
      code = code"""
        boolean ${ev.value} = $tested.rests();
        if (!${ev.value}) {
          ${tests.reduce(_ + _)}
          $tested.note(${ev.value});
        }""",
      isNull = FalseLiteral
    )
  }

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[Expression]
  ): MightHaveLabel = copy(newChildren.head, newChildren.tail, mayMove)
}

/**
 * A Bloom filter that rests where it finds too much: after a block of rows from which it takes
 * few away, the next blocks pass untested. So a filter that takes nothing away costs a test in
 * sixteen rows. Each task has its own.
 *
 * @param bloom none if it contains nothing
 */
private[lateral] final class Sieve(bloom: Option[BloomFilter]) extends Serializable {
  import Sieve._

  private val filter = bloom.orNull
  private var rows = 0
  private var passed = 0
  private var isOn = true

  /** Counts a row; whether it passes untested. */
  def rests(): Boolean = {
    if (rows >= Block) turn()
    rows += 1
    !isOn
  }

  def mightContain(hash: Long): Boolean = filter != null && filter.mightContainLong(hash)

  /** Counts the result of a test. */
  def note(isFound: Boolean): Boolean = {
    if (isFound) passed += 1
    isFound
  }

  private def turn(): Unit = {
    isOn = !isOn || passed < Block * MostPassed
    rows = if (isOn) 0 else Block * (1 - Resting)
    passed = 0
  }
}

private[lateral] object Sieve {
  private val Block = 4096

  /** The blocks that pass untested after one that hardly lost a row. */
  private val Resting = 15

  /** The share of rows above which the exchange of the others costs less than the tests. */
  private val MostPassed = 0.75
}
