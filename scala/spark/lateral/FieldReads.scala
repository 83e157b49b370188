package io.sash.spark.lateral

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.types.{ArrayType, DataType, StructType}

/**
 * The fields that the operators above a window read of found rows.
 *
 * @param found the window's output column: a row, or a list of rows
 * @param rows attributes and variables that stand for one row: the column itself, or the exploded
 *   rows of the list and the variables of lambda functions over it
 * @param paths the fields that are read, each a path through nested structs
 */
private[lateral] final case class FieldReads private (
    found: Attribute,
    rows: Seq[NamedExpression],
    paths: Set[FieldReads.Path]
) {
  import FieldReads._

  /** The paths in order. A path inside another path that is read is left out. */
  lazy val fields: Seq[Path] = paths.toSeq
    .filterNot(path => paths.exists(p => p != path && path.startsWith(p)))
    .sorted(Ordering.Implicits.seqOrdering[Seq, Int])

  /** Adds the reads of an operator that passes the rows on; none if it reads a whole row. */
  private def through(operator: LogicalPlan): Option[FieldReads] = operator match {
    case p: Project => and(p.projectList.filterNot(isFound))
    case Generate(Explode(list), _, _, _, Seq(row), _) if isList(list) =>
      copy(rows = rows :+ row).ofList(list)
    case other => and(other.expressions)
  }

  /** Adds the reads of an operator that drops the rows; none if it reads a whole row. */
  private def until(operator: LogicalPlan): Option[FieldReads] =
    if (operator.output.exists(isFound)) None else and(operator.expressions)

  private def and(expressions: Seq[Expression]): Option[FieldReads] =
    expressions.foldLeft(Option(this))((reads, e) => reads.flatMap(_.and(e)))

  private def and(e: Expression): Option[FieldReads] = e match {
    case _: GetStructField if pathOf(e).nonEmpty => Some(copy(paths = paths ++ pathOf(e)))
    case GetArrayStructFields(list, _, i, _, _) if isList(list) =>
      copy(paths = paths + Seq(i)).ofList(list)
    case _: IsNull | _: IsNotNull | _: Size if isFound(e.children.head) => Some(this)
    case _ if isFound(e) || isOpaque(e)                                 => None
    case _                                                              => and(e.children)
  }

  /** Adds the reads of `filter` functions over the list. */
  private def ofList(list: Expression): Option[FieldReads] = list match {
    case ArrayFilter(below, LambdaFunction(isMet, Seq(row), _)) =>
      copy(rows = rows :+ row).and(isMet).flatMap(_.ofList(below))
    case _ => Some(this)
  }

  private def isList(e: Expression): Boolean = e match {
    case ArrayFilter(below, LambdaFunction(_, Seq(_), _)) => isList(below)
    case a: Attribute => a.exprId == found.exprId && a.dataType.isInstanceOf[ArrayType]
    case _            => false
  }

  private def isFound(e: Expression): Boolean = e match {
    case n: NamedExpression => n.exprId == found.exprId || isRow(n)
    case _                  => false
  }

  private def isRow(n: NamedExpression): Boolean = rows.exists(_.exprId == n.exprId)

  /** Whether an expression is a subquery that reads the rows. */
  private def isOpaque(e: Expression): Boolean =
    e.isInstanceOf[PlanExpression[_]] && e.references.exists(isFound)

  /** The path of an expression that reads a field of a row; none for others. */
  private def pathOf(e: Expression): Option[Path] = e match {
    case GetStructField(n: NamedExpression, i, _) => Option.when(isRow(n))(Seq(i))
    case GetStructField(below, i, _)              => pathOf(below).map(_ :+ i)
    case _                                        => None
  }

  /**
   * Rewrites an operator to read a column that has only [[fields]].
   *
   * @param slim the new column
   */
  def over(slim: Attribute): LogicalPlan => LogicalPlan = {
    val row = (slim.dataType match {
      case list: ArrayType => list.elementType
      case one             => one
    }).asInstanceOf[StructType]
    val renamed = (rows.map(r => r.exprId -> like(r, row)).toMap + (found.exprId -> slim))

    def field(e: Expression, path: Path): Expression = {
      val place = fields.indexWhere(path.startsWith(_))
      if (path.length > fields(place).length)
        e.withNewChildren(Seq(field(e.children.head, path.init)))
      else GetStructField(renamed(rootOf(e).exprId), place, Some(row(place).name))
    }

    _.transformExpressions {
      case e: GetStructField if pathOf(e).nonEmpty => field(e, pathOf(e).get)
      case e @ GetArrayStructFields(list, _, i, _, _) if isList(list) =>
        val place = fields.indexOf(Seq(i))
        e.copy(field = row(place), ordinal = place, numFields = row.length)
      case n: NamedExpression if isFound(n) => renamed(n.exprId)
    }
  }
}

private[lateral] object FieldReads {

  /** The ordinal of a field in a row, then the ordinal of a field inside it, and so on. */
  type Path = Seq[Int]

  /**
   * The reads of all operators above a window; none if one of them reads a whole row.
   *
   * @param between the operators that pass the rows on, from the window upwards
   * @param top the operator that drops them
   */
  def of(found: Attribute, between: Seq[LogicalPlan], top: LogicalPlan): Option[FieldReads] = {
    val none = FieldReads(
      found,
      if (found.dataType.isInstanceOf[ArrayType]) Nil else Seq(found),
      Set.empty
    )
    between
      .foldLeft(Option(none))((reads, operator) => reads.flatMap(_.through(operator)))
      .flatMap(_.until(top))
  }

  private def rootOf(e: Expression): NamedExpression = e match {
    case n: NamedExpression => n
    case other              => rootOf(other.children.head)
  }

  /** A fresh attribute or variable for a row of another type. */
  private def like(row: NamedExpression, dataType: DataType): NamedExpression = row match {
    case v: NamedLambdaVariable => NamedLambdaVariable(v.name, dataType, v.nullable)
    case _                      => AttributeReference(row.name, dataType, row.nullable)()
  }
}
