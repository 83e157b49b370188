package io.sash.papers.mta

import org.scalacheck.{Gen, Prop}
import org.scalacheck.Prop.propBoolean

import io.sash.core.{Element, Schedule, Step, TestColumn}

/** One call on a window that also slides in bulk. */
sealed trait Move

object Move {
  final case class Single(step: Step) extends Move

  /** Evicts that part of the window. */
  final case class Bulk(perMille: Int) extends Move

  /** A policy that evicts prefixes of at most `most` elements. */
  final case class AtMost(most: Int) extends Move

  /** The policy of listing 3: keeps the newest `keep` elements. */
  final case class Keep(keep: Int) extends Move

  /** Schedules with a bulk eviction about every twentieth step. */
  val schedules: Gen[List[Move]] = {
    val bulk: Gen[Move] = Gen.oneOf(
      Gen.choose(0, 1000).map(Bulk(_)),
      Gen.choose(0, 20).map(AtMost(_)),
      Gen.choose(0, 150).map(Keep(_))
    )
    Schedule.random.flatMap { steps =>
      Gen
        .sequence[List[List[Move]], List[Move]](
          steps.map(s =>
            Gen.frequency(19 -> Gen.const(Nil), 1 -> bulk.map(List(_))).map(Single(s) :: _)
          )
        )
        .map(_.flatten)
    }
  }
}

/** The laws of in-order windows that slide in bulk, for any algorithm and any operation. */
object MtaLaws {
  import Move._

  /** The expected content of a window, kept in the plainest way. */
  private final case class Model(open: Vector[Element], window: Vector[Element], arrivals: Int) {
    def opened(element: Element): Model = copy(open = open :+ element, arrivals = arrivals + 1)
    def inserted: Model = copy(open = open.tail, window = window :+ open.head)
    def evicted(count: Int): Model = copy(window = window.drop(count))
    def cleared: Model = copy(open = Vector.empty, window = Vector.empty)
  }

  /**
   * After any schedule, query is the operation over the window's elements in arrival order, and
   * `broken` finds no broken invariant. Policies look at a count beside the operation.
   */
  def equalsRecalculation[A](
      slider: MtaSlider[(Int, A)],
      schedule: List[Move],
      broken: Vector[Element] => Option[String]
  ): Prop = {
    val start = Model(Vector.empty, Vector.empty, 0)
    val (_, failure) = schedule.zipWithIndex.foldLeft((start, Option.empty[String])) {
      case ((model, None), (move, i)) =>
        val next = run(slider, model, move)
        val wrong = disagreement(slider, next, move).orElse(broken(next.window))
        (next, wrong.map(w => s"step $i, $move: $w"))
      case (failed, _) => failed
    }
    failure.isEmpty :| failure.getOrElse("")
  }

  /**
   * Moves that throw at this call are given up. The others go on as if those had not been there.
   */
  def forgetsFailedCalls[A](slider: MtaSlider[(Int, A)], schedule: List[(Move, Int)]): Prop = {
    val start = Model(Vector.empty, Vector.empty, 0)
    val (_, failure) = schedule.zipWithIndex.foldLeft((start, Option.empty[String])) {
      case ((model, None), ((move, failing), i)) =>
        slider.column.failing = failing
        val next =
          try run(slider, model, move)
          catch { case _: TestColumn.Injected => model }
        slider.column.failing = 0
        val wrong = disagreement(slider, next, if (failing > 1) Bulk(0) else move)
        (next, wrong.map(w => s"step $i, $move at $failing: $w"))
      case (failed, _) => failed
    }
    failure.isEmpty :| failure.getOrElse("")
  }

  private def run[A](slider: MtaSlider[(Int, A)], model: Model, move: Move): Model =
    move match {
      case Single(step) => single(slider, model, step)
      case Bulk(perMille) =>
        val count = model.window.size * perMille / 1000
        slider.window.evict(count)
        model.evicted(count)
      case AtMost(most) =>
        slider.evict((_, prefix) => prefix._1 <= most)
        model.evicted(most)
      case Keep(keep) =>
        slider.evict((total, prefix) => total._1 - prefix._1 >= keep)
        model.evicted(math.max(0, model.window.size - keep))
    }

  private def single(slider: MtaSlider[_], model: Model, step: Step): Model = {
    val window = slider.window
    step match {
      case Step.Open(value) =>
        val element = Element(value, model.arrivals)
        slider.open(element)
        model.opened(element)
      case Step.Insert if model.open.nonEmpty =>
        window.insert()
        model.inserted
      case Step.Evict if model.window.nonEmpty =>
        window.evict()
        model.evicted(1)
      case Step.Clear =>
        window.clear()
        model.cleared
      case Step.Relocate =>
        window.relocate(_ => slider.column.moved())
        model
      case _ => model
    }
  }

  private def disagreement[A](
      slider: MtaSlider[(Int, A)],
      model: Model,
      move: Move
  ): Option[String] = {
    val asks = move match {
      case Single(step) => step == Step.Query || step == Step.Clear || model.window.isEmpty
      case _            => true
    }
    if (slider.window.size != model.window.size) {
      Some(s"size ${slider.window.size}, not ${model.window.size}")
    } else if (asks) {
      val expected = slider.operation.aggregate(model.window)
      // the first query must not change the second
      Seq(slider.query(), slider.query()).find(_ != expected).map(a => s"$a, not $expected")
    } else {
      None
    }
  }
}
