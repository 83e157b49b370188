package io.sash.spark.monoids

import org.apache.spark.sql.catalyst.expressions.Attribute

import io.sash.core.elements.InOrderWindow
import io.sash.core.fat.BaseIntervals
import io.sash.core.inorder.{
  PrefixAggregates,
  Recalculate,
  GrowingWindow,
  SlickDequeInv,
  SlickDequeInvRanges,
  SlickDequeNonInv,
  TwoStacksLite
}
import io.sash.core.shared.{SharedWindows, SuffixWindows}
import io.sash.spark.base.AlgorithmIds
import io.sash.spark.slots.{SlotColumns, SlotProgram}

/**
 * An algorithm that the operator can run. The companion chooses one for each aggregate.
 *
 * @param id its name in `spark.sash.window.algorithm`
 * @param title its name in the literature, which EXPLAIN shows
 */
private[sash] sealed abstract class Algorithm(val id: String, val title: String)
    extends Serializable {

  /** Whether the monoid has the operations that the algorithm needs. */
  def accepts(monoid: AggregateMonoid): Boolean

  /** Whether the aggregates of one frame can share a window, as one product monoid. */
  def sharesWindow: Boolean = true

  /** The operations of the monoid that the algorithm calls. */
  def part(monoid: AggregateMonoid, first: Int, result: Int): SlotProgram.Part =
    SlotProgram.Part(
      first,
      monoid.identity,
      monoid.lift,
      combine = monoid.combine,
      results = Seq((result, monoid.lower)),
      running = monoid.running
    )

  /**
   * A program of slots that hold all monoids side by side. The i-th monoid's answer has the
   * ordinal i.
   */
  def program(input: Seq[Attribute], monoids: Seq[AggregateMonoid]): SlotProgram =
    program(input, monoids, monoids.indices.map(Seq(_)))

  /**
   * A program with several ranges of the slots. `ordinals` has, for each monoid, the ordinals of
   * its answers, one per range.
   */
  def program(
      input: Seq[Attribute],
      monoids: Seq[AggregateMonoid],
      ordinals: Seq[Seq[Int]]
  ): SlotProgram = {
    val firsts = monoids.scanLeft(0)(_ + _.left.length)
    val running = monoids.scanLeft(0)(_ + _.running.size)
    val parts = monoids.indices.map { i =>
      part(monoids(i), firsts(i), ordinals(i).head)
        .copy(ranges = ordinals(i).tail.map(Seq(_)))
        .at(running(i))
    }
    SlotProgram(input, monoids.flatMap(_.left), monoids.flatMap(_.right), parts)
  }

  def window(columns: SlotColumns): InOrderWindow

  /** Whether windows that end together can share one store of elements. */
  def sharesElements: Boolean = false

  /**
   * Makes windows that end together over one store of elements. The longest window comes first.
   */
  def windows(columns: SlotColumns, count: Int): SharedWindows =
    throw new UnsupportedOperationException(s"$title shares no elements")
}

/** An algorithm that moves windows over a forest in a stream's state. */
private[sash] sealed trait ForestAlgorithm extends Algorithm {

  /**
   * Whether windows are Two-Stacks over the nodes of a tree. If not, they combine its elements.
   */
  def isOverNodes: Boolean

  /** Whether elements that have left a window are subtracted from its answer. */
  def subtracts: Boolean
}

