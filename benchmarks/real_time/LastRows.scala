package io.sash.benchmarks

import java.sql.Timestamp

import scala.collection.mutable

import org.apache.spark.sql.{DataFrame, Encoders}
import org.apache.spark.sql.streaming._

/** A row of the stream: when the broker took it, its key, its event time and a value. */
final case class Row(sent: Long, k: Int, t: Timestamp, x: Int)

/** The sum over the last rows of the key. */
final case class Answer(sent: Long, s: Long)

/**
 * The window as most people write it: a list of the last rows. In real-time mode each row is a
 * call of its own, which reads, adds up and writes the whole list.
 */
final class SumOfList(n: Int) extends StatefulProcessor[Int, Row, Answer] {
  @transient private[this] var last: ListState[Int] = _

  override def init(outputMode: OutputMode, timeMode: TimeMode): Unit =
    last = getHandle.getListState("last", Encoders.scalaInt, TTLConfig.NONE)

  override def handleInputRows(
      key: Int,
      rows: Iterator[Row],
      timers: TimerValues
  ): Iterator[Answer] = {
    val kept = mutable.Queue.from(last.get())
    var sum = kept.foldLeft(0L)(_ + _)
    val answers = rows.map { row =>
      kept += row.x
      sum += row.x
      if (kept.size > n) sum -= kept.dequeue()
      Answer(row.sent, sum)
    }.toVector
    last.put(kept.toArray)
    answers.iterator
  }
}

/** The best that one writes by hand, for sums alone: the value that leaves is subtracted. */
final class SumOfRing(n: Int) extends StatefulProcessor[Int, Row, Answer] {
  @transient private[this] var total: ValueState[(Long, Long)] = _ // the rows so far, their sum
  @transient private[this] var ring: MapState[Int, Int] = _

  override def init(outputMode: OutputMode, timeMode: TimeMode): Unit = {
    val pair = Encoders.tuple(Encoders.scalaLong, Encoders.scalaLong)
    total = getHandle.getValueState("total", pair, TTLConfig.NONE)
    ring = getHandle.getMapState("ring", Encoders.scalaInt, Encoders.scalaInt, TTLConfig.NONE)
  }

  override def handleInputRows(
      key: Int,
      rows: Iterator[Row],
      timers: TimerValues
  ): Iterator[Answer] = rows.map { row =>
    val (count, sum) = if (total.exists()) total.get() else (0L, 0L)
    val place = (count % n).toInt
    val now = sum + row.x - (if (count < n) 0 else ring.getValue(place))
    ring.updateValue(place, row.x)
    total.update((count + 1, now))
    Answer(row.sent, now)
  }
}

/** The queries, for Python. */
object LastRows {

  def list(rows: DataFrame, n: Int): DataFrame = answers(rows, new SumOfList(n))

  def ring(rows: DataFrame, n: Int): DataFrame = answers(rows, new SumOfRing(n))

  private def answers(
      rows: DataFrame,
      processor: StatefulProcessor[Int, Row, Answer]
  ): DataFrame =
    rows
      .as(Encoders.product[Row])
      .groupByKey(_.k)(Encoders.scalaInt)
      .transformWithState(processor, TimeMode.None(), OutputMode.Update())(
        Encoders.product[Answer]
      )
      .toDF()
}
