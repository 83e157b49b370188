package io.sash.spark.kinds

import scala.util.Random

import io.sash.spark.SashSuite

/** Random rows that windows of kinds are made of. */
trait ItemsSuite extends SashSuite {

  /** The rows, which are the view `items`, too. */
  protected def create(seed: Long): Seq[Item] = {
    val random = new Random(seed)
    def sometimes[T](percent: Int)(value: => T): Option[T] =
      if (random.nextInt(100) < percent) None else Some(value)
    val items = (0 until 300).map { id =>
      Item(
        id,
        sometimes(10)(random.nextInt(3)),
        sometimes(5)(random.nextInt(120)),
        sometimes(15)(random.nextInt(12)),
        sometimes(10)(random.nextInt(16) / 4.0 - 1.0),
        sometimes(20)(random.nextInt(6) == 0)
      )
    }
    spark.createDataFrame(items).createOrReplaceTempView("items")
    items
  }
}

final case class Item(
    id: Int,
    k: Option[Int],
    at: Option[Int],
    x: Option[Int],
    y: Option[Double],
    p: Option[Boolean]
)
