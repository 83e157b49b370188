package io.sash.papers.fiba

import scala.collection.immutable.TreeMap

import org.scalacheck.Prop
import org.scalacheck.Prop.propBoolean

import io.sash.core.{Element, TestColumn}

/** After every step of a schedule a FiBA answers like a sorted map and keeps its invariants. */
final class FibaLaws[A](window: Window[A]) {
  import FibaStep._
  import window.{fiba, operation}

  private val invariants = new Invariants(window)
  private var model = TreeMap.empty[Long, A]
  private var arrivals = 0

  def hold(schedule: List[FibaStep]): Prop = {
    val broken = schedule.zipWithIndex.iterator.flatMap { case (step, i) =>
      run(step).orElse(disagreement).map(d => s"$d, at step $i, $step")
    }
    val first = broken.nextOption()
    first.isEmpty :| first.getOrElse("")
  }

  /**
   * The same, but each step first fails at its first combine, at its second, at its fourth and so
   * on until it succeeds. After each failure all is as it was before.
   */
  def holdAfterFailures(schedule: List[FibaStep]): Prop = {
    val broken = schedule.zipWithIndex.iterator.flatMap { case (step, i) =>
      runFailing(step, 1).map(d => s"$d, at step $i, $step")
    }
    val first = broken.nextOption()
    first.isEmpty :| first.getOrElse("")
  }

  private def runFailing(step: FibaStep, failing: Int): Option[String] = {
    val (modelBefore, arrivalsBefore) = (model, arrivals)
    window.column.failing = failing
    try {
      val wrong = run(step)
      window.column.failing = 0
      wrong.orElse(disagreement)
    } catch {
      case _: TestColumn.Injected =>
        model = modelBefore
        arrivals = arrivalsBefore
        // not after each failure, since the query may repair its effects
        val wrong = if (failing % 3 == 0) None else disagreement
        wrong
          .map(w => s"after combine $failing threw: $w")
          .orElse(runFailing(step, if (failing < 12) failing + 1 else failing * 3 / 2))
    }
  }

  /** Steps that fail at this combine are given up, and the others go on. */
  def holdWithoutFailed(schedule: List[(FibaStep, Int)]): Prop = {
    val broken = schedule.zipWithIndex.iterator.flatMap { case ((step, failing), i) =>
      val (modelBefore, arrivalsBefore) = (model, arrivals)
      window.column.failing = failing
      val wrong =
        try run(step)
        catch {
          case _: TestColumn.Injected =>
            model = modelBefore
            arrivals = arrivalsBefore
            None
        }
      window.column.failing = 0
      wrong.orElse(disagreement).map(d => s"$d, at step $i, $step at $failing")
    }
    val first = broken.nextOption()
    first.isEmpty :| first.getOrElse("")
  }

  /** Runs a step. Also returns a wrong answer of the step itself. */
  private def run(step: FibaStep): Option[String] = {
    step match {
      case Append(gap, v)    => insert(model.lastOption.fold(0L)(_._1) + gap, v)
      case Insert(place, v)  => insert(time(place), v)
      case Bulk(place, gaps) => bulkInsert(gaps.scanLeft(time(place))(_ + _).drop(1))
      case Range(from, to)   => range(time(from), time(to))
      case BulkEvict(place)  => bulkEvict(time(place))
      case Remove(place)     => remove(place)
      case Evict             => evict()
      case Clear =>
        fiba.clear()
        model = TreeMap.empty
        None
      case Relocate =>
        fiba.relocate { case c: TestColumn[_] => c.moved() }
        None
    }
  }

  private def time(place: Int): Long =
    if (model.isEmpty) place.toLong
    else model.firstKey - 5 + (model.lastKey - model.firstKey + 10) * place / 1000

  private def lifted(time: Long, value: Int): Element = {
    val element = Element(value, arrivals)
    arrivals += 1
    val lifted = operation.lift(element)
    model = model.updated(time, model.get(time).fold(lifted)(operation.combine(_, lifted)))
    element
  }

  private def insert(time: Long, value: Int): Option[String] = {
    window.insert(time, lifted(time, value))
    None
  }

  private def bulkInsert(times: List[Long]): Option[String] = {
    window.bulkInsert(times.zipWithIndex.map { case (t, i) => (t, lifted(t, i % 7 - 3)) })
    None
  }

  private def range(from: Long, to: Long): Option[String] = {
    val expected = fold(if (from > to) Nil else model.rangeFrom(from).rangeTo(to).values)
    val actual = window.range(from, to)
    if (actual == expected) None else Some(s"[$from, $to] is $actual, not $expected")
  }

  private def bulkEvict(time: Long): Option[String] = {
    fiba.bulkEvict(time)
    model = model.rangeFrom(time + 1)
    None
  }

  private def evict(): Option[String] = {
    if (model.nonEmpty) {
      fiba.evict()
      model = model.drop(1)
    }
    None
  }

  private def remove(place: Int): Option[String] = {
    model.rangeFrom(time(place)).headOption.foreach { case (time, _) =>
      fiba.remove(time)
      model = model.removed(time)
    }
    None
  }

  private def fold(values: Iterable[A]): A =
    values.foldLeft(operation.identity)(operation.combine)

  private def disagreement: Option[String] = {
    val expected = fold(model.values)
    // the first query must not change the second
    Seq(window.query(), window.query())
      .collectFirst { case a if a != expected => s"$a, not $expected" }
      .orElse(invariants.broken)
      .orElse(ends)
  }

  private def ends: Option[String] = {
    val expected = (model.size, model.headOption.map(_._1), model.lastOption.map(_._1))
    val actual =
      if (fiba.isEmpty) (fiba.size, None, None)
      else (fiba.size, Some(fiba.oldest), Some(fiba.youngest))
    if (actual == expected) None else Some(s"size and ends are $actual, not $expected")
  }
}
