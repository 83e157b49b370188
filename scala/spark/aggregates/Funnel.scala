package io.sash.spark.aggregates

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke
import org.apache.spark.sql.types._

import io.sash.spark.base.SashFunction

/**
 * How many steps were met in order, each in a later row than the one before. The number of steps
 * so far is a level, and a run of rows is a function from the level before it to the level after
 * it. The composition of two such functions is a third: see [[FunnelLevels]].
 */
private[spark] case object Funnel extends MonoidKind {
  override def types(arguments: Seq[Expression]): Seq[DataType] =
    arguments.map(_ => BooleanType)

  override def dataType(arguments: Seq[Expression]): DataType = IntegerType
  override def ofNoRows: Any = 0

  override def parts(arguments: Seq[Expression]): MonoidParts = {
    val met = arguments.zipWithIndex.map { case (step, i) =>
      If(step, Literal(1 << i), Literal(0)): Expression
    }
    val row = call("ofRow", met.reduce(BitwiseOr(_, _)))
    MonoidParts(
      Nil,
      Seq(OneCell("levels", Literal(FunnelLevels.Same), row)),
      combine = (o, y) => Seq(call("compose", o.head, y.head)),
      lower = cells => Cast(BitwiseAnd(cells.head, Literal(15L)), IntegerType)
    )
  }

  private def call(method: String, arguments: Expression*): Expression =
    StaticInvoke(FunnelLevels.getClass, LongType, method, arguments, returnNullable = false)

  override val function: SashFunction =
    described("funnel", repeats = FunnelLevels.Most - 1)("""
    Returns how many of the steps were met in order, each in a later row than the step
    before.

    * step - a BOOLEAN, the condition of a step; 1 to 15 steps, the first one first

    > SELECT ts, _FUNC_(e = 'view', e = 'cart', e = 'pay') OVER (ORDER BY ts RANGE 7
      PRECEDING) FROM VALUES (0, 'view'), (2, 'pay'), (3, 'cart'), (5, 'pay'), (9, 'pay') AS
      t(ts, e);
    0  1
    2  1
    3  2
    5  3
    9  0

    Other rows may lie between two steps. A row is at most one step. The window bounds the
    time from the first step to the last. So the greatest answer of a key over RANGE
    INTERVAL 7 DAYS PRECEDING is the `windowFunnel` of ClickHouse: how far the key came
    within 7 days. The rows are taken in the window's order; a group of GROUP BY has none. A
    NULL is a step that is not met; 0 over no rows.
  """)
}

/**
 * A function from levels to levels as a number of 64 bits: the ith four bits are the level that
 * follows level i. Generated code calls these methods.
 */
private[sash] object FunnelLevels {

  /** The greatest level of four bits. */
  val Most = 15

  /** Each level stays. */
  val Same = 0xfedcba9876543210L

  /**
   * The function of one row.
   *
   * @param met the bit i is 1 if the row meets the step after level i
   */
  def ofRow(met: Int): Long = {
    var levels = Same
    var i = 0
    while (i < Most) {
      levels += (met >>> i & 1).toLong << 4 * i // no carry: level i is less than 15
      i += 1
    }
    levels
  }

  def compose(older: Long, younger: Long): Long =
    if (younger == Same) older
    else {
      var levels = 0L
      var i = 0
      while (i <= Most) {
        levels |= at(younger, at(older, i)) << 4 * i
        i += 1
      }
      levels
    }

  private def at(levels: Long, level: Long): Long = levels >>> 4 * level.toInt & 15
}
