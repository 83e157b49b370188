package io.sash.spark.slots

import scala.util.Try

import org.apache.spark.sql.catalyst.{CatalystTypeConverters, InternalRow}
import org.apache.spark.sql.catalyst.expressions.SpecificInternalRow
import org.apache.spark.sql.types.DataType
import org.scalatest.Assertions

import io.sash.spark.ErrorCondition
import io.sash.spark.memory.WindowMemory

/** The same program as generated, interpreted and paged slots, which must not differ. */
final class SlotKinds(program: SlotProgram, results: Seq[DataType]) extends Assertions {

  /** Slots that lie on more pages than are resident. */
  val slots: IndexedSeq[Int] = (0 until 24).map(_ * 200)

  private val kinds: Seq[(String, SlotColumns)] = {
    def sized(columns: SlotColumns): SlotColumns = {
      columns.accountedBy(WindowMemory.Unlimited, program)
      columns.grow(slots.last + 1).asInstanceOf[SlotColumns]
    }
    Seq(
      "generated" -> sized(SlotCodegen.compile(program)),
      "interpreted" -> sized(new InterpretedSlots(program)),
      "paged" -> sized(SlotCodegen.compile(program)).page()
    )
  }

  private val cellTypes = program.columns.map(_.dataType)
  private val out = new SpecificInternalRow(results)
  private val cells = new SpecificInternalRow(cellTypes)

  /** Runs `operation` on each kind; all answer the same, or fail by the same error. */
  def agree[T](name: String)(operation: SlotColumns => T): Either[String, T] = {
    val answers = kinds.map { case (kind, columns) =>
      (kind, Try(operation(columns)).toEither.left.map(ErrorCondition.of))
    }
    val (_, first) = answers.head
    answers.tail.foreach { case (kind, answer) =>
      assert(answer == first, s"$name, $kind against generated")
    }
    first
  }

  /** Changes `dst` in each kind; where that fails, in all of them alike, a neutral slot stays. */
  def change(name: String, dst: Int)(operation: SlotColumns => Unit): Unit = {
    if (agree(name)(operation).isLeft) agree("identity")(_.identity(dst))
    agree(s"$name, cells of $dst")(contents(_, dst))
    ()
  }

  def contents(columns: SlotColumns, slot: Int): Seq[Any] = {
    columns.save(slot, cells)
    values(cells, cellTypes)
  }

  def result(columns: SlotColumns, slot: Int): Seq[Any] = {
    columns.lower(slot, out)
    values(out, results)
  }

  private def values(row: InternalRow, types: Seq[DataType]): Seq[Any] =
    types.zipWithIndex.map { case (dataType, i) =>
      val value = if (row.isNullAt(i)) null else row.get(i, dataType)
      CatalystTypeConverters.convertToScala(value, dataType) match {
        case bytes: Array[Byte] => bytes.toSeq
        case d: Double => java.lang.Double.doubleToLongBits(d) // NaN is NaN, -0.0 is not 0.0
        case f: Float  => java.lang.Float.floatToIntBits(f)
        case other     => other
      }
    }
}
