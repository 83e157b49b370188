package io.sash.core

/** A window over a test column, driven by values, as a user of the core would drive it. */
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

  def insert(element: Element): Unit = {
    open(element)
    window.insert()
  }

  def query(): A = column(window.query())

  /** What `body` calls of combine, subtract and selectsRight. */
  def cost(body: => Unit): Long = {
    val before = column.operations
    body
    column.operations - before
  }
}

/** An algorithm of the matrix: how to make its window, where the operation has what it needs. */
sealed abstract class WindowAlgorithm(val name: String) {
  def accepts(operation: Operation[_]): Boolean
  def window(column: Partials): InOrderWindow
  override def toString: String = name
}

object WindowAlgorithm {
  object NaiveWindow extends WindowAlgorithm("Recalculate") {
    override def accepts(operation: Operation[_]): Boolean = true
    override def window(column: Partials): InOrderWindow = new Recalculate(column)
  }

  object TwoStacks extends WindowAlgorithm("Two-Stacks Lite") {
    override def accepts(operation: Operation[_]): Boolean = true
    override def window(column: Partials): InOrderWindow = new TwoStacksLite(column)
  }

  object SlickInv extends WindowAlgorithm("SlickDeque (Inv)") {
    override def accepts(operation: Operation[_]): Boolean = operation.isInstanceOf[HasInverse[_]]
    override def window(column: Partials): InOrderWindow = column match {
      case c: Invertible => new SlickDequeInv(c)
      case _             => throw new IllegalArgumentException("the column has no inverse")
    }
  }

  object SlickNonInv extends WindowAlgorithm("SlickDeque (Non-Inv)") {
    override def accepts(operation: Operation[_]): Boolean =
      operation.isInstanceOf[PicksOperand[_]]
    override def window(column: Partials): InOrderWindow = column match {
      case c: Selective => new SlickDequeNonInv(c)
      case _            => throw new IllegalArgumentException("the column does not pick")
    }
  }

  val All: Seq[WindowAlgorithm] = Seq(NaiveWindow, TwoStacks, SlickInv, SlickNonInv)
}
