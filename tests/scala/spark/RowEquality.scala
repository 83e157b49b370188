package io.sash.spark

import org.apache.spark.sql.Row

/**
 * Equality of results. All values are equal exactly, floats bit by bit (any NaN is NaN), save
 * those of columns whose name starts with `approx_`: sums and moments of floats depend on how
 * they are grouped and may differ in the last bits. Arrays of columns whose name starts with
 * `set_` are equal in any order.
 */
object RowEquality {
  private val Tolerance = 1e-9

  /** What is different first, the rows ordered by their first column, a unique one. */
  def difference(expected: Seq[Row], actual: Seq[Row]): Option[String] =
    if (expected.length != actual.length) {
      Some(s"${expected.length} rows expected, ${actual.length} are there")
    } else {
      val rows = sorted(expected).zip(sorted(actual))
      rows.collectFirst {
        case (e, a) if !same(e, a) => s"expected $e\n actually $a"
      }
    }

  private def sorted(rows: Seq[Row]): Seq[Row] = rows.sortBy(_.getAs[Number](0).longValue)

  private def same(expected: Row, actual: Row): Boolean =
    expected.schema == actual.schema && expected.schema.fieldNames.indices.forall { i =>
      val name = expected.schema.fieldNames(i)
      def value(row: Row) = if (name.startsWith("set_")) inOrder(row.get(i)) else row.get(i)
      same(value(expected), value(actual), name.startsWith("approx_"))
    }

  private def inOrder(set: Any): Any = set match {
    case elements: collection.Seq[_] => elements.sortBy(String.valueOf(_: Any))
    case other                       => other
  }

  private def same(expected: Any, actual: Any, approximate: Boolean): Boolean =
    (expected, actual) match {
      case (e: Double, a: Double) if approximate => close(e, a)
      case (e: Double, a: Double) => e.equals(a) // boxed: NaN equals NaN, -0.0 is not 0.0
      case (e: Float, a: Float)   => e.equals(a)
      case (e: Array[Byte], a: Array[Byte]) => e.sameElements(a)
      case (e: Row, a: Row) => e.toSeq.corresponds(a.toSeq)(same(_, _, approximate))
      case (e: collection.Seq[_], a: collection.Seq[_]) =>
        e.corresponds(a)(same(_, _, approximate))
      case (e, a) => e == a
    }

  private def close(e: Double, a: Double): Boolean =
    e.equals(a) || e == a ||
      Math.abs(e - a) <= Tolerance * Math.max(1.0, Math.max(Math.abs(e), Math.abs(a)))
}
