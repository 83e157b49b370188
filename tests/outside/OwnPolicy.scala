package elsewhere

import scala.collection.mutable

import io.sash.core.algebra.Aggregation
import io.sash.core.inorder.SlickDequeInv
import io.sash.papers.algebra.{Both, Max, Sum}
import io.sash.papers.fiba.Fiba
import io.sash.papers.inorder.TwoStacksLite
import io.sash.papers.policy.{MovableWindow, OrderedPolicy, WindowByPolicy, WindowPolicy}

/** Triggers when a minute is over, whose elements then leave. */
final class Minutes extends OrderedPolicy {
  private[this] var minute = 0L

  override protected def move(seconds: Long, window: MovableWindow): Unit =
    if (window.size > 0 && seconds / 60 > minute) {
      window.trigger()
      window.evictAll()
    }

  override def entered(seconds: Long, window: MovableWindow): Unit = minute = seconds / 60
}

/** At most `most` elements, and an answer at each. */
final class Latest(most: Int) extends WindowPolicy {
  override def arrive(attribute: Long, window: MovableWindow): Unit =
    if (window.size == most) window.evict()
  override def entered(attribute: Long, window: MovableWindow): Unit = window.trigger()
}

object Longest extends Aggregation[String, String, Int] {
  override def identity: String = ""
  override def lift(in: String): String = in
  override def combine(older: String, younger: String): String =
    if (younger.length > older.length) younger else older
  override def lower(agg: String): Int = agg.length
}

/** A user of the library, in Scala: operations, windows and policies, some of them its own. */
object OwnPolicy extends App {
  agree(answers(new Minutes), Seq(6L, 4L))
  agree(answers(new Latest(2)), Seq(1L, 3L, 5L, 7L))
  agree(values(), (6, 6L))
  agree(byTime(), 9.0)

  /** What is triggered by 1, 2, 3 in the first minute, 4 in the second, and the end. */
  private def answers(policy: WindowPolicy): Seq[Long] = {
    val column = Sum[Long].newColumn()
    val answers = mutable.Buffer.empty[Long]
    val window =
      new WindowByPolicy(new SlickDequeInv(column), policy, slot => answers += column.lower(slot))
    for ((seconds, value) <- Seq((0L, 1L), (20L, 2L), (59L, 3L), (61L, 4L))) {
      column.lift(window.arrive(seconds), value)
      window.insert()
    }
    window.punctuate(Long.MaxValue)
    answers.toSeq
  }

  private def values(): (Int, Long) = {
    val window = TwoStacksLite(Both(Longest, Sum[Long].on((s: String) => s.length.toLong)))
    Seq("sash", "window").foreach(window.insert)
    window.evict()
    window.query()
  }

  private def byTime(): Double = {
    val window = Fiba(Max[Double])
    window.bulkInsert(Array(1L, 2L, 3L), Array(9.0, 4.0, 7.0))
    window.query()
  }

  private def agree(answer: Any, expected: Any): Unit =
    if (answer != expected) throw new AssertionError(s"$answer, not $expected")
}
