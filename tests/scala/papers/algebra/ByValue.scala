package io.sash.papers.algebra

import io.sash.core.{Element, Step}
import io.sash.core.elements.InOrderWindow

/** Runs a schedule on a window of values. */
object ByValue {

  /** The size and the answer of `window` at each query and after each clear. */
  def run[In, Out](
      window: Window[In, Out, InOrderWindow],
      schedule: List[Step],
      input: Element => In
  ): List[(Int, Out)] = schedule.zipWithIndex.flatMap { case (step, i) =>
    step match {
      case Step.Open(value)              => window.insert(input(Element(value, i)))
      case Step.Evict if window.size > 0 => window.evict()
      case Step.Clear                    => window.clear()
      case _                             => ()
    }
    if (step == Step.Query || step == Step.Clear) List((window.size, window.query())) else Nil
  }
}
