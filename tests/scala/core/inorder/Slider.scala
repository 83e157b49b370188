package io.sash.core.inorder

import io.sash.core.{Element, HasInverse, Operation, PicksOperand, TestColumn}
import io.sash.core.fat.BaseIntervals
import io.sash.core.slots.{Invertible, Partials, Selective}

/** A window over a test column, driven by values, as a user of the core drives it. */
final class Slider[A](val algorithm: WindowAlgorithm, val operation: Operation[A]) {
  private[this] val initial = TestColumn(operation)
  val window: InOrderWindow = algorithm.window(initial)

  def column: TestColumn[A] = window.column.asInstanceOf[TestColumn[A]]

  /** The slot that was opened for `element`. */
  def open(element: Element): Int = {
    val slot = window.open()
    column.lift(slot, element)
    slot
  }

  def slide(element: Element): Unit = column.lift(window.slide(), element)

  def insert(element: Element): Unit = {
    open(element)
    window.insert()
  }

  def query(): A = column(window.query())

  /** The number of `combine`, `subtract` and `selectsRight` calls that `body` makes. */
  def cost(body: => Unit): Long = {
    val before = column.operations
    body
    column.operations - before
  }
}

/**
 * An algorithm of the matrix. It makes a window if the operation has the ability that it needs.
 */
abstract class WindowAlgorithm(val name: String) {
  def accepts(operation: Operation[_]): Boolean
  def window(column: Partials): InOrderWindow
  override def toString: String = name
}

object WindowAlgorithm {

  /** An algorithm that takes any monoid. */
  class General(name: String, make: Partials => InOrderWindow) extends WindowAlgorithm(name) {
    override def accepts(operation: Operation[_]): Boolean = true
    override def window(column: Partials): InOrderWindow = make(column)
  }

  class WithInverse(name: String, make: Partials with Invertible => InOrderWindow)
      extends WindowAlgorithm(name) {
    override def accepts(operation: Operation[_]): Boolean = operation.isInstanceOf[HasInverse[_]]
    override def window(column: Partials): InOrderWindow = column match {
      case c: Invertible => make(c)
      case _             => throw new IllegalArgumentException("the column has no inverse")
    }
  }

  class Picking(name: String, make: Partials with Selective => InOrderWindow)
      extends WindowAlgorithm(name) {
    override def accepts(operation: Operation[_]): Boolean =
      operation.isInstanceOf[PicksOperand[_]]
    override def window(column: Partials): InOrderWindow = column match {
      case c: Selective => make(c)
      case _            => throw new IllegalArgumentException("the column does not pick")
    }
  }

  object Naive extends General("Recalculate", new Recalculate(_))

  /** No element leaves it, so it is in no list of algorithms. */
  object Growing extends General("Growing window", new GrowingWindow(_))
  object TwoStacksLite extends General("Two-Stacks Lite", new TwoStacksLite(_))
  object SlickInv extends WithInverse("SlickDeque (Inv)", new SlickDequeInv(_))
  object SlickInvRanges
      extends WithInverse("SlickDeque (Inv) over ranges", new SlickDequeInvRanges(_, 3))
  object Prefixes extends WithInverse("Prefix aggregates", new PrefixAggregates(_))
  object SlickNonInv extends Picking("SlickDeque (Non-Inv)", new SlickDequeNonInv(_))

  object BInt extends General("B-Int", new BaseIntervals(_))

  /**
   * Flips over a column that promises never to throw. Tests that make a column throw exclude it.
   */
  object TwoStacksLiteOverTotal
      extends General("Two-Stacks Lite over a total column", c => new TwoStacksLite(total(c)))

  private def total(column: Partials): Partials = column match {
    case c: TestColumn[_] => new TestColumn(c.operation, total = true)
    case other            => throw new IllegalArgumentException(s"$other is no test's column")
  }

  val All: Seq[WindowAlgorithm] = Seq(
    Naive,
    TwoStacksLite,
    BInt,
    SlickInv,
    SlickInvRanges,
    Prefixes,
    SlickNonInv
  )
}
