package io.sash.core.inorder

import scala.collection.immutable.Queue

import org.scalacheck.Prop
import org.scalacheck.Prop.propBoolean

import io.sash.core.{Element, Step, TestColumn}

/** The laws of the sliding-window data type, for any algorithm and any operation. */
object InOrderLaws {
  import Step._

  /** The expected content of a window, kept in the plainest way. */
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

  /**
   * Each step first runs with a column that throws at its first call, at its second, and so on
   * until the step succeeds. After each exception size and answer are as before. So are the sizes
   * and answers after all later steps.
   */
  def survivesExceptions[A](slider: Slider[A], schedule: List[Step]): Prop = {
    val start = Model(Queue.empty, Queue.empty, 0)
    val (_, broken) = schedule.zipWithIndex.foldLeft((start, Option.empty[String])) {
      case ((model, None), (step, i)) =>
        val (next, wrong) = runFailing(slider, model, step, 1)
        (next, wrong.orElse(disagreement(slider, next, Query)).map(d => s"step $i, $step: $d"))
      case (failed, _) => failed
    }
    broken.isEmpty :| broken.getOrElse("")
  }

  private def runFailing[A](
      slider: Slider[A],
      model: Model,
      step: Step,
      failing: Int
  ): (Model, Option[String]) = {
    slider.column.failing = failing
    try {
      val next = run(slider, model, step)
      if (step == Query) slider.window.query()
      slider.column.failing = 0
      (next, None)
    } catch {
      case _: TestColumn.Injected =>
        // every other time without a query, which may repair the effects of the failed call
        val wrong = if (failing % 2 == 0) None else disagreement(slider, model, Query)
        if (wrong.isDefined) (model, wrong.map(w => s"after call $failing threw: $w"))
        else runFailing(slider, model, step, failing + 1)
    }
  }

  /**
   * A step that throws at a random call is given up, and the others go on. All is then as if that
   * step had not been there.
   */
  def forgetsFailedCalls[A](slider: Slider[A], schedule: List[(Step, Int)]): Prop = {
    val start = Model(Queue.empty, Queue.empty, 0)
    val (_, broken) = schedule.zipWithIndex.foldLeft((start, Option.empty[String])) {
      case ((model, None), ((step, failing), i)) =>
        slider.column.failing = failing
        val next =
          try {
            val next = run(slider, model, step)
            if (step == Query) slider.window.query()
            next
          } catch { case _: TestColumn.Injected => model }
        slider.column.failing = 0
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
      case Slide(value) if model.window.nonEmpty =>
        val element = Element(value, model.arrivals)
        slider.slide(element)
        model.evicted.opened(element)
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
      // the first query must not change the second
      Seq(slider.query(), slider.query()).find(_ != expected).map(a => s"$a, not $expected")
    } else {
      None
    }
}
