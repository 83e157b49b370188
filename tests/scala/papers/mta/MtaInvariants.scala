package io.sash.papers.mta

import java.lang.Long.lowestOneBit

import io.sash.core.Element

/**
 * The invariants that the classes name, over the free monoid, where a value shows its positions.
 */
object MtaInvariants {
  type Values = (Int, Vector[Element])

  /** The broken invariants of a window that should hold `elements`. */
  def broken(slider: MtaSlider[Values])(elements: Vector[Element]): Option[String] = {
    val value = (slot: Int) => slider.column(slot)._2
    slider.window match {
      case log: LogMta if elements.nonEmpty => brokenLog(log, value, elements)
      case amta: Amta                       => brokenAmortized(amta, value, elements)
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
      window: Amta,
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
    val boundary = window.leftTreeEnd
    def suffix(from: Long) = covers(elements, front, from, boundary)
    val results = Seq(
      Option.when(boundary < back) {
        check("(A2) R1", value(window.rightResult), covers(elements, front, boundary, back))
      },
      Option.when(front < boundary) {
        check("(A2) R0", value(window.stackSlot(front)), suffix(front))
      }
    ).flatten
    val starts = (front + 1 until boundary).filter(p => p - lowestOneBit(p) <= front)
    val stack = starts.map(p => check(s"(A3) from $p", value(window.stackSlot(p)), suffix(p)))
    val order = check("(A3) starts", window.stack.toSeq, starts)
    ((nodes ++ results ++ stack) :+ order).flatten.headOption
  }

  private def covers(elements: Vector[Element], front: Long, from: Long, until: Long) =
    elements.slice((from - front).toInt, (until - front).toInt)

  private def check[A](what: String, found: A, expected: A): Option[String] =
    Option.when(found != expected)(s"$what holds $found, not $expected")
}
