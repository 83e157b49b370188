package io.sash.spark.ordering

import scala.collection.mutable
import scala.util.Random

import org.apache.spark.{SparkEnv, TaskContext, TaskKilledException}
import org.apache.spark.memory.SparkOutOfMemoryError
import org.apache.spark.sash.FakeTask
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{DataType, LongType, StringType}
import org.apache.spark.unsafe.types.UTF8String

import io.sash.spark.SashSuite

/** The ordering step in a task of its own, whose memory is refused at each request in turn. */
class OrderTaskSuite extends SashSuite {
  private val (key, order, text) = (
    AttributeReference("k", LongType)(),
    AttributeReference("o", LongType)(),
    AttributeReference("s", StringType)()
  )
  private val input = Seq(key, order, text)
  private val program =
    OrderProgram(Seq(key), RowOrder(Seq(SortOrder(order, Ascending)), input, radix = true))

  private type Plain = (Long, Long, String)

  private def rows(count: Int, keys: Int, shuffled: Boolean): Seq[Plain] = {
    val random = new Random(count + keys)
    // keys that do not ascend, which Spark's sort would be left
    val ordered =
      (0 until count).map(i => (i * 7919L % keys, i.toLong, "x" * random.nextInt(40)))
    if (shuffled) random.shuffle(ordered) else ordered
  }

  private def arriving(plain: Iterator[Plain]): Iterator[InternalRow] = {
    val projection = UnsafeProjection.create(Array[DataType](LongType, LongType, StringType))
    plain.map { case (k, o, s) => projection(InternalRow(k, o, UTF8String.fromString(s))) }
  }

  private def step(): OrderTask =
    new OrderTask(program, OrderMetrics.create(spark.sparkContext))

  /** Rows go out to a consumer that stops after `taken` of them. */
  private def run(plain: Seq[Plain], taken: Int): Seq[Plain] =
    step()
      .ordered(arriving(plain.iterator))
      .take(taken)
      .map(plainOf)
      .toSeq

  private def plainOf(row: InternalRow): Plain =
    (row.getLong(0), row.getLong(1), row.getUTF8String(2).toString)

  /** Every row once, keys together, each key's rows in order. */
  private def assertOrdered(found: Seq[Plain], plain: Seq[Plain]): Unit = {
    assert(found.sorted == plain.sorted)
    val runs = mutable.ArrayBuffer.empty[Long]
    found.foreach { case (k, _, _) => if (!runs.lastOption.contains(k)) runs += k }
    assert(runs.distinct.length == runs.length, "a key came twice")
    found.sliding(2).foreach {
      case Seq((k1, o1, _), (k2, o2, _)) => assert(k1 != k2 || o1 <= o2)
      case _                             =>
    }
  }

  for {
    (keys, count) <- Seq((1, 3000), (5, 3000), (2000, 4000))
    shuffled <- Seq(false, true)
  } test(
    s"memory refused at each request: $keys keys, ${if (shuffled) "shuffled" else "ordered"}"
  ) {
    val plain = rows(count, keys, shuffled)
    val (_, requests, _) = FakeTask.run(spark.sparkContext, refused = 0)(run(plain, Int.MaxValue))
    assert(requests > 3, "vacuous: hardly anything is requested")
    var answered = 0
    for (refused <- 1 to requests) withClue(s"request $refused of $requests") {
      val (found, _, held) = FakeTask.run(spark.sparkContext, refused) {
        try Some(run(plain, Int.MaxValue))
        catch { case _: SparkOutOfMemoryError => None } // of Spark's own sorter
      }
      found.foreach(assertOrdered(_, plain))
      answered += found.size
      assert(held == 0, "bytes held")
    }
    assert(answered >= requests - 1, "tasks that failed")
  }

  /** Each row's order is one of a few, and its text is its number of arrival. */
  private def tied(count: Int, keys: Int): Seq[Plain] = {
    val random = new Random(count)
    (0 until count).map(i => (random.nextInt(keys).toLong, random.nextInt(7).toLong, f"$i%05d"))
  }

  private def assertByArrival(found: Seq[Plain]): Unit =
    found.groupBy(r => (r._1, r._2)).values.foreach(rows => assert(rows == rows.sortBy(_._3)))

