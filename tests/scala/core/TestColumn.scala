package io.sash.core

import io.sash.core.slots.{Invertible, Partials, Selective}

/**
 * A column of values for tests. It counts the calls of an algorithm. A slot that nobody has
 * written is poison: using it fails.
 *
 * @param total whether the column promises never to throw; then a test must not make it throw
 */
class TestColumn[A](val operation: Operation[A], override val total: Boolean = false)
    extends Partials {
  private[this] var values = Array.empty[AnyRef]

  protected def read(slot: Int): AnyRef = values(slot)
  protected def write(slot: Int, value: AnyRef): Unit = values(slot) = value

  var combines = 0L
  var subtracts = 0L
  var comparisons = 0L

  /** The number of slot writes, without lifted values. */
  var writes = 0L

  /** The most slots that were asked for since the column last shrank. */
  def capacity: Int = values.length

  def operations: Long = combines + subtracts + comparisons

  /** The number, from 1, of the coming call that throws, `grow` included; 0 for none. */
  var failing = 0

  protected final def mayFail(): Unit =
    if (failing > 0) {
      failing -= 1
      if (failing == 0) throw new TestColumn.Injected
    }

  def lift(slot: Int, element: Element): Unit =
    write(slot, operation.lift(element).asInstanceOf[AnyRef])

  def apply(slot: Int): A = {
    val value = read(slot)
    require(value != null, s"slot $slot was never written")
    value.asInstanceOf[A]
  }

  protected def put(slot: Int, value: A): Unit = {
    writes += 1
    write(slot, value.asInstanceOf[AnyRef])
  }

  override def identity(dst: Int): Unit = put(dst, operation.identity)

  override def combine(dst: Int, left: Int, right: Int): Unit = {
    mayFail()
    combines += 1
    put(dst, operation.combine(this(left), this(right)))
  }

  override def copy(dst: Int, src: Int): Unit = {
    writes += 1
    write(dst, read(src))
  }

  override def grow(slots: Int): Partials = {
    if (slots > values.length) resize(slots)
    this
  }

  override def shrink(slots: Int): Unit = if (slots < values.length) resize(slots)

  /** Resizes. It may fail, like an array that finds no memory. */
  private def resize(slots: Int): Unit = {
    mayFail()
    values = java.util.Arrays.copyOf(values, slots)
  }

  /** A new column with all values of this one. This column is of no use afterwards. */
  def moved(): TestColumn[A] = {
    val other = if (total) new TestColumn(operation, total) else TestColumn(operation)
    other.takeOver(values)
    values = Array.empty
    other
  }

  private def takeOver(from: Array[AnyRef]): Unit = values = from.clone()
}

object TestColumn {

  /** The exception that `failing` injects. */
  final class Injected extends RuntimeException("injected")

  /** A column with exactly the operation's abilities. */
  def apply[A](operation: Operation[A]): TestColumn[A] = operation match {
    case o: HasInverse[A @unchecked]   => invertible(o)
    case o: PicksOperand[A @unchecked] => selective(o)
    case o                             => new TestColumn(o)
  }

  def invertible[A](o: Operation[A] with HasInverse[A]): TestColumn[A] with Invertible =
    new TestColumn[A](o) with Invertible {
      override def subtract(dst: Int, whole: Int, oldest: Int): Unit = {
        mayFail()
        subtracts += 1
        put(dst, o.subtract(this(whole), this(oldest)))
      }
    }

  def selective[A](o: Operation[A] with PicksOperand[A]): TestColumn[A] with Selective =
    new TestColumn[A](o) with Selective {
      override def selectsRight(left: Int, right: Int): Boolean = {
        mayFail()
        comparisons += 1
        o.selectsRight(this(left), this(right))
      }
    }
}
