package io.sash.spark.slices

import org.apache.spark.TaskContext
import org.apache.spark.sash.FakeTask
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types.LongType

import io.sash.spark.SashSuite
import io.sash.spark.base.Metrics

/** The slots of a task's slices, with memory and without. */
final class SliceSlotsSuite extends SashSuite {
  private val keys = 3000L

  /** Each key has a slice from 10 to 19. */
  private def index: SliceIndex = {
    val rows = (0L until keys).map(k => InternalRow(k, 10L, 19L, true))
    val Array(table, starts, ofKeys) = new SliceIndexBuilder(Seq(LongType), 1 << 20)
      .build(rows.iterator)
      .map(_.asInstanceOf[UnsafeRow])
    new SliceIndex(table, starts, ofKeys)
  }

  private def slotsOf(
      index: SliceIndex,
      metrics: Metrics,
      combining: Boolean = true,
      eventsInTask: Long = 0
  ) = {
    val how = SliceSlots.Combining(16, leastEvents = 1.25, eventsInTask)
    new SliceSlots(index, 1, Option.when(combining)(how), TaskContext.get(), metrics)
  }

  /** The slots that the events of all keys get, twice. */
  private def placed(refused: Int) =
    FakeTask.run(spark.sparkContext, refused) {
      val metrics = SliceMetrics.create(spark.sparkContext)
      val slots = slotsOf(index, metrics)
      def all(time: Long) = (0L until keys).map { k =>
        val slot = slots.slotOf(k, time)
        (slot, slots.begins)
      }
      val rounds = (all(12), all(15), all(9) ++ all(20))
      val kept = Iterator.continually(slots.next()).takeWhile(_ > 0).toSeq.map { slot =>
        (slot, slots.numberOf(slot), slots.timeOf(slot))
      }
      slots.close()
      (rounds, kept, metrics.byName.map { case (name, m) => name -> m.value })
    }

  test("each slice has a slot, from its first event on") {
    val (((first, second, outside), kept, counts), _, held) = placed(refused = 0)
    assert(first == (1 to keys.toInt).map(_ -> true))
    assert(second == (1 to keys.toInt).map(_ -> false))
    assert(outside.forall(_._1 == -1))
    assert(kept == (1 to keys.toInt).map(slot => (slot, slot - 1L, 12L)))
    assert(counts("events") == 4 * keys && counts("dropped") == 2 * keys)
    assert(counts("numOutputRows") == keys && counts("single") == 0 && held == 0)
  }

  test("the key NULL of numbers has slices of its own, beside the key 0") {
    val ((found, ofNull, dropped), _, _) = FakeTask.run(spark.sparkContext, refused = 0) {
      val labels = Iterator(InternalRow(0L, 10L, 19L, true), InternalRow(null, 30L, 39L, true))
      val metrics = SliceMetrics.create(spark.sparkContext)
      val of = SliceIndex(new SliceIndexBuilder(Seq(LongType), 1 << 20).build(labels))
      val slots = slotsOf(of, metrics)
      val found = Seq(
        slots.slotOf(0L, 12L),
        slots.slotOfNull(12L),
        slots.slotOf(0L, 32L),
        slots.slotOfNull(32L)
      )
      val ofNull = Iterator.continually(slots.next()).takeWhile(_ > 0).map(slots.isOfNull).toSeq
      slots.close()
      (found, ofNull, metrics.byName("dropped").value)
    }
    assert(found == Seq(1, -1, -1, 2) && ofNull == Seq(false, true) && dropped == 2)
  }

  for (refused <- 1 to 4) test(s"request $refused for memory is refused") {
    val (((first, second, outside), kept, counts), requests, held) = placed(refused)
    assert(requests >= refused && held == 0)
    // where look-ups rest, events of no label pass
    assert(outside.forall(_._1 <= 0))
    // the slices that have a slot keep it, and the events of the others are alone
    for (((a, begins), (b, goesOn)) <- first.zip(second)) {
      assert(a == b && begins && goesOn == (a == 0))
    }
    assert(first.exists(_._1 == 0) && kept.map(_._1) == first.map(_._1).filter(_ > 0))
    assert(counts("single") == first.count(_._1 == 0) * 2 + outside.count(_._1 == 0))
    assert(counts("numOutputRows") == kept.length + counts("single"))
  }

  for ((eventsInTask, pay) <- Seq(0L -> false, 3000000L -> true))
    test(s"slots of one event each, of $eventsInTask in a task: they pay: $pay") {
      val many = 1 << 20
      val rows = Iterator.range(0, many).map(k => InternalRow(k.toLong, 10L, 19L, true))
      val (counts, _, _) = FakeTask.run(spark.sparkContext, refused = 0) {
        val of = SliceIndex(new SliceIndexBuilder(Seq(LongType), 1L << 30).build(rows))
        val metrics = SliceMetrics.create(spark.sparkContext)
        val slots = slotsOf(of, metrics, eventsInTask = eventsInTask)
        (0L until many / 2L).foreach(slots.slotOf(_, 11L))
        slots.close()
        metrics.byName.map { case (name, m) => name -> m.value }
      }
      // each key has a slice, and one without an end
      if (pay) assert(counts("single") == 0, counts)
      else assert(counts("slices") < many / 4 && counts("single") > many / 4, counts)
    }

  test("where slots do not pay, most events pass without a look") {
    val (found, _, _) = FakeTask.run(spark.sparkContext, refused = 0) {
      val metrics = SliceMetrics.create(spark.sparkContext)
      val slots = slotsOf(index, metrics, combining = false)
      val held = (1 to 100 * 4096).count(_ => slots.slotOf(1L, 12L) == 0)
      val others = (1 to 100 * 4096).count(_ => slots.slotOf(1L, 20L) == 0)
      slots.close()
      (held, others, metrics.byName("dropped").value)
    }
    val (held, others, dropped) = found
    assert(held == 100 * 4096 && others + dropped == 100 * 4096)
    assert(others > 4096 && others < 20 * 4096, others)
  }
}
