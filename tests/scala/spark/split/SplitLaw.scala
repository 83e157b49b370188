package io.sash.spark.split

import scala.util.Random

import org.apache.spark.sql.Row
import org.scalatest.Assertion

import io.sash.spark._
import io.sash.spark.base.SashConf

/** Divided windows have the rows of Spark, and leave in the promised order. */
trait SplitLaw extends SplitSuite {
  import SplitLaw._

  private val seed = 20261127L
  private var divided = 0

  /** The settings under which windows are divided. */
  protected def dividing: Seq[(String, String)] = Seq(SashConf.WindowSplitThreshold.key -> "0")

  protected def rows(query: String): (Seq[Row], Boolean) = {
    val frame = spark.sql(query)
    val answer = frame.collect().toSeq
    val promises = collect(frame.queryExecution.executedPlan) { case c: CheckedExec => c }
    promises.foreach(c => assert(CheckedPromises.broken(c).isEmpty))
    (answer, operators(frame).nonEmpty)
  }

  /** The rows of Spark. */
  protected def expected(query: String): Seq[Row] = withSash(enabled = false)(rows(query)._1)

  protected def check(query: String, mustSplit: Boolean = false): Assertion =
    withClue(s"$query\n") {
      val expected = this.expected(query)
      val (actual, isSplit) = CheckedPromises.whileOn(rows(query))
      if (isSplit) divided += 1
      assert(isSplit || !mustSplit, "no operator of stretches ran")
      val difference = RowEquality.difference(expected, actual)
      assert(difference.isEmpty, difference.getOrElse(""))
    }

  protected def law(name: String, count: Int, least: Double)(query: Random => String): Unit =
    test(s"random windows: $name") {
      TestTable.create(spark)
      val random = new Random(seed + name.hashCode)
      divided = 0
      (1 to count).foreach { i =>
        // with small partitions there are as many tasks as shuffle partitions, else four at most
        val size = if (i % 4 == 0) "1KB" else "64MB"
        val modes = dividing ++ randomMode(random) :+
          ("spark.sql.adaptive.advisoryPartitionSizeInBytes" -> size)
        withClue(s"seed $seed, query $i, ${modes.mkString(", ")}\n") {
          withSettings(modes: _*)(check(query(random)))
        }
      }
      assert(divided >= least * count, s"only $divided of $count windows were divided")
    }
}

object SplitLaw {
  val orders =
    Seq("id", "uq", "tie", "d", "sc", "ts", "st", "tie, d", "bo, uq", "ym", "bin", "large")

  val positions = Seq(
    "row_number()",
    "rank()",
    "dense_rank()",
    "percent_rank()",
    "cume_dist()",
    "ntile(1)",
    "ntile(7)",
    "ntile(1000)",
    "lag(i)",
    "lag(i, 90, -1)",
    "lag(s) IGNORE NULLS",
    "lead(s, 3)",
    "lead(i, 150, 7)",
    "first_value(i) IGNORE NULLS",
    "last_value(s) IGNORE NULLS",
    "last_value(i)",
    "first_value(s)",
    "nth_value(i, 1)"
  )

  def pick[T](random: Random, values: Seq[T]): T = values(random.nextInt(values.length))

  /** A frame of ROWS over a random order, behind `keys`. */
  def rowsOf(random: Random, keys: String = ""): String = {
    val steps = Seq(-150, -70, -20, -5, -2, -1, 0, 1, 2, 7, 30, 120)
    val ends = endsOf(random, steps, growing = 5)(_.toString)
    val by = s"${pick(random, orders)} ${WindowFrames.direction(random)}"
    s"($keys ORDER BY $by ROWS BETWEEN $ends)"
  }

  /**
   * Two ends of a frame. In one of four frames the lower end is unbounded.
   *
   * @param growing in one of so many frames the upper end is unbounded
   */
  private def endsOf(random: Random, steps: Seq[Int], growing: Int)(
      step: Int => String
  ): String = {
    val Seq(lower, upper) = Seq(pick(random, steps), pick(random, steps)).sorted
    val from =
      if (random.nextInt(4) == 0) "UNBOUNDED PRECEDING" else WindowFrames.bound(lower, step)
    val to =
      if (random.nextInt(growing) == 0) "UNBOUNDED FOLLOWING" else WindowFrames.bound(upper, step)
    s"$from AND $to"
  }

  /** A frame of RANGE whose bounds are rows that tie with the current one, or an end. */
  def peersOf(random: Random, keys: String = ""): String = {
    val key = pick(random, orders)
    val frame = pick(random, Seq("CURRENT ROW", "UNBOUNDED PRECEDING"))
    val end = pick(random, Seq("CURRENT ROW", "UNBOUNDED FOLLOWING"))
    s"($keys ORDER BY $key ${WindowFrames.direction(random)} RANGE BETWEEN $frame AND $end)"
  }

  def rangeOf(random: Random, keys: String = ""): String = {
    val key = pick(random, WindowFrames.Keys)
    val steps = Seq(-40, -8, -3, -2, -1, 0, 1, 2, 5, 30)
    val ends = endsOf(random, steps, growing = 4)(key.offset)
    val by = s"${key.tied} ${WindowFrames.direction(random)}"
    s"($keys ORDER BY $by RANGE BETWEEN $ends)"
  }

  /** Some functions of a row's position. */
  def positionsIn(random: Random, keys: String = ""): String = {
    val by = s"${pick(random, orders)} ${WindowFrames.direction(random)}"
    val chosen = random.shuffle(positions).take(1 + random.nextInt(4))
    val columns = chosen.zipWithIndex.map { case (f, i) => s"$f OVER w AS c$i" }
    s"SELECT id, ${columns.mkString(", ")} FROM data WINDOW w AS ($keys ORDER BY $by)"
  }

  def calls(random: Random, n: Int): Seq[TestCall] =
    random.shuffle(WindowCalls.All).take(n)

  def unordered(random: Random, n: Int): Seq[TestCall] =
    random.shuffle(WindowCalls.All.filterNot(_.ordered)).take(n)

  private def randomMode(random: Random): Seq[(String, String)] = {
    RandomQuery.codeMode(random) ++ Seq(
      // Spark's radix sort changes the order of rows that tie if others are NULL
      "spark.sql.sort.enableRadixSort" -> "false",
      "spark.sql.shuffle.partitions" -> pick(random, Seq("2", "3", "7", "16", "40")),
      "spark.sql.adaptive.enabled" -> random.nextBoolean().toString,
      "spark.sql.adaptive.coalescePartitions.enabled" -> random.nextBoolean().toString,
      "spark.sql.ansi.enabled" -> random.nextBoolean().toString
    )
  }
}
