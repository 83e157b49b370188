package io.sash.spark.aggregates

import org.apache.spark.sql.Row

/** A row of the data: its number and time, a value or NULL, and the value of the row before. */
private[aggregates] final case class Reading(
    id: Long,
    time: Long,
    value: Option[Double],
    before: Option[Double]
)

/** The expected answer, and how near to it an answer has to be. */
private[aggregates] sealed trait Expected
private[aggregates] final case class Exactly(answer: Any) extends Expected

/** @param scale the sum of the terms' sizes: rounding is measured by it */
private[aggregates] final case class Near(answer: Double, scale: Double) extends Expected

/** A step on the way may overflow, or rounding is all that there is. */
private[aggregates] case object Unknown extends Expected

/**
 * Each function of Sash by its definition, as the plainest loop over the rows of one window. The
 * functions themselves are not called here, nor core's operations.
 */
private[aggregates] object PlainAnswers {
  type Model = (Seq[Reading], Reading) => Expected

  /** Spark's order of doubles: one 0, and a NaN above all. */
  private val order: Ordering[Double] = (x, y) => java.lang.Double.compare(x + 0.0, y + 0.0)

  private def numbers(window: Seq[Reading]): Seq[Double] = window.flatMap(_.value)

  private def valued(window: Seq[Reading]): Seq[(Reading, Double)] =
    window.flatMap(r => r.value.map(r -> _))

  private def orNull(xs: Seq[_])(answer: => Expected): Expected =
    if (xs.isEmpty) Exactly(null) else answer

  private def ofNumbers(answer: Seq[Double] => Expected): Model = (window, _) => {
    val xs = numbers(window)
    orNull(xs)(answer(xs))
  }

  private def sizes(xs: Seq[Double]): Double =
    xs.filterNot(x => (x - x).isNaN).map(math.abs).sum

  /** The sum of weights times values; a value without weight has no share. */
  private def weighted(terms: Seq[(Double, Double)]): Double =
    terms.filter(_._1 != 0).map { case (w, x) => if (x.isInfinite) x else w * x }.sum

  /** A power that may be too small for a double. It is more than 0 if the value is not finite. */
  private def power(base: Double, exponent: Double, x: Double): (Double, Double) = {
    val weight = math.pow(base, exponent)
    (if (base > 0 && (x - x).isNaN) math.max(Double.MinPositiveValue, weight) else weight, x)
  }

  private def mean(terms: Seq[(Double, Double)]): Expected = {
    val weights = terms.map(_._1).sum
    if (weights == 0) Exactly(null)
    else
      Near(weighted(terms) / weights, weighted(terms.map(t => (t._1, math.abs(t._2)))) / weights)
  }

  val geometricMean: Model = ofNumbers { xs =>
    val e = math.exp(xs.map(math.log).sum / xs.length)
    Near(e, e)
  }

  val product: Model = ofNumbers { xs =>
    val finite = xs.filter(x => x != 0 && !(x - x).isNaN)
    if (sizes(finite.map(x => math.log10(math.abs(x)))) > 300) Unknown
    else Near(xs.product, math.abs(xs.product))
  }

  def extremeCount(by: Ordering[Double] => Ordering[Double]): Model = (window, _) => {
    val xs = numbers(window)
    Exactly(if (xs.isEmpty) 0L else xs.count(x => order.equiv(x, xs.max(by(order)))).toLong)
  }

  def argOfExtreme(by: Ordering[Double] => Ordering[Double]): Model = (window, _) => {
    val rows = valued(window)
    orNull(rows)(Exactly(rows.maxBy(_._2)(by(order))._1.id))
  }

  val range: Model = ofNumbers(xs => Exactly(xs.max(order) - xs.min(order)))

  val relativeVariation: Model =
    ofNumbers(xs => Exactly((xs.max(order) - xs.min(order)) / xs.max(order)))

  val coefficientOfVariation: Model = (window, _) => {
    val xs = numbers(window)
    val mean = xs.sum / xs.length
    val most = xs.map(math.abs).maxOption.getOrElse(0.0)
    val deviation = math.sqrt(xs.map(x => (x - mean) * (x - mean)).sum / (xs.length - 1))
    val sharp = most / math.abs(mean)
    if (xs.length < 2) Exactly(null)
    else if (xs.exists(x => (x - x).isNaN)) Near(Double.NaN, 0)
    else if (most > 1e150 || !(sharp < 1e6)) Unknown
    else Near(deviation / mean, (1 + sharp) * sharp)
  }

  val m4: Model = (window, _) => {
    def point(r: (Reading, Double)) = Row(r._1.time, r._2)
    val rows = valued(window)
    orNull(rows)(
      Exactly(
        Row(
          point(rows.head),
          point(rows.last),
          point(rows.minBy(_._2)(order)),
          point(rows.maxBy(_._2)(order))
        )
      )
    )
  }

  val longestRun: Model = (window, _) => {
    val runs = valued(window).foldLeft(List.empty[List[(Reading, Double)]]) {
      case (run :: older, r) if order.lt(run.head._2, r._2) => (r :: run) :: older
      case (runs, r)                                        => List(r) :: runs
    }
    orNull(runs) {
      val longest = runs.reverse.maxBy(_.length)
      Exactly(Row(longest.last._1.time, longest.head._1.time, longest.length.toLong))
    }
  }

  private def steps(xs: Seq[Double]): Seq[Double] =
    xs.zip(xs.drop(1)).map { case (a, b) => if (order.lt(b, a)) b else b - a }

  val increase: Model = ofNumbers(xs => Near(steps(xs).sum, sizes(steps(xs))))

  val rate: Model = (window, _) => {
    val rows = valued(window)
    if (rows.length < 2) Exactly(null)
    else {
      val all = steps(rows.map(_._2))
      val seconds = (rows.last._1.time - rows.head._1.time).toDouble
      Near(all.sum / seconds, sizes(all) / seconds)
    }
  }

  val cusum: Model =
    ofNumbers(xs => Near(xs.foldLeft(0.0)((s, x) => math.max(0, s + x)), sizes(xs)))

  /** A row meets the next step or none. */
  def funnel(steps: Seq[Option[Double] => Boolean]): Model = (window, _) =>
    Exactly(window.foldLeft(0) { (level, r) =>
      if (level < steps.length && steps(level)(r.value)) level + 1 else level
    })

  private val is: (Double => Boolean) => Option[Double] => Boolean = met => _.exists(met)
  val above0: Option[Double] => Boolean = is(order.gt(_, 0))
  val below0: Option[Double] => Boolean = is(order.lt(_, 0))

  /** The weight of the youngest value is 1: other weights have the same means. */
  def ewmByRows(alpha: Double): Model = (window, _) => {
    val aged = window.reverse.zipWithIndex.flatMap { case (r, age) => r.value.map(age -> _) }
    orNull(aged)(mean(aged.map { case (age, x) =>
      power(1 - alpha, (age - aged.head._1).toDouble, x)
    }))
  }

  /** A value that has halved so often, also if the power is too small for a double. */
  private def halved(x: Double, times: Double): Double = {
    val root = math.pow(0.5, times / 2)
    if (x.isInfinite) x else x * root * root
  }

  /** Numbers below 1e-300 have few digits. */
  private def sumOf(terms: Seq[Double]): Expected =
    Near(terms.sum, math.max(1e-300, terms.map(math.abs).sum))

  def decayedSum(halfLife: Double, time: Reading => Long): Model = (window, _) => {
    val (rows, now) = (valued(window), time(window.last))
    orNull(rows)(sumOf(rows.map { case (r, x) => halved(x, (now - time(r)) / halfLife) }))
  }

  def decayedCount(halfLife: Double, time: Reading => Long): Model = (window, _) => {
    val now = time(window.last)
    sumOf(window.map(r => halved(1.0, (now - time(r)) / halfLife)))
  }

  /** @param time a row's time, which does not fall from row to row */
  def ewmByTime(halfLife: Double, time: Reading => Long): Model = (window, _) => {
    val rows = valued(window)
    orNull(rows)(mean(rows.map { case (r, x) =>
      power(0.5, (time(rows.last._1) - time(r)) / halfLife, x)
    }))
  }

  def ema(halfLife: Double, time: Reading => Long): Model = (window, _) => {
    val rows = valued(window)
    orNull(rows) {
      val moved = rows.zip(rows.drop(1)).foldLeft(rows.head._2) { case (s, ((a, _), (b, x))) =>
        val left = power(0.5, (time(b) - time(a)) / halfLife, s)
        weighted(Seq(left, (1 - left._1) -> x))
      }
      Near(moved, sizes(rows.map(_._2)))
    }
  }

  /**
   * @param span the window's length, if the value before it holds in it, too. Then the last value
   *   holds until the row or the window's last one, and rows without a value move the time on
   */
  def timeWeighted(time: Reading => Long, span: Option[Double]): Model = (window, own) => {
    val steps = window
      .map(r => (time(r), if (span.isEmpty) r.value else r.value.orElse(r.before)))
      .dropWhile(_._2.isEmpty)
    val known = if (span.isEmpty) steps.filter(_._2.nonEmpty) else steps
    orNull(known) {
      val until = if (span.isEmpty) known.last._1 else math.max(time(own), known.last._1)
      val times = known.map(_._1) :+ until
      val values = known.map(_._2).scanLeft(Option.empty[Double])((b, x) => x.orElse(b)).tail
      val held = times.zip(times.tail).zip(values).map { case ((a, b), x) =>
        ((b - a).toDouble, x.get)
      }
      val first = window.find(r => r.value.orElse(r.before).nonEmpty).get
      val seen = (until - known.head._1).toDouble
      val before = span.flatMap(s => first.before.map((math.max(0.0, s - seen), _)))
      mean(before.toSeq ++ held)
    }
  }

  def linear(time: Reading => Long, span: Double, isMean: Boolean): Model = (window, _) => {
    val rows = valued(window)
    orNull(rows) {
      val terms = rows.map { case (r, x) =>
        ((span - (time(rows.last._1) - time(r))) / span, x)
      }
      if (isMean) mean(terms)
      else Near(weighted(terms), weighted(terms.map(t => (t._1, math.abs(t._2)))))
    }
  }

  def list(of: Seq[Double] => Seq[Double]): Model = (window, _) => Exactly(of(numbers(window)))

  val lastDistinct: Seq[Double] => Seq[Double] =
    xs =>
      xs.map(_ + 0.0).reverse.foldLeft(Seq.empty[Double]) { (kept, x) =>
        if (kept.exists(order.equiv(_, x))) kept else x +: kept
      }

  def sorted(by: Ordering[Double] => Ordering[Double]): Seq[Double] => Seq[Double] =
    _.sorted(by(order))

  def argsOfExtremes(sign: Int, n: Int): Model = (window, _) => {
    val rows =
      valued(window).sortBy { case (r, x) => (x, r.id) }(Ordering.Tuple2(order, implicitly))
    Exactly((if (sign < 0) rows.reverse else rows).take(n).map(_._1.id))
  }

  private def counts(xs: Seq[Double]): Seq[(Double, Long)] =
    xs.sorted(order).foldRight(List.empty[(Double, Long)]) {
      case (x, (y, n) :: more) if order.equiv(x, y) => (y, n + 1) :: more
      case (x, more)                                => (x + 0.0, 1L) :: more
    }

  /** The keys of the map are texts, since no NaN equals another. */
  val valueCounts: Model = (window, _) =>
    Exactly(counts(numbers(window)).map { case (x, n) => x.toString -> n }.toMap)

  def topCounts(n: Int): Model = (window, _) => {
    val all = counts(numbers(window)).sortBy { case (x, count) => (-count, x) }(
      Ordering.Tuple2(implicitly, order)
    )
    Exactly(all.take(n).map { case (x, count) => Row(x, count) })
  }

  val entropy: Model = ofNumbers { xs =>
    val shares = counts(xs).map(_._2.toDouble / xs.length)
    Near(-shares.map(p => p * math.log(p) / math.log(2)).sum, 1)
  }

  val modeShare: Model =
    ofNumbers(xs => Near(counts(xs).map(_._2).max.toDouble / xs.length, 1))

  def rank(of: (Double, Seq[Double]) => Any): Model =
    (window, own) => Exactly(own.value.map(of(_, numbers(window))).orNull)

  val ranks: Seq[(String, Model)] = Seq(
    "rank_in_frame" -> rank((x, xs) => xs.count(order.lt(_, x)) + 1L),
    "dense_rank_in_frame" -> rank((x, xs) => counts(xs).count(c => order.lt(c._1, x)) + 1L),
    "percent_rank_in_frame" -> rank { (x, xs) =>
      if (xs.length == 1) 0.0 else xs.count(order.lt(_, x)).toDouble / (xs.length - 1)
    },
    "cume_dist_in_frame" -> rank((x, xs) => xs.count(order.lteq(_, x)).toDouble / xs.length)
  )

  val firstAndLast: Model = ofNumbers(xs => Exactly(Row(xs.head, xs.last)))

  /** Whether an answer is the expected one. */
  def agrees(actual: Any, expected: Expected): Boolean = expected match {
    case Unknown         => true
    case Exactly(answer) => same(actual, answer)
    case Near(answer, scale) =>
      same(actual, answer) || (actual match {
        case a: Double => math.abs(a - answer) <= 1e-9 * scale
        case _         => false
      })
  }

  private def same(actual: Any, expected: Any): Boolean = (actual, expected) match {
    case (a: Double, e: Double)                       => order.equiv(a, e)
    case (a: Row, e: Row)                             => a.toSeq.corresponds(e.toSeq)(same)
    case (a: collection.Seq[_], e: collection.Seq[_]) => a.corresponds(e)(same)
    case (a: collection.Map[_, _], e: collection.Map[_, _]) =>
      a.map { case (k: Double, v) => (k + 0.0).toString -> v } == e
    case (a, e) => a == e
  }
}
