package io.sash.papers.shared

import java.util.Arrays

/**
 * An aggregate continuous query: the aggregate of the last `range` positions, answered every
 * `slide` positions. A position is the number of a tuple, from 1, or a time.
 */
final case class ContinuousQuery(range: Long, slide: Long) {
  if (range < 1 || slide < 1) {
    throw new IllegalArgumentException(s"range $range and slide $slide must be at least 1")
  }

  /** How far before a multiple of the slide a window starts. */
  private[shared] def overhang: Long = range % slide
}

/**
 * Partial aggregation: cuts a stream so that each window consists of whole partials. Cuts are
 * offsets in (0, slide] and repeat with the slide.
 *
 * Paper: ''SlickDeque'', section 2.1.
 */
sealed abstract class SliceRule(override val toString: String) {
  private[shared] def cuts(query: ContinuousQuery): Seq[Long]
}

object SliceRule {

  /** Equal panes, as long as the greatest common divisor of range and slide. */
  case object Panes extends SliceRule("Panes") {
    override private[shared] def cuts(query: ContinuousQuery): Seq[Long] = {
      val pane = gcd(query.range, query.slide)
      LazyList.iterate(pane)(_ + pane).takeWhile(_ <= query.slide)
    }
  }

  /** Two fragments a slide, of lengths slide - range % slide and range % slide. */
  case object Pairs extends SliceRule("Pairs") {
    override private[shared] def cuts(query: ContinuousQuery): Seq[Long] =
      Seq(query.slide - query.overhang, query.slide).distinct
  }

  /** One cut in each slide, where windows begin. A window may end within a partial. */
  case object Cutty extends SliceRule("Cutty") {
    override private[shared] def cuts(query: ContinuousQuery): Seq[Long] =
      Seq(query.slide - query.overhang)
  }

  private[shared] def gcd(a: Long, b: Long): Long = if (b == 0) a else gcd(b, a % b)
}

/**
 * The plan that several queries over one stream share. The composite slide is the least common
 * multiple of their slides. The plan says at which offsets in it the stream is cut, and which
 * queries are due.
 *
 * Cost: time and space for each stop in the composite slide. There are at most a million stops.
 *
 * Paper: ''SlickDeque'', sections 2.1 and 2.3.
 */
final class SharedPlan(val queries: IndexedSeq[ContinuousQuery], val slicing: SliceRule) {
  if (queries.isEmpty) throw new IllegalArgumentException("a shared plan needs a query")

  val compositeSlide: Long = queries.map(_.slide).foldLeft(1L) { (multiple, slide) =>
    try Math.multiplyExact(multiple / SliceRule.gcd(multiple, slide), slide)
    catch { case _: ArithmeticException => throw tooMany() }
  }

  private val cuts = offsets(slicing.cuts)
  private val stops = (cuts ++ offsets(q => Seq(q.slide))).distinct.sorted.toArray
  private val cutting = stops.map(cuts.toSet)

  private val due = stops.map { stop =>
    queries.indices.filter(i => stop % queries(i).slide == 0).sortBy(-queries(_).range).toArray
  }

  /** The number of partials in a composite slide. */
  def partials: Int = cuts.size

  /** The number of stops in a composite slide: cuts, and positions at which a query is due. */
  private[shared] def length: Int = stops.length

  /** The position of the i-th stop. Stop 0 is the first stop after position 0. */
  private[shared] def position(i: Long): Long =
    Math.floorDiv(i, length) * compositeSlide + stops(Math.floorMod(i, length))

  private[shared] def cutsAt(i: Long): Boolean = cutting(Math.floorMod(i, length))

  /** The queries that are due at the i-th stop, longest range first. */
  private[shared] def dueAt(i: Long): Array[Int] = due(Math.floorMod(i, length))

  /** The first stop at this position or after it. */
  private[shared] def stopAt(position: Long): Long = {
    val slides = Math.floorDiv(position - 1, compositeSlide)
    val found = Arrays.binarySearch(stops, position - slides * compositeSlide)
    slides * length + (if (found < 0) -(found + 1) else found)
  }

  /** The position of the last cut before a stop. */
  private[shared] def cutBefore(stop: Long): Long = {
    var i = stop - 1
    while (!cutsAt(i)) i -= 1
    position(i)
  }

  /** The offsets within each query's slide, repeated over the composite slide. */
  private def offsets(within: ContinuousQuery => Seq[Long]): Seq[Long] =
    queries.distinct.flatMap { query =>
      val ofOne = within(query).take(SharedPlan.MostStops + 1)
      val slides = compositeSlide / query.slide
      if (slides > SharedPlan.MostStops / ofOne.size) throw tooMany()
      for (slide <- 0L until slides; offset <- ofOne) yield slide * query.slide + offset
    }.distinct

  private def tooMany(): IllegalArgumentException = {
    val slides = queries.map(_.slide).distinct.mkString(", ")
    new IllegalArgumentException(
      s"slides of $slides share no multiple within ${SharedPlan.MostStops} stops; " +
        "round them, or plan them apart"
    )
  }
}

object SharedPlan {
  private val MostStops = 1000000
}
