package io.sash.papers.algebra

import org.scalatest.funsuite.AnyFunSuite

import io.sash.core.fat.BaseIntervals
import io.sash.core.inorder._
import io.sash.core.slots.{Invertible, Partials, Selective}
import io.sash.papers.fat.{FlatFat, ReactiveAggregator}
import io.sash.papers.fiba.Fiba
import io.sash.papers.inorder._
import io.sash.papers.mta.{Amta, LogMta}

/** A column belongs to one window: a second window or façade over it is refused. */
class OwnershipSuite extends AnyFunSuite {
  private val general = Seq[Partials => Any](
    new Recalculate(_),
    new TwoStacks(_),
    new TwoStacksLite(_),
    new Daba(_),
    new DabaLite(_),
    new FlatFit(_),
    new BaseIntervals(_),
    new ReactiveAggregator(_),
    new FlatFat(_, 16),
    new LogMta(_),
    new Amta(_),
    new Fiba(_)
  )

  private def refused(second: => Any): Unit = {
    val error = intercept[IllegalStateException](second)
    assert(error.getMessage.contains("another window's"))
  }

  test("two windows over one column, whatever their algorithms") {
    for (first <- general; second <- general) {
      val column = Max[Double].newColumn()
      first(column)
      refused(second(column))
    }
    for (second <- general) {
      val sums: Column[Long, Long] with Invertible = Sum[Long].newColumn()
      new SlickDequeInv(sums)
      refused(second(sums))
      refused(new SlickDequeInvRanges(sums, 2))
      val maxima: Column[Long, Long] with Selective = Max[Long].newColumn()
      new SlickDequeNonInv(maxima)
      refused(second(maxima))
    }
  }

  test("a window of values over another's column, or a second over the same slots") {
    val column = Sum[Long].newColumn()
    val slots = new TwoStacksLite(column)
    val tree = new Fiba(Sum[Long].newColumn())
    for (another <- Seq(() => Sum[Long].newColumn().over(slots), () => column.over(tree))) {
      val error = intercept[IllegalArgumentException](another())
      assert(error.getMessage.contains("over another column"))
    }
    val window = column.over(slots)
    refused(column.over(slots))
    window.insert(3L)
    assert(window.query() == 3L)
  }
}
