package io.sash.spark

import java.nio.charset.StandardCharsets.UTF_8
import java.util.Arrays

import scala.util.Random

import org.apache.spark.TaskContext
import org.apache.spark.sash.{FakeTask, SparkInternals}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{BinaryType, DataType, LongType}

/** Prefixes of strings behind what they share. */
class SharedPrefixSuite extends SashSuite {
  private val input =
    Seq(AttributeReference("id", LongType)(), AttributeReference("o", BinaryType)())
  private val program =
    OrderProgram(Nil, RowOrder(Seq(SortOrder(input(1), Ascending)), input, radix = true))

  /** What is found with these values in the records of a task. */
  private def withRecords[A](values: Seq[Array[Byte]])(
      found: (Records, SharedPrefix, RecordChain) => A
  ): A = FakeTask
    .run(spark.sparkContext, refused = 0) {
      val manager = SparkInternals.taskMemoryManager(TaskContext.get())
      val rows = new KeyedRows(manager, program, () => ())
      val projection = UnsafeProjection.create(Array[DataType](LongType, BinaryType))
      values.zipWithIndex.foreach { case (value, id) =>
        assert(rows.add(projection(InternalRow(id.toLong, value))))
      }
      val chain = new RecordChain(rows.records)
      (0 until rows.buckets).foreach(i => rows.bucket(i).rows.foreach(chain.add))
      assert(chain.count == values.length)
      val column = program.within.bytesColumn.get
      val result =
        found(rows.records, new SharedPrefix(rows.records, input.length, column), chain)
      rows.freePages(null)
      result
    }
    ._1

  private def shared(values: String*): Int =
    withRecords(values.map(_.getBytes(UTF_8)))((_, prefix, chain) => prefix.length(chain))

  test("how many bytes strings begin with") {
    assert(shared("2024-01-01", "2024-01-17", "2024-02-01") == 6)
    assert(shared("abc", "abc") == 3)
    assert(shared("abc", "ab", "abcd") == 2)
    assert(shared("abc", "", "abc") == 0)
    assert(shared("x", "y") == 0)
    assert(shared("one alone") == 9)
  }

  test("the next 8 bytes, which a shorter string has as zeros") {
    def prefix(value: String, shared: Int): Long =
      withRecords(Seq(value.getBytes(UTF_8)))((_, prefix, chain) =>
        prefix.prefix(chain.first, shared)
      )
    assert(prefix("2024-01-17 12:34", 6) == 0x312d31372031323aL)
    assert(prefix("abcdefgh", 0) == 0x6162636465666768L)
    assert(prefix("abcdefgh", 5) == 0x6667680000000000L)
    assert(prefix("abcdefgh", 8) == 0)
  }

  test("random bytes: a smaller prefix is a smaller string") {
    val random = new Random(11)
    def bytes(most: Int): Array[Byte] = Array.fill(random.nextInt(most + 1)) {
      if (random.nextInt(3) == 0) (random.nextInt(3) - 1).toByte else random.nextInt().toByte
    }
    for (_ <- 0 until 200) {
      val beginning = bytes(20)
      val values =
        Seq.fill(1 + random.nextInt(20))(beginning ++ bytes(if (random.nextBoolean()) 3 else 12))
      withRecords(values) { (records, prefix, chain) =>
        val shared = prefix.length(chain)
        assert(values.forall(_.startsWith(beginning)) && shared >= beginning.length)
        assert(values.forall(v => v.take(shared).sameElements(values.head.take(shared))))
        val prefixes = new Array[Long](values.length)
        val row = new UnsafeRow(input.length)
        chain.foreach { record => // which are in another order than the values
          records.pointTo(record, row)
          prefixes(row.getLong(0).toInt) = prefix.prefix(record, shared)
        }
        for (i <- values.indices; j <- values.indices) {
          val byPrefix = java.lang.Long.compareUnsigned(prefixes(i), prefixes(j))
          val whole = Arrays.compareUnsigned(values(i), values(j))
          assert(byPrefix == 0 || byPrefix.sign == whole.sign)
        }
      }
    }
  }
}
