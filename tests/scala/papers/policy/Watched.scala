package io.sash.papers.policy

import scala.collection.mutable.ArrayBuffer

import io.sash.core.{Element, Operation, TestColumn}
import io.sash.core.inorder.{InOrderWindow, TwoStacksLite}
import io.sash.core.slots.Partials

/** A window under a policy. It keeps the windows that triggered. */
final class Watched[A](
    operation: Operation[A],
    policy: WindowPolicy,
    make: Partials => InOrderWindow = new TwoStacksLite(_)
) {
  val triggers: ArrayBuffer[A] = ArrayBuffer.empty

  val window: WindowByPolicy =
    new WindowByPolicy(make(TestColumn(operation)), policy, answer => triggers += column(answer))

  def column: TestColumn[A] = window.column.asInstanceOf[TestColumn[A]]

  def arrive(attribute: Long, element: Element): Unit = {
    column.lift(window.arrive(attribute), element)
    window.insert()
  }

  def query(): A = column(window.query())
}

object Watched {

  /** The windows that a policy triggers for elements with these attributes and then the end. */
  def windows(policy: WindowPolicy, attributes: Seq[Long]): Seq[Seq[Long]] = {
    val watched = new Watched(Operation.Collect, policy)
    attributes.zipWithIndex.foreach { case (a, i) => watched.arrive(a, Element(0, i)) }
    watched.window.punctuate(Long.MaxValue)
    watched.triggers.toSeq.map(_.map(e => attributes(e.arrival)))
  }
}
