package io.sash.spark.slots

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.{GenericArrayData, MapData}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.{UTF8String, VariantVal}

/** Estimates the memory that a value takes beyond the size that all values of its type have. */
private[spark] object ValueBytes {

  /** Whether values of the type differ in size. */
  def vary(dataType: DataType): Boolean = dataType match {
    case u: UserDefinedType[_]        => vary(u.sqlType)
    case _: DecimalType | _: NullType => false
    case CalendarIntervalType         => false
    case t                            => !SlotProgram.isPrimitive(t)
  }

  def of(value: Any): Long = value match {
    case s: UTF8String           => s.numBytes.toLong
    case bytes: Array[Byte]      => bytes.length.toLong
    case row: UnsafeRow          => row.getSizeInBytes.toLong
    case array: UnsafeArrayData  => array.getSizeInBytes.toLong
    case map: UnsafeMapData      => map.getSizeInBytes.toLong
    case map: MapData            => of(map.keyArray()) + of(map.valueArray())
    case array: GenericArrayData => ofAll(array.array)
    case row: GenericInternalRow => ofAll(row.values)
    case v: VariantVal           => v.getValue.length.toLong + v.getMetadata.length
    case _                       => 0L
  }

  private def ofAll(values: Array[Any]): Long = {
    var sum = values.length.toLong * 8
    var i = 0
    while (i < values.length) {
      sum += of(values(i))
      i += 1
    }
    sum
  }
}
