package io.sash.papers.algebra

import io.sash.core.Element
import io.sash.core.algebra.Aggregation

/**
 * An aggregation and a map from a test's elements to its inputs: few distinct values, many ties.
 */
final case class Case[In, Agg, Out](
    name: String,
    aggregation: Aggregation[In, Agg, Out],
    input: Element => In
) {
  def partial(elements: Seq[Element]): Agg =
    elements
      .map(e => aggregation.lift(input(e)))
      .foldLeft(aggregation.identity)(
        aggregation.combine
      )

  def answer(elements: Seq[Element]): Out = aggregation.aggregate(elements.map(input): _*)

  override def toString: String = name
}

object Case {
  private def int(e: Element): Int = e.value
  private def long(e: Element): Long = e.value.toLong
  private def double(e: Element): Double = e.value.toDouble
  private def positive(e: Element): Double = e.value + 5.5
  private def string(e: Element): String = ('f' + e.value).toChar.toString
  private def point(e: Element): Point = Point(e.arrival.toLong, e.value.toDouble)
  private def measured(e: Element): (Double, Int) = (e.value.toDouble, e.arrival)

  /** Padded to a length given by the value, so that different strings tie. */
  private def padded(e: Element): String = e.arrival.toString.padTo(e.value + 8, ' ')

  private val byLength: Ranking[String] = {
    val length: Ordering[String] = Ordering.by(_.length)
    new Ranking(length, length.reverse)
  }

  private val odd = Vector(
    Double.NaN,
    Double.NegativeInfinity,
    -Double.MaxValue,
    -1.0,
    -0.0,
    0.0,
    Double.MinPositiveValue,
    1.0,
    Double.MaxValue,
    Double.PositiveInfinity,
    java.lang.Double.longBitsToDouble(0xfff8000000000001L) // another NaN
  )

  /** Doubles at the edges of their range. */
  private def odd(e: Element): Double = odd(e.value + 5)

  /** Longs at the edges of their range. */
  private def edge(e: Element): Long =
    if (e.value < 0) Long.MinValue - e.value - 1 else Long.MaxValue - e.value

