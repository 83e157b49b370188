package io.sash.spark.streams.plan

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.Window

import io.sash.spark.windows.{FrameSourceText, OfSubquery}

/**
 * Expressions of a Window as the user wrote them. The analyzer has moved expressions out of
 * PARTITION BY, ORDER BY and arguments, and has given them names of its own.
 *
 * @param inputs columns made for the arguments of aggregates
 */
private[streams] final class WindowSourceText(val window: Window, inputs: Seq[Alias] = Nil) {
  private[this] val definitions: Map[ExprId, Expression] =
    AnalyzerColumns.in(window.child) ++ inputs.map(i => i.exprId -> i.child)

  private[this] val fields: Map[ExprId, Seq[Expression]] = window.child.collect {
    case OfBuckets(stateful, processor) => stateful.outputObjAttr.exprId -> processor.fields
  }.toMap

  def apply(e: Expression): String = whole(e).sql

  /** The calls over the window. */
  val calls: Seq[String] = window.windowExpressions
    .flatMap(_.collect { case w: WindowExpression => call(w) })
    .distinct

  /** The window specification. */
  def spec: String = of(window.partitionSpec, window.orderSpec)

  private def call(w: WindowExpression): String =
    w.getTagValue(OfSubquery.Tag).fold(overRows(w))(_.subquery)

  private def overRows(w: WindowExpression): String = {
    val spec = w.windowSpec
    val frame = spec.frameSpecification match {
      case f: SpecifiedWindowFrame => Seq(FrameSourceText(f))
      case _                       => Nil
    }
    s"${apply(w.windowFunction)} OVER ${of(spec.partitionSpec, spec.orderSpec, frame)}"
  }

  private def of(by: Seq[Expression], order: Seq[SortOrder], frame: Seq[String] = Nil): String =
    (clause("PARTITION BY", by.map(apply)) ++ clause("ORDER BY", order.map(ordered)) ++ frame)
      .mkString("(", " ", ")")

  private def clause(keyword: String, of: Seq[String]): Seq[String] =
    if (of.isEmpty) Nil else Seq(of.mkString(s"$keyword ", ", ", ""))

  private def ordered(o: SortOrder): String = {
    val nulls =
      if (o.nullOrdering == o.direction.defaultNullOrdering) "" else s" ${o.nullOrdering.sql}"
    val direction = if (o.direction == Ascending) "" else s" ${o.direction.sql}"
    apply(o.child) + direction + nulls
  }

  private def whole(e: Expression): Expression = e match {
    case FieldOf(a, i) if fields.contains(a.exprId)     => whole(fields(a.exprId)(i))
    case a: Attribute if definitions.contains(a.exprId) => whole(definitions(a.exprId))
    case a: AttributeReference                          => a.withQualifier(Nil)
    case t: TaggingExpression                           => whole(t.child)
    case c: Cast if c.getTagValue(Cast.USER_SPECIFIED_CAST).isEmpty => whole(c.child)
    case other                                                      => other.mapChildren(whole)
  }
}
