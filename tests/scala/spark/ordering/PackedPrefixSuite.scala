package io.sash.spark.ordering

import java.nio.charset.StandardCharsets.UTF_8
import java.time.{Instant, ZoneOffset}
import java.time.format.DateTimeFormatter
import java.util.Arrays

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{BinaryType, DataType, LongType}

import io.sash.spark.{RowsInTask, SashSuite}

/** Prefixes that are fitted to their strings. */
class PackedPrefixSuite extends SashSuite {
  private val input =
    Seq(AttributeReference("id", LongType)(), AttributeReference("o", BinaryType)())
  private val program =
    OrderProgram(Nil, RowOrder(Seq(SortOrder(input(1), Ascending)), input, radix = true))

  /** What is found with these values in the records of a task. */
  private def withRecords[A](values: Seq[Array[Byte]])(
      found: (Records, PackedPrefix, RecordChain) => A
  ): A = RowsInTask(spark.sparkContext, program, page = "16k") { (rows, _) =>
    val projection = UnsafeProjection.create(Array[DataType](LongType, BinaryType))
    values.zipWithIndex.foreach { case (value, id) =>
      assert(rows.add(projection(InternalRow(id.toLong, value))))
    }
    val chain = new RecordChain(rows.records)
    (0 until rows.buckets).foreach(i => rows.bucket(i).rows.foreach(chain.add))
    assert(chain.count == values.length)
    val column = program.within.bytesColumn.get
    found(rows.records, new PackedPrefix(rows.records, input.length, column), chain)
  }

  /** The prefix of each value, and whether equal ones are of equal strings. */
  private def prefixes(values: Seq[Array[Byte]]): (Seq[Long], Boolean) =
    withRecords(values) { (records, prefix, chain) =>
      val whole = prefix.fit(chain)
      val found = new Array[Long](values.length)
      val row = new UnsafeRow(input.length)
      chain.foreach { record =>
        records.pointTo(record, row)
        found(row.getLong(0).toInt) = prefix.prefix(record)
      }
      (found.toSeq, whole)
    }

  private def ofStrings(values: String*): (Seq[Long], Boolean) =
    prefixes(values.map(_.getBytes(UTF_8)))

  test("places are packed by the values that they have") {
    // behind 2024-0, places of two and of ten values
    assert(ofStrings("2024-01-10", "2024-02-19", "2024-01-15") == ((Seq(0, 19, 5), true)))
    assert(ofStrings("x", "z") == ((Seq(0, 2), true)))
    assert(ofStrings("same", "same") == ((Seq(0, 0), true)))
    assert(ofStrings("one alone") == ((Seq(0), true)))
  }

  test("an end is less than any byte") {
    assert(ofStrings("abc", "ab", "abcd") == ((Seq(2, 0, 3), true)))
    assert(ofStrings("abc", "", "abc") == ((Seq(1, 0, 1), true)))
    assert(prefixes(Seq(Array[Byte](0), Array[Byte]())) == ((Seq(1, 0), true)))
  }

  test("timestamps as text are told apart by their prefixes") {
    val random = new Random(7)
    val format =
      DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss.SSSSSS").withZone(ZoneOffset.UTC)
    val times = Seq.fill(500)(
      format.format(
        Instant.ofEpochSecond(1767225600L + random.nextInt(1 << 25), random.nextInt(1000) * 1000L)
      )
    )
    val (found, whole) = ofStrings(times: _*)
    assert(whole && found.zip(times).sortBy(_._1).map(_._2) == times.sorted)
  }

  test("of long strings the first places are packed") {
    val letters = "abcdefghijklmnopqrstuvwxyz"
    val (found, whole) = ofStrings(letters, letters.reverse, letters.reverse + "a")
    assert(!whole && found(0) < found(1) && found(1) == found(2))
    val (same, equal) = ofStrings("a" * 100 + "b", "a" * 100, "a" * 100 + "bb" + "a" * 100)
    assert(!equal && same(1) < same(0) && same(0) < same(2))
  }

  test("random bytes: a smaller prefix is a smaller string") {
    val random = new Random(11)
    def bytes(most: Int): Array[Byte] = Array.fill(random.nextInt(most + 1)) {
      if (random.nextInt(3) == 0) (random.nextInt(3) - 1).toByte else random.nextInt().toByte
    }
    var wholes = 0
    for (_ <- 0 until 200) {
      val beginning = bytes(20)
      val values =
        Seq.fill(1 + random.nextInt(20))(beginning ++ bytes(if (random.nextBoolean()) 3 else 12))
      val (found, whole) = prefixes(values)
      if (whole) wholes += 1
      for (i <- values.indices; j <- values.indices) {
        val byPrefix = java.lang.Long.compareUnsigned(found(i), found(j))
        val compared = Arrays.compareUnsigned(values(i), values(j))
        assert(byPrefix.sign == compared.sign || (byPrefix == 0 && !whole))
      }
    }
    assert(wholes > 20 && wholes < 180, "vacuous")
  }
}
