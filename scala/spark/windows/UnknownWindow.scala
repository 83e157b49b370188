package io.sash.spark.windows

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.IntegerType

/**
 * Finds properties of a window that this Sash does not know, since a later Spark has added them.
 * Spark's sealed types may have more members at run time than when Sash was compiled.
 */
private[spark] object UnknownWindow {

  /** A description of the unknown property, if there is one. */
  def of(spec: WindowSpecDefinition): Option[String] =
    ofFrame(spec.frameSpecification).orElse(spec.orderSpec.flatMap(ofOrder).headOption)

  private def ofFrame(frame: WindowFrame): Option[String] = frame match {
    case SpecifiedWindowFrame(RowFrame, lower, upper) =>
      Seq(lower, upper).flatMap(b => ofBound(b).orElse(ofRows(b))).headOption
    case SpecifiedWindowFrame(RangeFrame, lower, upper) =>
      Seq(lower, upper).flatMap(ofBound).headOption
    case SpecifiedWindowFrame(other, _, _) => Some(s"frames by ${other.sql}")
    case other                             => Some(s"the frame ${other.sql}")
  }

  private def ofBound(bound: Expression): Option[String] = bound match {
    case UnboundedPreceding | UnboundedFollowing | CurrentRow => None
    case other: SpecialFrameBoundary                          => Some(s"the bound ${other.sql}")
    case _                                                    => None
  }

  private def ofRows(bound: Expression): Option[String] = bound match {
    case _: SpecialFrameBoundary => None
    case offset =>
      Option.when(offset.dataType != IntegerType)(s"ROWS of type ${offset.dataType.sql}")
  }

  private def ofOrder(order: SortOrder): Option[String] = order.direction match {
    case Ascending | Descending =>
      order.nullOrdering match {
        case NullsFirst | NullsLast => None
        case other                  => Some(s"the order ${other.sql}")
      }
    case other => Some(s"the order ${other.sql}")
  }
}
