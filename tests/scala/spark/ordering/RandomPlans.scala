package io.sash.spark.ordering

import scala.util.Random

import org.apache.spark.sql.{Column, DataFrame, SparkSession}
import org.apache.spark.sql.expressions.Window
import org.apache.spark.sql.functions._

/**
 * Random plans over rows of `id`, which is unique, small keys `a`, `b`, `c`, an order `o` with ties
 * and nulls, and `n`, the answer of whatever was computed last. A plan is a function of the
 * session, so that the same one is made with Sash on and off. Every answer is determined by the
 * rows alone: windows are ordered up to `id`, and limits, too.
 *
 * @param ties whether windows leave `id` out of their order. Their answers then depend on the order
 *   in which the rows arrive, and every plan runs in one partition, where Spark determines that order
 */
final class RandomPlans(random: Random, ties: Boolean = false) {
  private type Plan = DataFrame => DataFrame
  private val columns = Seq("id", "a", "b", "c", "o", "n")

  private def pick[T](values: T*): T = values(random.nextInt(values.length))
  private def flip(): Boolean = random.nextBoolean()

  /** Some of the keys, in some sequence, and the rest. */
  private def keys(): (Seq[String], Seq[String]) =
    random.shuffle(Seq("a", "b", "c")).splitAt(pick(0, 1, 1, 1, 2, 2, 3))

  private def directed(name: String): Column = pick(
    col(name).asc,
    col(name).asc,
    col(name).desc,
    col(name).asc_nulls_last,
    col(name).desc_nulls_first
  )

  /** A sort up to `id`: of the keys, or of others. */
  def sort(): Seq[Column] = sorted() :+ col("id")

  private def sorted(): Seq[Column] = {
    val (some, others) = keys()
    (some ++ pick(Nil, Seq("o"), others)).map(if (flip()) col(_).asc else directed)
  }

  /** The order of a window: a sort up to `id`, or one with ties. */
  private def ordered(by: Seq[Column]): Seq[Column] =
    if (!ties) by :+ col("id") else if (by.isEmpty) Seq(col("o")) else by

  private def columnOf(answer: => Column): Plan = {
    val computed = answer
    df => df.select(columns.init.map(col) :+ computed.cast("long").as("n"): _*)
  }

  private def sliding(partition: Seq[String], order: Seq[Column]): Column = {
    val spec = Window.partitionBy(partition.map(col): _*).orderBy(order: _*)
    val frames = Seq(
      spec.rowsBetween(-3, 0),
      spec.rowsBetween(-2, 1),
      spec.rowsBetween(0, Window.unboundedFollowing)
    )
    val frame = pick(frames ++ Option.when(ties)(spec.rangeBetween(0, 0)): _*)
    coalesce(pick(sum("id"), max("o"), first("id"), count("n"), sum("n")).over(frame), lit(0))
  }

  private def ranking(partition: Seq[String], order: Seq[Column]): Column = {
    val spec = Window.partitionBy(partition.map(col): _*).orderBy(order: _*)
    coalesce(
      pick(
        row_number().over(spec),
        rank().over(spec),
        lag("id", 2).over(spec),
        sum("id").over(spec)
      ),
      lit(0)
    )
  }

  /** Windows of one SELECT, whose keys and orders are cuts of one sequence or of several. */
  private def windows(): Plan = {
    val sequence = random.shuffle(Seq("a", "b", "c"))
    val directions = sequence.map(n => if (random.nextInt(4) == 0) directed(n) else col(n).asc)
    val calls = Seq.fill(pick(1, 1, 2, 2, 3)) {
      val cut = pick(0, 1, 1, 2, 3)
      val (partition, order) =
        if (random.nextInt(4) == 0) (keys()._1, ordered(sorted()))
        else (sequence.take(cut), ordered(directions.drop(cut)))
      if (random.nextInt(3) == 0) ranking(partition, order) else sliding(partition, order)
    }
    columnOf(calls.map(_.cast("long")).reduce((l, r) => l * 31 + r))
  }

