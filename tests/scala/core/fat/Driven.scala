package io.sash.core.fat

import io.sash.core.{Element, Operation, Step, TestColumn}
import io.sash.core.inorder.InOrderWindow
import io.sash.core.slots.Partials

/** A window over a test column, beside a plain model of its content. */
final class Driven[A, W <: InOrderWindow](val operation: Operation[A], make: Partials => W) {
  import Step._

  val window: W = make(TestColumn(operation))

  private var opened = Vector.empty[Element]
  private var arrivals = 0

  /** The expected elements of the window, with their arrival numbers. */
  var held: Vector[(Long, Element)] = Vector.empty
  private var inserted = 0L

  def column: TestColumn[A] = window.column.asInstanceOf[TestColumn[A]]

  def query(): A = column(window.query())

  /** The expected aggregate of the youngest `last` elements. */
  def expected(last: Int): A = operation.aggregate(held.takeRight(last).map(_._2))

  /** Whether three slots satisfy the definition of an interval. */
  def isCombined(slot: Int, left: Int, right: Int): Boolean =
    column(slot) == operation.combine(column(left), column(right))

  def removed(arrival: Long): Unit = held = held.filter(_._1 != arrival)

  /** Runs a step if the state allows it. */
  def run(step: Step): Unit = step match {
    case Open(value) =>
      val element = Element(value, arrivals)
      column.lift(window.open(), element)
      opened :+= element
      arrivals += 1
    case Insert if opened.nonEmpty =>
      window.insert()
      held :+= ((inserted, opened.head))
      opened = opened.tail
      inserted += 1
    case Evict if held.nonEmpty =>
      window.evict()
      held = held.tail
    case Clear =>
      window.clear()
      opened = Vector.empty
      held = Vector.empty
    case Relocate => window.relocate(_ => column.moved())
    case _        => ()
  }

  /** How the window differs from the model, if it does. */
  def disagreement(step: Step): Option[String] =
    if (window.size != held.size) {
      Some(s"size ${window.size}, not ${held.size}")
    } else if (step == Query || step == Clear || held.isEmpty) {
      // the second query must not see traces of the first
      Seq(query(), query())
        .find(_ != expected(held.size))
        .map(a => s"$a, not ${expected(held.size)}")
    } else {
      None
    }
}