  for ((keys, count) <- Seq((1, 3000), (5, 3000), (2000, 12000)))
    test(s"rows that tie go out as they arrived, whichever request is refused: $keys keys") {
      val plain = tied(count, keys)
      val (_, requests, _) =
        FakeTask.run(spark.sparkContext, refused = 0)(run(plain, Int.MaxValue))
      for (refused <- 0 to requests) withClue(s"request $refused of $requests") {
        val (found, _, _) = FakeTask.run(spark.sparkContext, refused) {
          try Some(run(plain, Int.MaxValue))
          catch { case _: SparkOutOfMemoryError => None } // of Spark's own sorter
        }
        found.foreach { rows =>
          assertOrdered(rows, plain)
          assertByArrival(rows)
        }
      }
    }

  test("rows that tie leave Spark's sorter as they arrived, when it has spilled, too") {
    val plain = tied(20000, 3)
    val conf = SparkEnv.get.conf
    val threshold = "spark.shuffle.spill.numElementsForceSpillThreshold"
    conf.set(threshold, "1500")
    val ((found, spilled), _, _) =
      try
        FakeTask.run(spark.sparkContext, refused = 0) {
          val sorter = new StableSorter(program.whole)
          arriving(plain.iterator).foreach(r => sorter.insert(r.asInstanceOf[UnsafeRow]))
          (sorter.sorted().map(plainOf).toSeq, TaskContext.get().taskMetrics().diskBytesSpilled)
        }
      finally conf.remove(threshold)
    assert(spilled > 0, "vacuous: nothing was spilled")
    assert(found == plain.sortBy(r => (r._1, r._2)))
  }

  for (shuffled <- Seq(false, true))
    test(
      s"a task that stops early gives back every page: ${if (shuffled) "shuffled" else "ordered"}"
    ) {
      for ((keys, count) <- Seq((1, 3000), (5, 3000), (2000, 4000)); taken <- Seq(0, 1, 700)) {
        val (found, _, held) =
          FakeTask.run(spark.sparkContext, refused = 0)(run(rows(count, keys, shuffled), taken))
        assert(found.length == taken && held == 0)
      }
    }

  for (shuffled <- Seq(false, true))
    test(s"a task that is killed hands out no row: ${if (shuffled) "shuffled" else "ordered"}") {
      val (_, _, held) = FakeTask.run(spark.sparkContext, refused = 0) {
        val ordered = step().ordered(arriving(rows(3000, 5, shuffled).iterator))
        (1 to 100).foreach(_ => ordered.next())
        FakeTask.kill()
        assertThrows[TaskKilledException](ordered.next())
      }
      assert(held == 0)
    }

  for {
    keys <- Seq(1, 5, 1000, 30000)
    shuffled <- Seq(false, true)
    // before and after the array of pointers doubles, in which Spark's sort keeps all rows
    (count, spread, atOnce) <- Seq((87000, 1.1, 1.35), (88000, 1.0, 1.05))
    most = if (keys == 1 && shuffled) atOnce else spread
  } test(
    s"peak memory of $count ${if (shuffled) "shuffled" else "ordered"} rows of $keys keys is at " +
      s"most $most of that of Spark's sort"
  ) {
    val plain = rows(count, keys, shuffled)
    val metrics = OrderMetrics.create(spark.sparkContext)
    FakeTask.run(spark.sparkContext, refused = 0) {
      new OrderTask(program, metrics)
        .ordered(arriving(plain.iterator))
        .foreach(_ => ())
    }
    val (sparks, _, _) = FakeTask.run(spark.sparkContext, refused = 0) {
      val sorter = program.whole.sorter(() => program.whole.recordComparator)
      arriving(plain.iterator).foreach(r => sorter.insertRow(r.asInstanceOf[UnsafeRow]))
      sorter.sort().foreach(_ => ())
      sorter.getPeakMemoryUsage
    }
    assert(metrics.byName("tasksSortedBySpark").value == 0, "vacuous: Spark sorted")
    val peak = metrics.byName("peakMemory").value
    assert(peak > 0 && peak <= most * sparks)
  }

  test("a task whose input fails gives back every page") {
    val (_, _, held) = FakeTask.run(spark.sparkContext, refused = 0) {
      val failing = Iterator.tabulate(2000) { i =>
        if (i == 1500) throw new IllegalStateException("killed")
        (i % 3L, -i.toLong, "x")
      }
      assertThrows[IllegalStateException](step().ordered(arriving(failing)))
    }
    assert(held == 0)
  }
}
