package io.sash.spark.slots

import java.nio.ByteBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._
import org.scalacheck.Gen
import org.scalacheck.Prop.forAllNoShrink
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.Checkers

import io.sash.core.slots.{Bytes, SlotCodec}
import io.sash.spark.memory.WindowMemory

/** Values that a codec writes are read again, bit by bit. */
class CompactCodecSuite extends AnyFunSuite with Checkers {
  private val types: IndexedSeq[(DataType, Gen[Any])] = {
    val longs = Gen.oneOf(
      Gen.choose(Long.MinValue, Long.MaxValue),
      Gen.choose(-70L, 70L),
      Gen.oneOf(Long.MinValue, Long.MaxValue, 0L, -1L)
    )
    val doubles = Gen.oneOf(
      longs.map(java.lang.Double.longBitsToDouble),
      Gen.oneOf(0.0, -0.0, Double.NaN, Double.NegativeInfinity)
    )
    IndexedSeq(
      LongType -> longs,
      DoubleType -> doubles,
      BooleanType -> Gen.oneOf(true, false),
      ByteType -> longs.map(_.toByte),
      ShortType -> longs.map(_.toShort),
      IntegerType -> longs.map(_.toInt),
      FloatType -> doubles.map(_.toFloat),
      DateType -> longs.map(_.toInt),
      TimestampType -> longs,
      TimestampNTZType -> longs,
      YearMonthIntervalType() -> longs.map(_.toInt),
      DayTimeIntervalType() -> longs
    )
  }

  private val rows: Gen[(IndexedSeq[DataType], Seq[Any])] =
    Gen.nonEmptyListOf(Gen.oneOf(types)).flatMap { columns =>
      val values = columns.map { case (_, values) =>
        Gen.frequency[Any](1 -> Gen.const(null), 4 -> values)
      }
      Gen.sequence[Seq[Any], Any](values).map((columns.map(_._1).toIndexedSeq, _))
    }

  private def columnsOf(types: IndexedSeq[DataType]): SlotColumns = {
    val input = types.map(AttributeReference("c", _)())
    val program = SlotProgram.ofRow(input, input.map(_.newInstance()), input)
    SlotColumns(program).accountedBy(WindowMemory.Unlimited, program)
  }

  private def written(codec: SlotCodec, columns: SlotColumns, slot: Int): Array[Byte] = {
    val out = new Bytes
    codec.write(columns, slot, out)
    out.toArray
  }

  test("a slot that was written is read again, NULLs, NaNs and signs of zero included") {
    check(forAllNoShrink(rows) { case (types, values) =>
      val columns = columnsOf(types).grow(2)
      columns.lift(0, InternalRow(values: _*))
      val codec = columns.compactCodec
      assert(codec.isInstanceOf[CompactCodec])
      codec.read(columns, 1, ByteBuffer.wrap(written(codec, columns, 0)))
      val bits = UnsafeProjection.create(types.toArray)
      def of(slot: Int): UnsafeRow = {
        val row = new SpecificInternalRow(types)
        columns.save(slot, row)
        bits(row).copy()
      }
      of(0) == of(1)
    })
  }

  test("sums of small integers take four bytes, a NULL none but its bit") {
    val columns = columnsOf(IndexedSeq(LongType, BooleanType)).grow(2)
    columns.lift(0, InternalRow(-4000L, true))
    columns.lift(1, InternalRow(null, null))
    assert(written(columns.compactCodec, columns, 0).length == 4)
    assert(written(columns.compactCodec, columns, 1).length == 1)
  }

  test("strings go as they did") {
    assert(columnsOf(IndexedSeq(LongType, StringType)).compactCodec.isInstanceOf[RowCodec])
  }
}
