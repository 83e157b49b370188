package io.sash.spark.slots

import java.nio.ByteBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{DataType, Decimal, DecimalType, StringType, UserDefinedType}
import org.apache.spark.unsafe.types.UTF8String

import io.sash.core.slots.{Bytes, SlotCodec, Slots}

/** Encodes a slot of [[SlotColumns]] as the bytes of an unsafe row, preceded by their number. */
private[spark] final class RowCodec(columnTypes: IndexedSeq[DataType]) extends SlotCodec {

  /** Decimal columns, encoded as digits, since a partial may exceed its column's precision. */
  private[this] val decimals = columnTypes.indices.filter(isDecimal)
  private[this] val byteTypes =
    columnTypes.indices.map(i => if (isDecimal(i)) StringType else columnTypes(i)).toArray
  private[this] val cells = new SpecificInternalRow(columnTypes)
  private[this] val byteCells = new GenericInternalRow(columnTypes.length)
  private[this] val toBytes = UnsafeProjection.create(byteTypes)
  private[this] val fromBytes = new UnsafeRow(columnTypes.length)

  override def write(slots: Slots, slot: Int, out: Bytes): Unit = {
    slots.asInstanceOf[SlotColumns].save(slot, cells)
    out.putBytes(toBytes(if (decimals.isEmpty) cells else withDigits()).getBytes)
  }

  override def read(slots: Slots, slot: Int, in: ByteBuffer): Unit = {
    val value = Bytes.bytes(in)
    fromBytes.pointTo(value, value.length)
    val row = if (decimals.isEmpty) fromBytes else withDecimals()
    slots.asInstanceOf[SlotColumns].load(slot, row)
  }

  private def withDigits(): InternalRow = {
    columnTypes.indices.foreach(i => byteCells.update(i, cells.get(i, columnTypes(i))))
    for (i <- decimals if !cells.isNullAt(i)) {
      byteCells.update(i, UTF8String.fromString(cells.get(i, columnTypes(i)).toString))
    }
    byteCells
  }

  private def withDecimals(): InternalRow = {
    columnTypes.indices.foreach(i => byteCells.update(i, fromBytes.get(i, byteTypes(i))))
    for (i <- decimals if !fromBytes.isNullAt(i)) {
      byteCells.update(i, Decimal(BigDecimal.exact(fromBytes.getUTF8String(i).toString)))
    }
    byteCells
  }

  private def isDecimal(i: Int): Boolean = columnTypes(i) match {
    case u: UserDefinedType[_] => u.sqlType.isInstanceOf[DecimalType]
    case t                     => t.isInstanceOf[DecimalType]
  }
}