private[sash] object Algorithm {
  case object TwoStacksLiteAlgorithm
      extends Algorithm(AlgorithmIds.TwoStacksLite, "Two-Stacks Lite")
      with ForestAlgorithm {
    override def isOverNodes: Boolean = true
    override def subtracts: Boolean = false
    override def accepts(monoid: AggregateMonoid): Boolean = monoid.running.isEmpty
    override def window(columns: SlotColumns): InOrderWindow = new TwoStacksLite(columns)
  }

  case object SlickDequeInvAlgorithm
      extends Algorithm(AlgorithmIds.SlickDequeInv, "SlickDeque (Inv)")
      with ForestAlgorithm {
    override def isOverNodes: Boolean = false
    override def subtracts: Boolean = true
    override def accepts(monoid: AggregateMonoid): Boolean = monoid.subtract.nonEmpty
    override def part(monoid: AggregateMonoid, first: Int, result: Int): SlotProgram.Part =
      super.part(monoid, first, result).copy(subtract = monoid.subtract)
    override def window(columns: SlotColumns): InOrderWindow = new SlickDequeInv(columns)
    override def sharesElements: Boolean = true
    override def windows(columns: SlotColumns, count: Int): SharedWindows =
      new SlickDequeInvRanges(columns, count)
  }

  case object SlickDequeNonInvAlgorithm
      extends Algorithm(AlgorithmIds.SlickDequeNonInv, "SlickDeque (Non-Inv)") {
    override def accepts(monoid: AggregateMonoid): Boolean = monoid.selectsRight.nonEmpty
    override def sharesWindow: Boolean = false
    override def part(monoid: AggregateMonoid, first: Int, result: Int): SlotProgram.Part =
      super
        .part(monoid, first, result)
        .copy(combine = Nil, selectsRight = monoid.selectsRight)
    override def window(columns: SlotColumns): InOrderWindow = new SlickDequeNonInv(columns)
    override def sharesElements: Boolean = true
    override def windows(columns: SlotColumns, count: Int): SharedWindows =
      new SuffixWindows(new SlickDequeNonInv(columns), count)
  }

  case object RecalculateAlgorithm
      extends Algorithm(AlgorithmIds.Recalculate, "Recalculate")
      with ForestAlgorithm {
    override def isOverNodes: Boolean = false
    override def subtracts: Boolean = false
    override def accepts(monoid: AggregateMonoid): Boolean = true
    override def window(columns: SlotColumns): InOrderWindow =
      new Recalculate(columns, fromIdentity = true)
  }

  case object BaseIntervalsAlgorithm extends Algorithm(AlgorithmIds.BaseIntervals, "B-Int") {
    override def accepts(monoid: AggregateMonoid): Boolean = monoid.running.isEmpty
    override def window(columns: SlotColumns): InOrderWindow = new BaseIntervals(columns)
  }

  /** Its elements leave from anywhere, so it makes no in-order window. */
  case object MemberTreeAlgorithm extends Algorithm("member-tree", "FlatFAT") {
    override def accepts(monoid: AggregateMonoid): Boolean = monoid.running.isEmpty
    override def window(columns: SlotColumns): InOrderWindow =
      throw new UnsupportedOperationException(s"$title is no window of elements in order")
  }

  case object GrowingWindowAlgorithm extends Algorithm("growing-window", "Growing window") {
    override def accepts(monoid: AggregateMonoid): Boolean =
      monoid.running.forall(_.isIncremental)
    override def window(columns: SlotColumns): InOrderWindow =
      new GrowingWindow(columns, fromIdentity = true)
  }

  case object PrefixAggregatesAlgorithm
      extends Algorithm("prefix-aggregates", "Prefix aggregates") {
    override def accepts(monoid: AggregateMonoid): Boolean = monoid.hasPrefixes
    override def part(monoid: AggregateMonoid, first: Int, result: Int): SlotProgram.Part =
      super.part(monoid, first, result).copy(subtract = monoid.subtract)
    override def window(columns: SlotColumns): InOrderWindow = new PrefixAggregates(columns)
  }

  val Auto: String = AlgorithmIds.Auto

  /** The algorithms that the setting names. */
  def All: Seq[Algorithm] = Place.Ring.cascade

  /**
   * The algorithm that runs these aggregates side by side: the forced one if the place has it and
   * accepts it for all of them. Otherwise it is the first one in the cascade that is accepted.
   */
  def choose[A <: Algorithm](
      monoids: Seq[AggregateMonoid],
      forced: String,
      place: Place[A]
  ): A = {
    val able = place.cascade.filter { a =>
      (monoids.length == 1 || a.sharesWindow) && monoids.forall(place.accepts(a, _))
    }
    able.find(_.id == forced).getOrElse(able.head)
  }

  def choose[A <: Algorithm](monoid: AggregateMonoid, forced: String, place: Place[A]): A =
    choose(Seq(monoid), forced, place)
}