  private def renamed(): Plan = {
    val Seq(x, y, z) = random.shuffle(Seq("a", "b", "c"))
    df => df.select(col("id"), col(x).as("a"), col(y).as("b"), col(z).as("c"), col("o"), col("n"))
  }

  private def aggregated(): Plan = {
    val (some, _) = keys()
    val counts = (some :+ "a").distinct.take(pick(1, 2)).map(col)
    pick[Plan](
      df => df.groupBy(columns.init.map(col): _*).agg(max("n").as("n")),
      df => {
        val sums = df.groupBy(counts: _*).agg(max("n").as("m"), count("id").as("q"))
        df.join(sums, counts.map(_.toString), "inner")
          .select(columns.init.map(col) :+ (col("n") + col("m") * col("q")).as("n"): _*)
      }
    )
  }

  private def joined(): Plan = {
    val hint = pick("merge", "broadcast", "shuffle_hash")
    val kind = pick("inner", "left")
    val on = pick(Seq("id"), Seq("a", "id"), Seq("a"))
    val below = if (flip()) windows() else renamed()
    df => {
      val other = below(df)
      val right =
        if (on.contains("id")) other.select(on.map(col) :+ col("n").as("m"): _*)
        else other.groupBy(on.map(col): _*).agg(sum("n").as("m"))
      df.join(right.hint(hint), on, kind)
        .select(columns.init.map(col) :+ (col("n") * 7 + coalesce(col("m"), lit(0))).as("n"): _*)
    }
  }

  private def unioned(): Plan = {
    val (left, right) = (windows(), if (flip()) windows() else renamed())
    df => left(df.filter("id % 2 = 0")).union(right(df.filter("id % 2 = 1")))
  }

  private def moved(): Plan = {
    val n = pick(1, 2, 3)
    val by = pick("a", "b", "c", "o")
    val order = sort()
    val most = pick(40, 100)
    if (ties)
      pick[Plan](
        _.coalesce(1),
        _.repartition(1),
        _.sortWithinPartitions(order: _*),
        _.orderBy(order: _*),
        _.orderBy(order.init: _*),
        _.orderBy(order: _*).limit(most),
        _.filter("id % 7 <> 0")
      )
    else
      pick[Plan](
        _.coalesce(1),
        _.repartition(n),
        _.repartition(n, col(by)),
        _.repartitionByRange(n, col(by)),
        _.repartition(n, col(by)).sortWithinPartitions(order: _*),
        _.sortWithinPartitions(order: _*),
        // sorts below a shuffle, which keeps nothing of them
        _.sortWithinPartitions(order: _*).repartition(n, col(by)),
        _.orderBy(order: _*).repartition(n),
        _.orderBy(order: _*),
        _.orderBy(order: _*).limit(most),
        _.orderBy(order: _*).offset(5).limit(most),
        _.filter("id % 7 <> 0"),
        _.dropDuplicates("id")
      )
  }

  /** @param kept what is cached is to be handed here, or null for a plan without caches */
  def plan(kept: DataFrame => Unit): SparkSession => DataFrame = {
    val (rows, slices) = (pick(120, 250), if (ties) 1 else pick(1, 2, 3))
    val steps = Seq.fill(pick(2, 3, 4, 5)) {
      pick[() => Plan](
        () => windows(),
        () => windows(),
        () => windows(),
        () => moved(),
        () => moved(),
        () => renamed(),
        () => aggregated(),
        () => joined(),
        () => if (ties) windows() else unioned()
      )()
    }
    val cached = pick(-1, -1, -1, random.nextInt(steps.length))
    session => {
      val base = session
        .range(0, rows.toLong, 1, slices)
        .selectExpr(
          "id",
          "pmod(hash(id), 3) AS a",
          "pmod(hash(id, 1), 4) AS b",
          "pmod(hash(id, 2), 5) AS c",
          "IF(id % 11 = 0, NULL, pmod(hash(id, 3), 30)) AS o",
          "0L AS n"
        )
      val arriving = if (ties) base.sortWithinPartitions("b", "o") else base
      steps.zipWithIndex.foldLeft(arriving) { case (df, (step, i)) =>
        val next = step(df)
        if (i == cached) kept(next)
        next
      }
    }
  }
}
