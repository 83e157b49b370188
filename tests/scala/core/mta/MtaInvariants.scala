package io.sash.core.mta

import io.sash.core.Element

/** The invariants that the classes name, over the free monoid, where a value is its positions. */
object MtaInvariants {
  type Values = (Int, Vector[Element])

  /** What is wrong with a window that should hold `elements`. */
  def broken(slider: MtaSlider[Values])(elements: Vector[Element]): Option[String] = {
    val value = (slot: Int) => slider.column(slot)._2
    slider.window match {
      case log: LogMta if elements.nonEmpty => brokenLog(log, value, elements)
      case amortized: AmortizedMta          => brokenAmortized(amortized, value, elements)
      case _                                => None
    }
  }

  private def brokenLog(
      window: LogMta,
      value: Int => Vector[Element],
      elements: Vector[Element]
  ): Option[String] = {
    val front = window.firstNode(0)
    val nodes = for {
      level <- 0 to window.height
      number <- window.firstNode(level) to window.lastNode(level)
      covered = covers(elements, front, number << level, (number + 1) << level)
    } yield check(s"(L1) level $level node $number", value(window.node(level, number)), covered)
    val width = (level: Int) => window.lastNode(level) - window.firstNode(level) + 1
    val root = window.height
    val (high, low) = (width(root) > 2, root > 0 && width(root - 1) <= 2)
    nodes.flatten.headOption.orElse(Option.when(high || low)(s"(L2) level $root is the top"))
  }

  private def brokenAmortized(
      window: AmortizedMta,
      value: Int => Vector[Element],
      elements: Vector[Element]
  ): Option[String] = {
    val front = window.firstNode(0)
    val back = window.nodesEnd(0)
    val nodes = for {
      level <- 0 to 30
      number <- window.firstNode(level) until window.nodesEnd(level)
      covered = covers(elements, front, number << level, (number + 1) << level)
    } yield check(s"(A1) level $level node $number", value(window.node(level, number)), covered)
    val state = window.state
    def suffix(from: Long) = covers(elements, front, from, state.boundary)
    val results = Seq(
      Option.when(front < state.boundary)(check("(A2) R0", value(state.r0), suffix(front))),
      Option.when(state.boundary < back) {
        check("(A2) R1", value(state.r1), covers(elements, front, state.boundary, back))
      }
    ).flatMap(_.toSeq)
    val starts = state.levels.scanLeft(front + 1)((start, level) => start + (1L << level))
    val stack = state.stack.indices.map { i =>
      check(s"(A3) stack from ${starts(i)}", value(state.stack(i)), suffix(starts(i)))
    }
    val ends = Option.when(front < state.boundary && starts.last != state.boundary) {
      s"(A3) the stack ends at ${starts.last}, not ${state.boundary}"
    }
    val aligned = state.levels.indices.collectFirst {
      case i if starts(i) % (1L << state.levels(i)) != 0 => s"(A3) no node at ${starts(i)}"
    }
    (nodes ++ results ++ stack).flatten.headOption.orElse(ends).orElse(aligned)
  }

  private def covers(elements: Vector[Element], front: Long, from: Long, until: Long) =
    elements.slice((from - front).toInt, (until - front).toInt)

  private def check[A](what: String, found: A, expected: A): Option[String] =
    Option.when(found != expected)(s"$what holds $found, not $expected")
}
