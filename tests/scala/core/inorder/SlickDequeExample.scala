package io.sash.core.inorder

import io.sash.core.Element

/** The stream and the answers of examples 2 and 3 (figures 8 and 9) of the SlickDeque paper. */
object SlickDequeExample {
  val Stream: Seq[Element] = Seq(6, 5, 0, 1, 3, 4, 2, 7).zipWithIndex.map {
    case (value, arrival) => Element(value, arrival)
  }

  val Ranges: Seq[Int] = Seq(3, 5)

  val Sums: Map[Int, Seq[Long]] =
    Map(3 -> Seq(6, 11, 11, 6, 4, 8, 9, 13), 5 -> Seq(6, 11, 11, 12, 15, 13, 10, 17))

  val Maxima: Map[Int, Seq[Int]] =
    Map(3 -> Seq(6, 6, 6, 5, 3, 4, 4, 7), 5 -> Seq(6, 6, 6, 6, 6, 5, 4, 7))

  /** The answers after each element, for a window that holds up to `range` elements. */
  def answers[A](slider: Slider[A], range: Int): Seq[A] = Stream.map { element =>
    if (slider.window.size == range) slider.window.evict()
    slider.insert(element)
    slider.query()
  }
}
