package io.sash.spark.ordering

import java.lang.ref.WeakReference

import scala.util.Random

import org.apache.spark.TaskContext
import org.apache.spark.sash.{FakeTask, SparkInternals}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{DataType, LongType}

import io.sash.spark.SashSuite

/** Rows that go out, spilled by another thread after some of them, and all gone at the end. */
class OutgoingRowsSuite extends SashSuite {
  private val input =
    Seq(AttributeReference("k", LongType)(), AttributeReference("o", LongType)())
  private val program = OrderProgram(
    input.take(1),
    RowOrder(Seq(SortOrder(input(1), Ascending)), input, radix = true)
  )
  private val count = 3000

  private def manager = SparkInternals.taskMemoryManager(TaskContext.get())

  private def outgoing(pages: RowPages, keys: Int, sorting: Boolean): OutgoingRows = {
    val rows = new KeyedRows(pages, new Records(manager, program.within), program)
    val projection = UnsafeProjection.create(Array[DataType](LongType, LongType))
    new Random(keys).shuffle((0 until count).toList).zipWithIndex.foreach { case (o, i) =>
      assert(rows.add(projection(InternalRow(o.toLong * 7919 % keys, o.toLong))))
      if (i == count / 2 && keys > 1) rows.place()
    }
    new OutgoingRows(rows, pages, program, sorting, new OrderCounts)
  }

  private def inTask(body: RowPages => Unit): Unit = {
    val (_, _, held) = FakeTask.run(spark.sparkContext, refused = 0)(body(new RowPages(manager)))
    assert(held == 0)
  }

  private def inThread(body: => Unit): Unit = {
    val thread = new Thread(() => body)
    thread.start()
    thread.join()
  }

  private type Plain = (Long, Long)

  private def plain(row: UnsafeRow): Plain = (row.getLong(0), row.getLong(1))

  for (keys <- Seq(1, 7, 1000); sorting <- Seq(true, false); after <- Seq(0, 1, 555, count - 1))
    test(s"$keys keys, spilled after $after rows, ${if (sorting) "in" else "without"} order") {
      inTask { pages =>
        val rows = outgoing(pages, keys, sorting)
        val before = (1 to after).map(_ => plain(rows.next())).toList
        // the row that is out stays as it is until the next one, and its page with it
        val last = if (after > 0 && after < count - 1) Some(rows.next()) else None
        val seen = last.map(plain)
        val held = pages.getUsed
        inThread(assert(pages.spill(1, pages) == held - pages.getUsed))
        assert(pages.getUsed < held && (last.nonEmpty || after > 0 || pages.getUsed == 0))
        assert(last.map(plain) == seen)
        inThread(assert(pages.spill(1, pages) == 0))
        val found = before ++ seen ++ rows.map(plain)
        assert(pages.getUsed == 0, "bytes held when the last row has left")
        assert(found.sorted == (0L until count).map(o => (o * 7919 % keys, o)).sorted)
        if (sorting) {
          val runs = found.map(_._1).foldLeft(List.empty[Long]) {
            case (k :: rest, next) if k == next => k :: rest
            case (before, next)                 => next :: before
          }
          assert(runs.distinct.length == runs.length, "a key came twice")
          assert(found.groupBy(_._1).values.forall(of => of == of.sorted))
        }
      }
    }

  test("the last row stays when everything else has gone back") {
    inTask { pages =>
      val rows = outgoing(pages, keys = 1, sorting = true)
      (1 until count).foreach(_ => rows.next())
      val last = rows.next()
      assert(!rows.hasNext && manager.getMemoryConsumptionForThisTask == 0)
      assert(plain(last) == ((0L, count - 1L)))
    }
  }

  test("a step whose rows have left is garbage while its task goes on") {
    inTask { pages =>
      def run(): WeakReference[OutgoingRows] = {
        val rows = outgoing(pages, keys = 7, sorting = true)
        rows.foreach(_ => ())
        new WeakReference(rows)
      }
      val rows = run()
      var tries = 0
      while (rows.get != null && tries < 50) {
        System.gc()
        Thread.sleep(20)
        tries += 1
      }
      assert(rows.get == null && pages.peakBytes > 0)
    }
  }
}
