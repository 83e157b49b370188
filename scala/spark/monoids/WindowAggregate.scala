package io.sash.spark.monoids

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.aggregate.{
  AggregateFunction,
  TypedImperativeAggregate
}
import org.apache.spark.sql.types.DataType

import io.sash.spark.base.SashErrors

/** An aggregate that is in no GROUP BY, so its buffers are never sent or merged. */
private[spark] abstract class WindowOnly[T] extends TypedImperativeAggregate[T] {
  override final def merge(buffer: T, input: T): T = unplanned()

  override final def serialize(buffer: T): Array[Byte] = unplanned()

  override final def deserialize(storageFormat: Array[Byte]): T = unplanned()

  protected final def unplanned(): Nothing =
    throw new IllegalStateException(s"${sql(false)} is planned for windows only")
}

/** Stands for another aggregate in a window that Spark's analyzer cannot represent. */
private[spark] abstract class WindowAggregate[T] extends WindowOnly[T] {
  def function: AggregateFunction

  override final def dataType: DataType = function.dataType

  override def nullable: Boolean = function.nullable

  override final def prettyName: String = function.prettyName
}

/** An aggregate that Spark has no operator for. */
private[spark] trait OnlySash extends WindowOnly[AnyRef] {

  /** The error if Sash's operator does not run it. */
  def notRun(why: String): Throwable

  /** The error if the call has no OVER. */
  def withoutOver: Throwable

  override final def createAggregationBuffer(): AnyRef = unplanned()
  override final def update(buffer: AnyRef, input: InternalRow): AnyRef = unplanned()
  override final def eval(buffer: AnyRef): Any = unplanned()
}

/**
 * An aggregate whose answer depends on the row that it is for, besides the frame's rows. Spark's
 * operators have no place for that row.
 */
private[spark] trait OfCurrentRow extends OnlySash {
  override final def notRun(why: String): Throwable =
    SashErrors.invalidArgument(prettyName, "x", why)

  override final def withoutOver: Throwable = SashErrors.withoutOver(prettyName)
}
