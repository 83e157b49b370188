package io.sash.spark.streams.ask

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.QuaternaryLike
import org.apache.spark.sql.types._

import io.sash.spark.base.{SashErrors, SashFunction}

/**
 * Asks for the windows of a stream, as a checkpoint of its query holds them. It is a condition
 * above the query, and the analyzer replaces both by a plan of the answers.
 *
 * @param first the checkpoint's location
 * @param second the keys, or NULL for all
 * @param third the time, or NULL for the time of each key's last row
 * @param fourth the values of columns from which windows have each row's own width, or NULL
 */
private[spark] final case class ReadState(
    first: Expression,
    second: Expression,
    third: Expression,
    fourth: Expression
) extends Expression
    with QuaternaryLike[Expression]
    with Predicate
    with Unevaluable {
  import ReadState.refuse

  override def nullable: Boolean = false

  override def prettyName: String = ReadState.Name

  def checkpoint: String = valueOf("checkpoint", first, "a constant STRING") {
    case _: StringType => true
    case _             => false
  }.map(_.toString).getOrElse(throw refuse("checkpoint", "it is a constant STRING, not NULL"))

  def keys: Option[Expression] =
    valueOf("keys", second, "a constant ARRAY of keys")(_.isInstanceOf[ArrayType]).map(_ =>
      unnamed(second)
    )

  /** In microseconds since 1970. */
  def at: Option[Long] =
    valueOf("at", third, "a constant TIMESTAMP")(_ == TimestampType).map(_.asInstanceOf[Long])

  def widths: Option[Expression] =
    valueOf("widths", fourth, "a constant STRUCT")(_.isInstanceOf[StructType]).map(_ =>
      unnamed(fourth)
    )

  private def valueOf(name: String, e: Expression, what: String)(
      is: DataType => Boolean
  ): Option[Any] = {
    val isNull = e.dataType == NullType
    if (!unnamed(e).foldable || !(isNull || is(e.dataType)))
      throw refuse(name, s"it is $what, where it is ${e.sql} of type ${e.dataType.sql}")
    if (isNull) None else Option(unnamed(e).eval())
  }

  /** The expression without aliases of a struct's fields, which are no constants for Spark. */
  private def unnamed(e: Expression): Expression = e.transform { case a: Alias => a.child }

  override protected def withNewChildrenInternal(
      checkpoint: Expression,
      keys: Expression,
      at: Expression,
      widths: Expression
  ): ReadState = copy(checkpoint, keys, at, widths)
}

private[spark] object ReadState {
  val Name: String = "read_state"

  def isIn(e: Expression): Boolean = e.exists(_.isInstanceOf[ReadState])

  def isIn(plan: LogicalPlan): Boolean = plan.expressions.exists(isIn(_: Expression))

  def refuse(argument: String, why: String): Throwable =
    SashErrors.invalidArgument(Name, argument, why)
}

/** Lies apart, since streams do without it. */
private[spark] object ReadStateFunction {
  val function: SashFunction = SashFunction.of(
    ReadState.Name,
    """
    Reads the windows of a stream from the checkpoint of its query: a row for each key, with the
    answers of the windows at a time. Of hop windows it reads all that are open, each in a row.

    * checkpoint - a constant STRING: the checkpoint's location
    * keys - a constant ARRAY of the values of PARTITION BY, or of GROUP BY beside the window. If
      there are several, they are STRUCTs. NULL, the default, is all keys
    * at - a constant TIMESTAMP after the watermark; NULL, the default, is the time of each key's
      last row. Hop windows have none
    * widths - a constant STRUCT of the columns from which windows have each row's own width, as
      in `named_struct('w', 5)`; NULL, the default, if there are no such windows

    It is the condition of a WHERE above the query whose windows the checkpoint holds, as in
    `SELECT * FROM features WHERE read_state('/checkpoint', array('Ann'))`. The answer is a batch
    with the columns of the query. See docs/streaming-state.md.
    """,
    classOf[ReadState],
    optional = 3,
    group = "misc_funcs"
  ) { case checkpoint +: others =>
    val Seq(keys, at, widths) = others.padTo(3, Literal(null))
    ReadState(checkpoint, keys, at, widths)
  }
}
