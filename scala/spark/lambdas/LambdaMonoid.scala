package io.sash.spark.lambdas

import scala.util.Try

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.DeclarativeAggregate
import org.apache.spark.sql.catalyst.expressions.codegen.CodeGenerator
import org.apache.spark.sql.catalyst.trees.TreePattern.CURRENT_LIKE
import org.apache.spark.sql.types._

import io.sash.spark.aggregates.OwnMonoid
import io.sash.spark.monoids.{LambdaBodies, MonoidTraits, WrappingLong, WrittenMonoid}

/**
 * A monoid that a user wrote in lambdas, whose bodies are plain expressions here. `lift` refers
 * to `inputs`, all others to one or two partial aggregates. If a partial is a struct and never
 * NULL, each of its fields is a cell. Without an identity, one more cell says whether there are
 * no rows; then the aggregate is NULL.
 *
 * @param required the number of inputs, from the first on, that must not be NULL for a row to
 *   count
 * @param selective an expression over two partials, whether combine picks the younger; or true,
 *   and then the combined partial is compared with the older one
 * @param constants expressions that the optimizer turns into constants, which it does for
 *   children only
 */
private[sash] final case class LambdaMonoid(
    inputs: Seq[Expression],
    required: Int,
    lift: Expression,
    combine: Expression,
    lower: Expression,
    identity: Option[Expression],
    inverse: Option[Expression],
    selective: Option[Expression],
    constants: Seq[Expression]
) extends DeclarativeAggregate
    with MonoidTraits
    with WrittenMonoid {
  import LambdaBodies.{compilable, field, optimized}

  override def prettyName: String = MonoidCall.Function.name
  override def children: Seq[Expression] = inputs ++ constants
  override protected def stringArgs: Iterator[Any] = inputs.iterator
  override def dataType: DataType = LambdaBodies.typeOf(lower.dataType)
  override def nullable: Boolean = true
  override def needed: Seq[Expression] = inputs.take(required)

  override def bodies: Seq[Expression] = {
    val lambdas = Seq(Some(lift), Some(combine), identity, inverse, selective)
    Literal(required) +: lambdas.map(_.fold[Expression](Literal(null))(_.transform {
      case r: BoundReference if r.ordinal < 0 => constants(-1 - r.ordinal)
    }))
  }

  private lazy val partialType: DataType = LambdaBodies.typeOf(lift.dataType)

  private def over(body: Expression, values: Seq[Expression]): Expression =
    // bottom-up, since the inserted values may contain references that must stay
    optimized(body.transformUp {
      case r: BoundReference if r.ordinal < 0 => constants(-1 - r.ordinal)
      case r: BoundReference                  => values(r.ordinal)
    })

  /** The partial aggregate of a row that is not skipped. */
  private lazy val lifted: Expression = {
    val (needed, others) = inputs.splitAt(required)
    over(lift, needed.map(i => if (i.nullable) KnownNotNull(i) else i) ++ others)
  }

  private lazy val nothing: Option[Expression] = identity.map(over(_, Nil))

  /**
   * The cells of a partial, with known nullability. `flat` is the partial's type if each of its
   * fields is a cell.
   */
  private case class Layout(flat: Option[StructType], cells: Seq[AttributeReference]) {
    def partial(of: Seq[Expression]): Expression = flat.fold(of.head) { struct =>
      CreateNamedStruct(struct.fieldNames.toSeq.zip(of).flatMap { case (n, c) =>
        Seq(Literal(n), c)
      })
    }

    def split(partial: Expression): Seq[Expression] =
      flat.fold(Seq(partial))(_.indices.map(field(partial, _)))

    /** The partials that the monoid's operations return. */
    def written: Seq[Expression] = {
      val two = Seq(partial(cells), partial(cells.map(_.newInstance())))
      Seq(lifted) ++ nothing ++ (combine +: inverse.toSeq).map(over(_, two))
    }

    /**
     * Makes each cell nullable into which an operation can write a NULL. If the partial itself
     * can be NULL, one cell holds it whole.
     */
    def settled: Layout =
      if (flat.isDefined && written.exists(_.nullable)) {
        Layout(None, Seq(AttributeReference("partial", partialType)())).settled
      } else {
        val nulls = written.map(split(_).map(_.nullable)).transpose.map(_.contains(true))
        val next = cells.zip(nulls).map { case (c, n) => c.withNullability(c.nullable || n) }
        if (next == cells) this else copy(cells = next).settled
      }
  }

  private lazy val layout: Layout = {
    // before the first row a cell without identity is NULL, or a default value if it is primitive
    def cell(name: String, dataType: DataType): AttributeReference =
      AttributeReference(
        name,
        dataType,
        nullable = identity.isEmpty && !CodeGenerator.isPrimitiveType(dataType)
      )()
    (partialType match {
      case struct: StructType if struct.nonEmpty =>
        Layout(Some(struct), struct.map(f => cell(f.name, f.dataType)))
      case other => Layout(None, Seq(cell("partial", other)))
    }).settled
  }

  /**
   * The cell that says whether there are no rows, if there is no identity. With an inverse it
   * counts rows, so that they can be taken back; else it is a boolean.
   */
  private lazy val absence: Option[AttributeReference] =
    if (identity.isDefined) None
    else if (inverse.isDefined) Some(AttributeReference("rows", LongType, nullable = false)())
    else Some(AttributeReference("empty", BooleanType, nullable = false)())

  private def counted: Boolean = absence.exists(_.dataType == LongType)

  private def none(cells: Seq[Expression]): Expression =
    if (counted) EqualTo(cells.last, Literal(0L)) else cells.last

  private lazy val width: Int = layout.cells.length

  override lazy val aggBufferAttributes: Seq[AttributeReference] = layout.cells ++ absence

  override lazy val initialValues: Seq[Expression] = nothing match {
    case Some(partial) => layout.split(partial).map(finished)
    case None =>
      val cells = layout.cells.map { c =>
        if (c.nullable) Literal.create(null, c.dataType) else Literal.default(c.dataType)
      }
      cells :+ (if (counted) Literal(0L) else Literal(true))
  }

  private def finished(e: Expression): Expression = compilable(optimized(e))

  private def applied(
      body: Expression,
      older: Seq[Expression],
      younger: Seq[Expression]
  ): Seq[Expression] = {
    val two = Seq(older, younger).map(cells => layout.partial(cells.take(width)))
    layout.split(over(body, two)).map(finished)
  }

  private def combined(older: Seq[Expression], younger: Seq[Expression]): Seq[Expression] = {
    val both = applied(combine, older, younger)
    if (absence.isEmpty) {
      both
    } else {
      val cells = both.zip(older.zip(younger)).map { case (b, (o, y)) =>
        If(none(older), y, If(none(younger), o, b))
      }
      val absent =
        if (counted) WrappingLong.add(older.last, younger.last)
        else And(older.last, younger.last)
      cells :+ absent
    }
  }

  override lazy val updateExpressions: Seq[Expression] = {
    val present = absence.map(_ => if (counted) Literal(1L) else Literal(false))
    val row = layout.split(lifted).map(finished) ++ present
    OwnMonoid.counting(
      needed,
      next = combined(aggBufferAttributes, row),
      now = aggBufferAttributes
    )
  }

  override lazy val mergeExpressions: Seq[Expression] =
    combined(aggBufferAttributes, inputAggBufferAttributes)

  override lazy val evaluateExpression: Expression = {
    val answer = finished(over(lower, Seq(layout.partial(layout.cells))))
    absence.fold(answer) { _ =>
      If(none(aggBufferAttributes), Literal.create(null, dataType), answer)
    }
  }

  /**
   * The answer over no rows. Spark asks for it when it rewrites several DISTINCT or a correlated
   * subquery, since such a plan may have no group.
   */
  override lazy val defaultResult: Option[Literal] =
    if (identity.isEmpty || constants.exists(_.containsPattern(CURRENT_LIKE))) None
    else
      Try {
        val cells = new GenericInternalRow(initialValues.map(_.eval()).toArray[Any])
        BindReferences.bindReference(evaluateExpression, aggBufferAttributes).eval(cells)
      }.toOption
        .map(Literal(_, dataType)) // if lower fails over no rows, it fails at run time instead

  override def subtract: Seq[Expression] = inverse.fold(Seq.empty[Expression]) { body =>
    val (whole, oldest) = (aggBufferAttributes, inputAggBufferAttributes)
    val rest = applied(body, whole, oldest)
    if (absence.isEmpty) {
      rest
    } else {
      val unchanged = Or(none(oldest), EqualTo(whole.last, oldest.last))
      val cells = rest.zip(whole).map { case (r, w) => If(unchanged, w, r) }
      cells :+ WrappingLong.subtract(whole.last, oldest.last)
    }
  }

  override def selectsRight: Option[Expression] = selective.map { body =>
    val (older, younger) = (aggBufferAttributes, inputAggBufferAttributes)
    val picked = body match {
      case Literal(true, _) =>
        val same = applied(combine, older, younger).zip(older).map { case (c, o) =>
          EqualNullSafe(c, o): Expression
        }
        Not(same.reduce(And(_, _)))
      case condition =>
        val two = Seq(older, younger).map(cells => layout.partial(cells.take(width)))
        finished(over(condition, two))
    }
    if (absence.isEmpty) picked else And(Not(none(younger)), Or(none(older), picked))
  }

  override protected def withNewChildrenInternal(c: IndexedSeq[Expression]): LambdaMonoid = {
    val (newInputs, newConstants) = c.splitAt(inputs.length)
    copy(inputs = newInputs, constants = newConstants)
  }
}

private[sash] object LambdaMonoid {

  /** The reference that stands for the constant number `i` in a lambda's body. */
  private[lambdas] def constant(constants: Seq[Expression], i: Int): Expression =
    BoundReference(-1 - i, constants(i).dataType, constants(i).nullable)
}