  val All: Seq[Case[_, _, _]] = Seq(
    Case("Count", Count[String], string),
    Case("Count of longs", Count[Long], long),
    Case("Sum of ints", Sum[Int], int),
    Case("Sum of longs", Sum[Long], long),
    Case("Sum of longs that wraps around", Sum[Long], edge),
    Case("Sum of doubles", Sum[Double], double),
    Case("Sum of floats", Sum[Float], e => e.value + 0.5f),
    Case("Sum of decimals", Sum[BigDecimal], e => BigDecimal(e.value.toLong, e.arrival % 3)),
    Case(
      "of functions, invertible",
      OfFunctions.invertible("")(
        (s: String) => s,
        (a, b) => a + b,
        (w, o) => w.substring(o.length),
        s => s
      ),
      string
    ),
    Case(
      "of functions",
      OfFunctions("")((s: String) => s, (a, b) => if (b.length > a.length) b else a, s => s),
      padded
    ),
    Case("Product of ints", Product[Int], int),
    Case("Product of longs", Product[Long], edge),
    Case("Product of doubles", Product[Double], positive),
    Case("Max of ints", Max[Int], int),
    Case("Max of longs", Max[Long], edge),
    Case("Max of doubles", Max[Double], double),
    Case("Max of odd doubles", Max[Double], odd),
    Case("Max of strings by length", Max.of(byLength), padded),
    Case("Min of ints", Min[Int], int),
    Case("Min of longs", Min[Long], edge),
    Case("Min of doubles", Min[Double], double),
    Case("Min of odd doubles", Min[Double], odd),
    Case("Min of strings by length", Min.of(byLength), padded),
    Case("ArithmeticMean of longs", ArithmeticMean[Long], long),
    Case("ArithmeticMean of doubles", ArithmeticMean[Double], double),
    Case("GeometricMean", GeometricMean, positive),
    Case("MaxCount of longs", MaxCount[Long], edge),
    Case("MaxCount of odd doubles", MaxCount[Double], odd),
    Case("MaxCount of strings", MaxCount[String], string),
    Case("MinCount of longs", MinCount[Long], edge),
    Case("MinCount of odd doubles", MinCount[Double], odd),
    Case("MinCount of strings", MinCount[String], string),
    Case("SampleVariance", SampleVariance, double),
    Case("PopulationVariance", PopulationVariance, double),
    Case("SampleStdDev", SampleStdDev, double),
    Case("PopulationStdDev", PopulationStdDev, double),
    Case("CoefficientOfVariation", CoefficientOfVariation, positive),
    Case("ArgMax", ArgMax[Double, Int], measured),
    Case("ArgMin", ArgMin[Double, Int], measured),
    Case("ArgMax of odd doubles", ArgMax[Double, Int], e => (odd(e), e.arrival)),
    Case("ArgMin of odd doubles", ArgMin[Double, Int], e => (odd(e), e.arrival)),
    Case("First", First[Element], identity[Element]),
    Case("Last", Last[Element], identity[Element]),
    Case("Collect", Collect[Element], identity[Element]),
    Case("CollectDistinct", CollectDistinct[String], string),
    Case("Concatenate", Concatenate, string),
    Case("Range", Range, double),
    Case("Range of odd doubles", Range, odd),
    Case("RelativeVariation", RelativeVariation, positive),
    Case("M4", M4, point),
    Case("M4 of odd doubles", M4, e => Point(e.arrival.toLong, odd(e))),
    Case("LongestIncreasingRun", LongestIncreasingRun, point),
    Case(
      "LongestIncreasingRun of odd doubles",
      LongestIncreasingRun,
      e => Point(e.arrival.toLong, odd(e))
    ),
    Case("BloomFilter of longs", BloomFilter[Long](bits = 200, hashes = 3), long),
    Case("BloomFilter of doubles", BloomFilter[Double](bits = 200, hashes = 3), double),
    Case("BloomFilter of strings", BloomFilter[String](bits = 200, hashes = 3), string),
    Case("CountMinSketch of longs", CountMinSketch[Long](width = 16, depth = 3), long),
    Case("CountMinSketch of doubles", CountMinSketch[Double](width = 16, depth = 3), double),
    Case("CountMinSketch of strings", CountMinSketch[String](width = 16, depth = 3), string),
    // so few registers that a window passes through all modes of the sketch
    Case(
      "HyperLogLog of longs",
      HyperLogLog[Long](lgK = 4),
      e => (e.value * 100 + e.arrival).toLong
    ),
    Case("HyperLogLog of doubles", HyperLogLog[Double](lgK = 4), double),
    Case("HyperLogLog of strings", HyperLogLog[String](lgK = 4), string),
    Case("Both, invertible and commutative", Both(Sum[Long], Count[Long]), long),
    Case("Both, invertible", Both(Collect[Element], Sum[Int].on(int _)), identity[Element]),
    Case("Both, commutative", Both(Max[Double], Range), double),
    Case("Both", Both(First[Double], Last[Double]), double),
    Case(
      "Both of Both",
      Both(Both(Sum[Long].on(long _), Count[Element]), Max[Double].on(double _)),
      identity[Element]
    ),
    Case("On, selective", Max[Int].on(int _), identity[Element]),
    Case("On, invertible", Concatenate.on(string _), identity[Element]),
    Case("On", LongestIncreasingRun.on(point _), identity[Element]),
    Case("On of First", First[Int].on(int _), identity[Element]),
    Case("map, selective", Max[Int].map(_ + 1), int),
    Case("map, invertible", Sum[Long].map(_.toString), long),
    Case("map of on", LongestIncreasingRun.on(point _).map(_.map(_.end)), identity[Element]),
    Case("Fields", Fields(Max[Double], Range, Count[Double])((a, b, c) => (a, b, c)), double),
    Case("Fields, invertible", Fields(Sum[Long], Count[Long])((s, n) => s -> n), long)
  )
}
