package io.sash.core.inorder

import scala.collection.immutable.Queue

import org.scalacheck.Prop
import org.scalacheck.Prop.propBoolean

import io.sash.core.{Element, Step, TestColumn}

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

  /**
   * Each step is first run with a column that throws at its first call, at its second, and so on
   * until it throws no more. Whenever it has thrown, size and answer are those from before: so
   * are those of all the steps that follow, since it is run again until it comes through.
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
        // every other time without a look, which may settle what a failed call has left
        val wrong = if (failing % 2 == 0) None else disagreement(slider, model, Query)
        if (wrong.isDefined) (model, wrong.map(w => s"after call $failing threw: $w"))
        else runFailing(slider, model, step, failing + 1)
    }
  }

  /**
   * A step that throws at a random call is given up, and the others go on: all is as if there had
   * been no such step.
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
