package io.sash.papers.mta

import io.sash.core.{Element, Operation}

/** Several aggregates in one window: the product of two operations is an operation. */
final case class Both[A, B](one: Operation[A], other: Operation[B]) extends Operation[(A, B)] {
  override def name: String = s"$one and $other"
  override def identity: (A, B) = (one.identity, other.identity)
  override def lift(element: Element): (A, B) = (one.lift(element), other.lift(element))
  override def combine(older: (A, B), younger: (A, B)): (A, B) =
    (one.combine(older._1, younger._1), other.combine(older._2, younger._2))
}

object Count extends Operation[Int] {
  override def name: String = "Count"
  override def identity: Int = 0
  override def lift(element: Element): Int = 1
  override def combine(older: Int, younger: Int): Int = older + younger
}

/** A part of a stream, with its longest run of increasing values, the oldest of ties. */
final case class Runs(count: Int, first: Element, last: Element, head: Int, tail: Int, best: Run)

final case class Run(length: Int, first: Int) {
  def last: Int = first + length - 1
}

/** LIS, the paper's experiment 3: begin, end and length of the longest increasing run. */
object LongestRun extends Operation[Option[Runs]] {
  override def name: String = "longest increasing run"
  override def identity: Option[Runs] = None
  override def lift(element: Element): Option[Runs] =
    Some(Runs(1, element, element, 1, 1, Run(1, element.arrival)))

  override def combine(older: Option[Runs], younger: Option[Runs]): Option[Runs] =
    (older, younger) match {
      case (Some(l), Some(r)) => Some(joined(l, r))
      case _                  => older.orElse(younger)
    }

  private def joined(l: Runs, r: Runs): Runs = {
    val increases = l.last.value < r.first.value
    val across = Run(l.tail + r.head, l.last.arrival - l.tail + 1)
    val candidates = if (increases) Seq(l.best, across, r.best) else Seq(l.best, r.best)
    Runs(
      count = l.count + r.count,
      first = l.first,
      last = r.last,
      head = if (increases && l.head == l.count) l.count + r.head else l.head,
      tail = if (increases && r.tail == r.count) l.tail + r.count else r.tail,
      best = candidates.maxBy(run => (run.length, -run.first))
    )
  }
}
