package io.sash.spark.multisets

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.CalendarInterval
import org.scalatest.funsuite.AnyFunSuite

import io.sash.spark.slots.UserTypes

/** The bytes by which DISTINCT, collect_set and the keys of streams tell values apart. */
class DistinctKeySuite extends AnyFunSuite {
  private val nanos = UserTypes.Named("timestamp_ntz(9)")

  private def bytes(of: Expression => Expression, values: Any*): Seq[UnsafeRow] = {
    val project =
      UnsafeProjection.create(Seq(of(BoundReference(0, nanos, nullable = true)), Literal(1)))
    values.map(v => project(InternalRow(v)).copy())
  }

  private val values =
    Seq(null, new CalendarInterval(1, 2, 3L), null, new CalendarInterval(1, 2, 3L))

  test("a row holds bytes of the row before where such a time is NULL, and a key does not") {
    val plain = bytes(identity, values: _*)
    assert(plain(0) != plain(2) && plain(1) == plain(3), "vacuous: the room of a NULL is cleared")
    val keys = bytes(Distinct.key, values: _*)
    assert(keys(0) == keys(2) && keys(1) == keys(3) && keys(0) != keys(1))
  }

  test("bytes tell types apart that have equal bytes for equal values, and for NULL") {
    val stable = Seq(LongType, StringType, DecimalType(30, 2), TimestampNTZType)
    val unstable = Seq(nanos, CalendarIntervalType, StringType("UTF8_LCASE"))
    def within(of: DataType): Seq[DataType] = Seq(
      of,
      new StructType().add("a", LongType).add("b", of),
      ArrayType(of),
      new StructType().add("a", ArrayType(of))
    )
    stable.flatMap(within).foreach { t =>
      withClue(t)(assert(Distinct.areOfEqualBytes(t) && Distinct.canKey(t)))
    }
    unstable.flatMap(within).foreach(t => withClue(t)(assert(!Distinct.areOfEqualBytes(t))))
    // a key is made of a string's collation, not of one within
    assert(unstable.flatMap(within).filter(Distinct.canKey) == Seq(StringType("UTF8_LCASE")))
  }
}
