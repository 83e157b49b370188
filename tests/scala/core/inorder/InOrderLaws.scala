package io.sash.core.inorder

import scala.collection.immutable.Queue

import org.scalacheck.Prop
import org.scalacheck.Prop.propBoolean

import io.sash.core.{Element, Step}

/** The laws of the sliding-window data type, for any algorithm and any operation. */
object InOrderLaws {
  import Step._

  /** What a window should hold, kept in the plainest way. */
  private final case class Model(open: Queue[Element], window: Queue[Element], arrivals: Int) {
    def opened(element: Element): Model =
      copy(open = open.enqueue(element), arrivals = arrivals + 1)
    def inserted: Model = copy(open = open.tail, window = window.enqueue(open.head))
    def evicted: Model = copy(window = window.tail)
    def cleared: Model = copy(open = Queue.empty, window = Queue.empty)
  }

  /** After any schedule, query is the operation over the window's elements in arrival order. */
  def equalsRecalculation[A](slider: Slider[A], schedule: List[Step]): Prop = {
    val start = Model(Queue.empty, Queue.empty, 0)
    val (_, broken) = schedule.zipWithIndex.foldLeft((start, Option.empty[String])) {
      case ((model, None), (step, i)) =>
        val next = run(slider, model, step)
        (next, disagreement(slider, next, step).map(d => s"step $i, $step: $d"))
      case (failed, _) => failed
    }
    broken.isEmpty :| broken.getOrElse("")
  }

  private def run(slider: Slider[_], model: Model, step: Step): Model = {
    val window = slider.window
    step match {
      case Open(value) =>
        val element = Element(value, model.arrivals)
        slider.open(element)
        model.opened(element)
      case Insert if model.open.nonEmpty =>
        window.insert()
        model.inserted
      case Evict if model.window.nonEmpty =>
        window.evict()
        model.evicted
      case Clear =>
        window.clear()
        model.cleared
      case Relocate =>
        window.relocate(_ => slider.column.moved())
        model
      case _ => model
    }
  }

  private def disagreement[A](slider: Slider[A], model: Model, step: Step): Option[String] =
    if (slider.window.size != model.window.size) {
      Some(s"size ${slider.window.size}, not ${model.window.size}")
    } else if (step == Query || step == Clear || model.window.isEmpty) {
      val expected = slider.operation.aggregate(model.window)
      // the second query must not see traces of the first
      Seq(slider.query(), slider.query()).find(_ != expected).map(a => s"$a, not $expected")
    } else {
      None
    }
}
