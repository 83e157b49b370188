package elsewhere

import java.nio.ByteBuffer

import scala.collection.mutable

import io.sash.core.elements.InOrderWindow
import io.sash.core.slots.Bytes
import io.sash.core.stored.KeyValueStore
import io.sash.papers.algebra._
import io.sash.papers.elements.BulkEviction
import io.sash.papers.fat.{BaseIntervals, ReactiveAggregator}
import io.sash.papers.fiba.Fiba
import io.sash.papers.inorder.{DabaLite, SlickDequeInv, SlickDequeNonInv, TwoStacksLite}
import io.sash.papers.mta.Amta
import io.sash.papers.policy.{CountPolicy, TimePolicy, ValuesByPolicy}
import io.sash.papers.stored.KvsAmta

/** A program of an outsider for each ability of a window. `EachAbilityInJava` is the same. */
object EachAbility extends App {
  final case class Trade(price: BigDecimal, amount: Float)
  final case class Summary(turnover: BigDecimal, amount: Double, trades: Long)

  bulkEviction()
  eviction()
  removal()
  ranges()
  policies()
  maps()
  functions()
  sums()
  fields()
  iteration()
  snapshots()
  stored()

  /** Works for every window that evicts in bulk, and for no other. */
  def halve(window: Window[Long, Long, InOrderWindow with BulkEviction]): Unit =
    window.algorithm.evict(window.size / 2)

  private def bulkEviction(): Unit = {
    val window = Amta(Sum[Long])
    (1L to 10L).foreach(window.insert)
    halve(window)
    agree(window.query(), 6L + 7 + 8 + 9 + 10)
  }

  private def eviction(): Unit = {
    val window = Amta(Sum[Long])
    (1L to 10L).foreach(window.insert)
    window.algorithm.evict((all, oldest) => window.answer(all) - window.answer(oldest) >= 20L)
    agree(window.size -> window.query(), 3 -> 27L)
  }

  private def removal(): Unit = {
    val window = ReactiveAggregator(Max[Double])
    Seq(3.0, 9.0, 4.0).foreach(window.insert)
    window.algorithm.remove(1L)
    agree(window.query(), 4.0)
    val byTime = Fiba(Max[Double])
    byTime.bulkInsert(Array(10L, 20L, 30L), Array(3.0, 9.0, 4.0))
    byTime.remove(20L)
    agree(byTime.query(), 4.0)
  }

  private def ranges(): Unit = {
    val any = BaseIntervals(Concatenate)
    val latest = SlickDequeNonInv(Max.of[String])
    Seq("c", "a", "b").foreach { letter =>
      any.insert(letter)
      latest.insert(letter)
    }
    agree(any.answer(any.algorithm.range(0, 2)), "ca")
    agree(latest.answer(latest.algorithm.query(2)), Some("b"))
  }

  private def policies(): Unit = {
    val answers = mutable.Buffer.empty[Long]
    val time = new TimePolicy(range = 9, slide = 10)
    val window = new ValuesByPolicy(DabaLite(Sum[Long]), time, (sum: Long) => answers += sum)
    for (second <- Seq(1L, 5L, 12L, 31L)) window.insert(second, second)
    window.punctuate(Long.MaxValue)
    agree(answers.toSeq, Seq(6L, 12L, 31L))
    val count = new CountPolicy(2, 2)
    val late = new ValuesByPolicy(Fiba(Sum[Long]), count, (sum: Long) => answers += sum)
    Seq(3L, 1L).foreach(t => late.insert(t, t))
    agree(answers.last, 4L)
  }

  private def maps(): Unit = {
    val window = SlickDequeNonInv(Max[Double].map(celsius => s"${celsius * 1.8 + 32} °F"))
    Seq(10.0, 20.0, 15.0).foreach(window.insert)
    agree(window.query(), "68.0 °F")
  }

  private def functions(): Unit = {
    val longest = OfFunctions("")(
      (word: String) => word,
      (older, younger) => if (younger.length > older.length) younger else older,
      word => word.length
    )
    val window = TwoStacksLite(longest)
    Seq("sash", "window", "slides").foreach(window.insert)
    agree(window.query(), 6)
  }

  private def sums(): Unit = {
    val floats = TwoStacksLite(Sum[Float])
    Seq(1e8f, 1f, 1f).foreach(floats.insert)
    agree(floats.query(), 100000002.0)
    val decimals = SlickDequeInv(Sum[BigDecimal])
    Seq("0.1", "0.2", "0.3").foreach(text => decimals.insert(BigDecimal(text)))
    decimals.evict()
    agree(decimals.query(), BigDecimal("0.5"))
  }

  private def fields(): Unit = {
    val trades = SlickDequeInv(Sum[BigDecimal].on((t: Trade) => t.price))
    val all = TwoStacksLite(
      Fields(
        Sum[BigDecimal].on((t: Trade) => t.price * BigDecimal(t.amount.toDouble)),
        Sum[Float].on((t: Trade) => t.amount),
        Count[Trade]
      )(Summary)
    )
    for (trade <- Seq(Trade(2, 1.5f), Trade(3, 2f))) {
      trades.insert(trade)
      all.insert(trade)
    }
    agree(trades.query(), BigDecimal(5))
    agree(all.query(), Summary(turnover = 9, amount = 3.5, trades = 2))
  }

  private def iteration(): Unit = {
    val window = SlickDequeInv(Sum[Long])
    Seq(3L, 1L, 4L).foreach(window.insert)
    val each = (0 until window.size).map(i => window.answer(window.algorithm.element(i)))
    agree(each, Seq(3L, 1L, 4L))
    val byTime = Fiba(Concatenate)
    byTime.bulkInsert(Array(1L, 2L), Array("a", "b"))
    var seen = ""
    byTime.foreach((time, letter) => seen += s"$time$letter")
    agree(seen, "1a2b")
  }

  private def snapshots(): Unit = {
    val window = SlickDequeInv(Sum[Long])
    Seq(3L, 1L, 4L).foreach(window.insert)
    val saved = Snapshot.of(window)
    window.clear()
    val again = TwoStacksLite(Sum[Long])
    Snapshot.restore(again, saved)
    again.evict()
    agree(again.query(), 5L)
  }

  private def stored(): Unit = {
    val nodes = mutable.Map.empty[(Int, Long), Array[Byte]]
    object Nodes extends KeyValueStore {
      override def put(level: Int, first: Long, values: Array[Array[Byte]]): Unit =
        values.indices.foreach(i => nodes.put((level, first + i), values(i)))
      override def get(level: Int, first: Long, count: Int): Array[Array[Byte]] =
        Array.tabulate(count)(i => nodes((level, first + i)))
      override def remove(level: Int, from: Long, until: Long): Unit =
        (from until until).foreach(number => nodes.remove((level, number)))
    }
    val window = KvsAmta(Max[Long], Nodes)
    (1L to 1000L).foreach(window.insert)
    window.algorithm.evict(900)
    val header = new Bytes
    window.algorithm.write(header)
    val again = KvsAmta(Max[Long], Nodes)
    again.algorithm.read(ByteBuffer.wrap(header.toArray))
    agree(again.size -> again.query(), 100 -> 1000L)
  }

  private def agree(answer: Any, expected: Any): Unit =
    if (answer != expected) throw new AssertionError(s"$answer, not $expected")
}
