package io.sash.spark.kinds

import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.sash.CastsAs

import io.sash.spark.monoids.{OnlySash, Replacement, WindowAggregate}

/**
 * An aggregate over windows that SQL's frames cannot express. Only Sash's operator runs it.
 *
 * @param function the aggregate
 * @param windows the modifiers, and the kind unless the window's frame defines the rows. Empty
 *   while they are still in PARTITION BY and one of them can make an answer NULL.
 */
private[spark] final case class SlidingAggregate(
    function: AggregateFunction,
    windows: Seq[WindowKind],
    mutableAggBufferOffset: Int = 0,
    inputAggBufferOffset: Int = 0
) extends WindowAggregate[AnyRef]
    with OnlySash
    with CastsAs {

  def kind: Option[WindowKind] = windows.find(!_.isInstanceOf[WindowModifier])

  def modifiers: Seq[WindowKind] = windows.filter(_.isInstanceOf[WindowModifier])

  def exclude: Option[WindowExclude] = windows.collectFirst { case e: WindowExclude => e }

  def minPeriods: Option[WindowMinPeriods] = windows.collectFirst { case m: WindowMinPeriods =>
    m
  }

  def slide: Option[WindowSlide] = windows.collectFirst { case s: WindowSlide => s }

  /**
   * The inputs of the aggregate and of all windows. Spark extracts each input as a column, and
   * leaves the expressions above the inputs in place.
   */
  override def children: Seq[Expression] = function.children ++ windows.flatMap(_.inputs)

  override protected def castAs: Expression = function

  override def nullable: Boolean =
    function.nullable || windows.isEmpty || slide.nonEmpty || minPeriods.nonEmpty

  override def checkInputDataTypes(): TypeCheckResult = function.checkInputDataTypes()

  override def sql(isDistinct: Boolean): String =
    if (windows.isEmpty) function.sql(isDistinct)
    else (function.sql(isDistinct) +: windows.map(_.sql)).mkString("sliding_agg(", ", ", ")")

  override def notRun(why: String): Throwable = ResolveWindowKinds.misplaced(windows.head, why)

  override def withoutOver: Throwable = notRun("it is no window of an OVER clause")

  override def withNewMutableAggBufferOffset(offset: Int): SlidingAggregate =
    copy(mutableAggBufferOffset = offset)

  override def withNewInputAggBufferOffset(offset: Int): SlidingAggregate =
    copy(inputAggBufferOffset = offset)

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[Expression]
  ): SlidingAggregate = {
    val firsts = windows.map(_.inputs.length).scanLeft(function.children.length)(_ + _)
    copy(
      function = function
        .withNewChildren(newChildren.take(function.children.length))
        .asInstanceOf[AggregateFunction],
      windows = windows.zip(firsts).map { case (w, first) =>
        w.withInputs(newChildren.slice(first, first + w.inputs.length))
      }
    )
  }
}

private[spark] object SlidingAggregate {

  /** The call of the aggregate itself, without its windows. */
  def withoutWindows(call: AggregateExpression): AggregateExpression =
    call.aggregateFunction match {
      case s: SlidingAggregate => call.copy(aggregateFunction = s.function)
      case _                   => call
    }

  /**
   * Adds windows to an aggregate, which may have some already. Fails if two of them are kinds, or
   * the same modifier.
   */
  def of(function: AggregateFunction, windows: Seq[WindowKind]): SlidingAggregate = {
    val (written, before) = function match {
      case SlidingAggregate(f, already, _, _) => (f, already)
      case f                                  => (f, Nil)
    }
    val of = if (before.isEmpty) Replacement.of(written) else written
    val added = windows.map {
      case p: PredicateWindow  => p.evaluable
      case m: WindowMinPeriods => m.copy(values = MinPeriods.valuesOf(written))
      case w                   => w
    }
    val sliding = SlidingAggregate(of, before ++ added)
    sliding.windows.groupBy(w => if (w.isInstanceOf[WindowModifier]) w.name else "").foreach {
      case (_, Seq(first, second, _*)) =>
        val remedy =
          if (second.isInstanceOf[WindowModifier]) ""
          else s"; join them, as in window_and(${first.sql}, ${second.sql})"
        throw ResolveWindowKinds.misplaced(
          second,
          s"the window has ${first.sql} already$remedy"
        )
      case _ => ()
    }
    sliding
  }
}
