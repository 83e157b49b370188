package io.sash.papers.algebra

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import io.sash.core.algebra.Aggregation

/** Bulk moves, folds and shrinks of the library's columns equal the same steps one by one. */
class StorageSuite extends AnyFunSuite {
  private val seed = 11L
  private val slots = 40

  private final class Tried[In, Out](
      val name: String,
      aggregation: Aggregation[In, _, Out],
      value: Random => In
  ) {
    def filled(): Column[In, Out] = {
      val random = new Random(seed)
      val column = Column.of(aggregation).grow(slots)
      (0 until slots).foreach(s => column.lift(s, value(random)))
      column
    }

    def contents(column: Column[In, Out], until: Int): Seq[Out] =
      (0 until until).map(column.lower)

    def sameAsOneByOne(): Unit = {
      val random = new Random(seed)
      val (many, single) = (filled(), filled())
      (0 until 200).foreach { _ =>
        val count = random.nextInt(20)
        val Seq(dst, src) = Seq.fill(2)(random.nextInt(slots - count))
        many.move(dst, src, count)
        val order = 0 until count
        (if (dst < src) order else order.reverse).foreach(i => single.copy(dst + i, src + i))
        val first = 1 + random.nextInt(slots - 1)
        val last = first - 1 + random.nextInt(math.min(4, slots - first + 1))
        many.foldRange(0, first, last)
        (first to last).foreach(single.combine(0, 0, _))
        assert(contents(many, slots) == contents(single, slots), s"seed $seed")
        many.lift(0, value(new Random(src.toLong)))
        single.lift(0, value(new Random(src.toLong)))
      }
    }

    def keptWhenShrunk(): Unit = {
      val column = filled()
      val before = contents(column, 7)
      column.shrink(7)
      assert(contents(column, 7) == before)
      assertThrows[IndexOutOfBoundsException](column.lower(7))
      column.shrink(9)
      assert(contents(column.grow(slots), 7) == before)
      column.identity(slots - 1)
    }
  }

  private def small(random: Random): Int = random.nextInt(100)
  private def double(random: Random): Double = small(random).toDouble

  for (
    tried <- Seq(
      new Tried[Int, Int]("Sum[Int]", Sum[Int], small),
      new Tried[Long, Long]("Max[Long]", Max[Long], small(_).toLong),
      new Tried[Double, Double]("Sum[Double]", Sum[Double], double),
      new Tried[Long, Long]("MaxCount[Long]", MaxCount[Long], small(_).toLong),
      new Tried[Double, Double]("Range", Range, double),
      new Tried[Double, Double]("SampleStdDev", PopulationVariance, double),
      new Tried[String, Option[String]]("Max.of[String]", Max.of[String], small(_).toString),
      new Tried[Int, Vector[Int]]("Collect", Collect[Int], small),
      new Tried[Int, (Long, Int)]("Both", Both(Count[Int], Sum[Int]), small)
    )
  ) {
    test(s"${tried.name}: ranges of slots, as one by one")(tried.sameAsOneByOne())
    test(s"${tried.name}: what is left when a column shrinks")(tried.keptWhenShrunk())
  }
}
