package io.sash.spark.ordering

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{DataType, LongType, StringType}
import org.apache.spark.unsafe.types.UTF8String
import org.apache.spark.util.SizeEstimator

import io.sash.spark.{RowsInTask, SashSuite}

/** Where rows lie that were grouped by key. */
class KeyedRowsSuite extends SashSuite {
  private val input =
    Seq(AttributeReference("k", LongType)(), AttributeReference("o", LongType)())
  private val program =
    OrderProgram(
      input.take(1),
      RowOrder(Seq(SortOrder(input(1), Ascending)), input, radix = true)
    )
  private val keys = 500

  private def withRows[A](body: (KeyedRows, RowPages) => A): A =
    RowsInTask(spark.sparkContext, program, page = "64m")(body)

  private def add(rows: KeyedRows, orders: Range): Unit = {
    val projection = UnsafeProjection.create(Array[DataType](LongType, LongType))
    orders.foreach(o =>
      assert(rows.add(projection(InternalRow(o.toLong * 7919 % keys, o.toLong))))
    )
  }

  /** Key and order of each row of a bucket. */
  private def content(rows: KeyedRows, bucket: Int): Seq[(Long, Long)] = {
    val row = new UnsafeRow(input.length)
    val found = mutable.ArrayBuffer.empty[(Long, Long)]
    rows.bucket(bucket).rows.foreach { record =>
      rows.records.pointTo(record, row)
      found += ((row.getLong(0), row.getLong(1)))
    }
    found.toSeq
  }

  private def filled(rows: KeyedRows): Seq[Seq[(Long, Long)]] =
    (0 until rows.buckets).map(content(rows, _)).filter(_.nonEmpty)

  test("rows lie as they came until they are placed") {
    withRows { (rows, _) =>
      add(rows, 0 until 3000)
      assert(filled(rows).map(_.map(_._2)) == Seq((0L until 3000L)))
    }
  }

  test("rows of a key that came before and after rows were placed lie together") {
    withRows { (rows, _) =>
      add(rows, 0 until 3000)
      rows.place()
      rows.place()
      add(rows, 3000 until 6000)
      val buckets = filled(rows)
      assert(buckets.length > keys / 2, "rows are spread")
      assert(buckets.flatten.map(_._2).sorted == (0L until 6000L))
      val ofKeys = buckets.map(_.map(_._1).distinct)
      assert(ofKeys.flatten.length == keys, "a key lies in two buckets")
      buckets.foreach(_.groupBy(_._1).values.foreach(of => assert(of == of.sortBy(_._2))))
    }
  }

  test("keys that are told apart take no memory besides their rows'") {
    val text = Seq(AttributeReference("k", StringType)(), AttributeReference("o", LongType)())
    val byText =
      OrderProgram(text.take(1), RowOrder(Seq(SortOrder(text(1), Ascending)), text, radix = true))
    val projection = UnsafeProjection.create(Array[DataType](StringType, LongType))
    RowsInTask(spark.sparkContext, byText, page = "64m") { (rows, pages) =>
      val (count, bytes) = (500, 10000)
      (0 until 2 * count).foreach { o =>
        val key = UTF8String.fromString(s"${o % count}${"x" * bytes}")
        assert(rows.add(projection(InternalRow(key, o.toLong))))
      }
      val before = SizeEstimator.estimate(rows)
      val lists = rows.split(rows.bucket(0))
      assert(SizeEstimator.estimate(rows) - before < count * bytes / 10)
      var keys = 0
      lists.forEachRemaining { list =>
        keys += 1
        assert(list.count == 2)
      }
      assert(keys == count && pages.peakBytes > 2L * count * bytes)
    }
  }

  test("memory grows with the rows, and is at most twice theirs") {
    withRows { (rows, pages) =>
      add(rows, 0 until 1)
      assert(pages.peakBytes <= (1 << 20))
      rows.place()
      val count = 200000
      add(rows, 1 until count)
      val bytes = count * (Records.HeaderBytes + 24L)
      assert(pages.peakBytes > bytes && pages.peakBytes < 2 * bytes)
    }
  }
}
