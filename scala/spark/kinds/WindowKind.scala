package io.sash.spark.kinds

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult.TypeCheckSuccess
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.trees.{BinaryLike, UnaryLike}
import org.apache.spark.sql.types._

import io.sash.spark.base.ArgumentChecks
import io.sash.spark.times.Reach

/**
 * A kind of window that SQL's frames cannot express, such as `delta_window(temperature, 5.0)`. It
 * defines the rows of each row's window. In SQL it is an expression of PARTITION BY, or the last
 * argument of `sliding_agg`.
 *
 * It is foldable, so that Spark leaves it and its arguments in place when it extracts window
 * expressions. `ResolveWindowKinds` removes it before anything could evaluate it.
 */
private[spark] sealed abstract class WindowKind extends Expression {

  /** The name of its SQL function. */
  def name: String

  override final def prettyName: String = name

  /** The reason why the kind cannot stand in a window of this order; None if it can. */
  def orderFault(order: Seq[SortOrder]): Option[String]

  /** Whether a row's window may have no rows, as it may end before the row. */
  def mayBeEmpty: Boolean

  /** Whether a row's window may begin before the window of the row before it. */
  def movesBack: Boolean

  /** The expressions that the kind reads of each row. */
  def inputs: Seq[Expression] = children

  def withInputs(inputs: Seq[Expression]): WindowKind =
    withNewChildren(inputs).asInstanceOf[WindowKind]

  override final def dataType: DataType = NullType

  override def nullable: Boolean = true

  override def foldable: Boolean = true

  override final def eval(input: InternalRow): Any = unevaluable()

  override protected final def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
    unevaluable()

  private def unevaluable(): Nothing =
    throw new IllegalStateException(s"$sql says which rows are in a window, and has no value")

  /** The kind in SQL, for EXPLAIN. */
  override def sql: String = children.map(_.sql).mkString(s"$name(", ", ", ")")

  override def toString: String = sql
}

/** A kind that SQL has a frame for. */
private[spark] sealed trait HasSqlFrame { this: WindowKind =>
  def sqlFrame(order: Seq[SortOrder]): SpecifiedWindowFrame
}

/** The last `size` rows: ROWS BETWEEN size - 1 PRECEDING AND CURRENT ROW. */
private[spark] final case class CountWindow(size: Expression)
    extends WindowKind
    with HasSqlFrame
    with UnaryLike[Expression] {
  override def name: String = "count_window"
  override def child: Expression = size
  override def mayBeEmpty: Boolean = false
  override def movesBack: Boolean = false

  override def sqlFrame(order: Seq[SortOrder]): SpecifiedWindowFrame = {
    val preceding = Literal(1 - size.eval().asInstanceOf[Number].intValue, IntegerType)
    SpecifiedWindowFrame(RowFrame, preceding, CurrentRow)
  }

  override def orderFault(order: Seq[SortOrder]): Option[String] = OrderFaults.noOrder(order)

  override def checkInputDataTypes(): TypeCheckResult =
    ArgumentChecks.checkCount("size", size, least = 1)

  override protected def withNewChildInternal(newChild: Expression): CountWindow =
    copy(size = newChild)
}

/**
 * The rows at most `size` before the current row's order value, and its peers: RANGE BETWEEN size
 * PRECEDING AND CURRENT ROW.
 *
 * @param closed the ends that belong to the window: right, left, both or neither; both by default
 * @param center whether the current row is in the middle; there only if `closed` is
 */
private[spark] final case class DurationWindow(
    size: Expression,
    closed: Option[Expression],
    center: Option[Expression]
) extends WindowKind
    with HasSqlFrame {
  override def name: String = "time_window"
  override def children: Seq[Expression] = size +: (closed ++ center).toSeq
  override def mayBeEmpty: Boolean = hasOpenEnd && !isCentered
  override def movesBack: Boolean = false

  override def sqlFrame(order: Seq[SortOrder]): SpecifiedWindowFrame =
    DurationFrame.of(this, order.head.child)

  /** Without this check, Spark would cast an interval to the type of an order by numbers. */
  override def orderFault(order: Seq[SortOrder]): Option[String] =
    OrderFaults.unmoved(order, "size", size).orElse(OrderFaults.unheld(order.head.child, size))

  override def checkInputDataTypes(): TypeCheckResult = {
    val options = closed.map(ArgumentChecks.checkOneOf("closed", _, DurationWindow.Ends)) ++
      center.map(ArgumentChecks.checkFlag("center", _))
    options
      .find(_.isFailure)
      .getOrElse(ArgumentChecks.checkExtent("size", size, positive = !isPlain))
  }

  private def ends: String =
    closed.fold("both")(_.eval().toString.toLowerCase(java.util.Locale.ROOT))

  def hasOpenStart: Boolean = ends == "right" || ends == "neither"

  def hasOpenEnd: Boolean = ends == "left" || ends == "neither"

  def isCentered: Boolean = center.exists(_.eval() == true)

  /** Whether the frame is RANGE size PRECEDING. */
  def isPlain: Boolean = !hasOpenStart && !hasOpenEnd && !isCentered

  override protected def withNewChildrenInternal(
      children: IndexedSeq[Expression]
  ): DurationWindow =
    copy(children(0), closed.map(_ => children(1)), center.map(_ => children(2)))
}

private[spark] object DurationWindow {
  val Ends: Seq[String] = Seq("right", "left", "both", "neither")
}

/**
 * The rows from the last multiple of `hop` that is at least `size` before the current row, up to
 * the current row and its peers. The window is between `size` and `size + hop` long: a sawtooth
 * window.
 *
 * @param closed as in a [[DurationWindow]]
 */
private[spark] final case class SawtoothWindow(
    size: Expression,
    hop: Expression,
    closed: Option[Expression]
) extends WindowKind {
  private def duration = DurationWindow(size, closed, None)

  override def name: String = "time_window"
  override def children: Seq[Expression] = Seq(size, hop) ++ closed
  override def mayBeEmpty: Boolean = hasOpenEnd
  override def movesBack: Boolean = false

  def hasOpenStart: Boolean = duration.hasOpenStart
  def hasOpenEnd: Boolean = duration.hasOpenEnd

  override def sql: String =
    (size.sql +: closed.map(_.sql).toSeq :+ s"hop => ${hop.sql}").mkString(s"$name(", ", ", ")")

  override def orderFault(order: Seq[SortOrder]): Option[String] = OrderFaults
    .unmoved(order, "size", size)
    .orElse(OrderFaults.unmoved(order, "hop", hop))
    .orElse(OrderFaults.uncut(order.head.child, size, hop))

  override def checkInputDataTypes(): TypeCheckResult = ArgumentChecks.inTurn(
    duration.checkInputDataTypes(),
    ArgumentChecks.checkExtent("hop", hop, positive = true)
  )

  override protected def withNewChildrenInternal(
      children: IndexedSeq[Expression]
  ): SawtoothWindow = copy(children(0), children(1), closed.map(_ => children(2)))
}

/** The rows back to the oldest one that the delta policy keeps: see `DeltaFrame`. */
private[spark] final case class DeltaWindow(attribute: Expression, delta: Expression)
    extends WindowKind
    with BinaryLike[Expression] {
  override def name: String = "delta_window"
  override def left: Expression = attribute
  override def right: Expression = delta
  override def mayBeEmpty: Boolean = false
  override def movesBack: Boolean = false

  override def orderFault(order: Seq[SortOrder]): Option[String] = OrderFaults.noOrder(order)

  override def checkInputDataTypes(): TypeCheckResult = ArgumentChecks.inTurn(
    ArgumentChecks.checkDifference(attribute, delta, of => s"; ${OrderFaults.remedyOfDelta(of)}"),
    ArgumentChecks.checkExtent("delta", delta, positive = false)
  )

  override protected def withNewChildrenInternal(l: Expression, r: Expression): DeltaWindow =
    copy(attribute = l, delta = r)
}

/** The rows from the last punctuation on. The punctuation is the first row of its window. */
private[spark] final case class PunctuationWindow(punctuation: Expression)
    extends WindowKind
    with UnaryLike[Expression] {
  override def name: String = "punctuation_window"
  override def child: Expression = punctuation
  override def mayBeEmpty: Boolean = false
  override def movesBack: Boolean = false

  override def orderFault(order: Seq[SortOrder]): Option[String] = OrderFaults.noOrder(order)

  override def checkInputDataTypes(): TypeCheckResult =
    if (punctuation.dataType == BooleanType) TypeCheckSuccess
    else ArgumentChecks.unexpectedType("punctuation", punctuation, "\"BOOLEAN\"")

  override protected def withNewChildInternal(newChild: Expression): PunctuationWindow =
    copy(punctuation = newChild)
}

/**
 * A session: the rows since the order last moved by `gap` or more from one row to the next.
 *
 * @param longest a row at this distance from its session's first row begins another one
 */
private[spark] final case class GapWindow(gap: Expression, longest: Option[Expression])
    extends WindowKind {
  override def name: String = "gap_window"
  override def children: Seq[Expression] = gap +: longest.toSeq
  override def mayBeEmpty: Boolean = false
  override def movesBack: Boolean = false

  override def orderFault(order: Seq[SortOrder]): Option[String] = OrderFaults
    .unmoved(order, "gap", gap)
    .orElse(longest.flatMap(OrderFaults.unmoved(order, "longest session", _)))

  override def checkInputDataTypes(): TypeCheckResult = ArgumentChecks.inTurn(
    ArgumentChecks.checkExtent("gap", gap, positive = true) +:
      longest.toSeq.map(ArgumentChecks.checkExtent("longest", _, positive = true)): _*
  )

  override protected def withNewChildrenInternal(children: IndexedSeq[Expression]): GapWindow =
    copy(children.head, longest.map(_ => children(1)))
}

/**
 * The current row's peers and whole groups of peers around them: GROUPS BETWEEN preceding
 * PRECEDING AND following FOLLOWING.
 */
private[spark] final case class GroupsWindow(preceding: Expression, following: Expression)
    extends WindowKind
    with BinaryLike[Expression] {
  override def name: String = "groups_window"
  override def left: Expression = preceding
  override def right: Expression = following
  override def mayBeEmpty: Boolean = false
  override def movesBack: Boolean = false

  override def orderFault(order: Seq[SortOrder]): Option[String] = OrderFaults.noOrder(order)

  override def checkInputDataTypes(): TypeCheckResult =
    ArgumentChecks.inTurn(
      ArgumentChecks.checkCount("preceding", preceding, least = 0),
      ArgumentChecks.checkCount("following", following, least = 0)
    )

  override protected def withNewChildrenInternal(l: Expression, r: Expression): GroupsWindow =
    copy(preceding = l, following = r)
}

/**
 * Own width in rows: the current row and the `preceding` rows before it. The value of `preceding`
 * is the current row's own.
 */
private[spark] final case class OwnRowsWindow(preceding: Expression)
    extends WindowKind
    with UnaryLike[Expression] {
  override def name: String = "rows_window"
  override def child: Expression = preceding
  override def mayBeEmpty: Boolean = true
  override def movesBack: Boolean = true

  override def orderFault(order: Seq[SortOrder]): Option[String] = OrderFaults.noOrder(order)

  override def checkInputDataTypes(): TypeCheckResult =
    if (ArgumentChecks.isInteger(preceding.dataType)) TypeCheckSuccess
    else ArgumentChecks.unexpectedType("preceding", preceding, "\"BIGINT\"")

  override protected def withNewChildInternal(newChild: Expression): OwnRowsWindow =
    copy(preceding = newChild)
}

/**
 * Own width in the order: the rows at most `preceding` before the current row, and its peers. The
 * value of `preceding` is the current row's own.
 */
private[spark] final case class OwnRangeWindow(preceding: Expression)
    extends WindowKind
    with UnaryLike[Expression] {
  override def name: String = "range_window"
  override def child: Expression = preceding
  override def mayBeEmpty: Boolean = true
  override def movesBack: Boolean = true

  override def orderFault(order: Seq[SortOrder]): Option[String] =
    OrderFaults.unmoved(order, "width", preceding)

  override def checkInputDataTypes(): TypeCheckResult =
    ArgumentChecks.checkExtentType("preceding", preceding)

  override protected def withNewChildInternal(newChild: Expression): OwnRangeWindow =
    copy(preceding = newChild)
}

/**
 * An end of a [[BoundsWindow]].
 *
 * @param value of the order's type
 * @param isIncluded whether rows whose order equals the value belong to the window
 */
private[spark] final case class OwnBound(value: Expression, isIncluded: Boolean)

/**
 * The rows whose order lies between two bounds, which are the current row's own values. If one of
 * them is NULL, the row's window has no rows. No function makes this kind: the rule
 * `LateralWindows` does.
 */
private[spark] final case class BoundsWindow(lower: Option[OwnBound], upper: Option[OwnBound])
    extends WindowKind {
  override def name: String = "bounds_window"
  override def children: Seq[Expression] = (lower ++ upper).map(_.value).toSeq
  override def mayBeEmpty: Boolean = true
  override def movesBack: Boolean = true

  override def orderFault(order: Seq[SortOrder]): Option[String] = OrderFaults.noOrder(order)

  /**
   * Whether each end is the row's place in the order, or lies at a fixed distance from it. Then
   * no end moves back from row to row. There has to be an upper end: with it, the window of a row
   * whose place is NULL has only the rows whose place is NULL.
   */
  def isAtDistances(order: Seq[SortOrder]): Boolean = order match {
    case Seq(SortOrder(place, Ascending, NullsFirst, _)) if upper.nonEmpty =>
      children.forall {
        case Reach(key, _: Literal, _, _) => key.semanticEquals(place)
        case value                        => value.semanticEquals(place)
      }
    case _ => false
  }

  override def sql: String = {
    val from = lower.map(b => s"${if (b.isIncluded) "from" else "after"} ${b.value.sql}")
    val until = upper.map(b => s"${if (b.isIncluded) "up to" else "before"} ${b.value.sql}")
    (from ++ until).mkString("the rows ", " ", "")
  }

  override protected def withNewChildrenInternal(
      values: IndexedSeq[Expression]
  ): BoundsWindow = copy(
    lower.map(_.copy(value = values.head)),
    upper.map(_.copy(value = values.last))
  )
}

/**
 * The rows in both windows, or from the first row of either until the last row of either. If a
 * row has to be in both, one of them may have each row's own width. Other windows only move
 * forwards.
 *
 * @param ofAll whether a row has to be in both
 */
private[spark] final case class JoinedWindow(kinds: Seq[WindowKind], ofAll: Boolean)
    extends WindowKind {
  override def name: String = if (ofAll) JoinedWindow.And else JoinedWindow.Or
  override def children: Seq[Expression] = kinds
  override def mayBeEmpty: Boolean = kinds.exists(_.mayBeEmpty)
  override def movesBack: Boolean = kinds.exists(_.movesBack)

  override def orderFault(order: Seq[SortOrder]): Option[String] =
    kinds.flatMap(_.orderFault(order)).headOption.orElse {
      kinds.find(!ofAll && _.mayBeEmpty).map { kind =>
        s"the window of ${kind.sql} may have no rows, so that the first row of either may move " +
          "back from row to row; let it end with its row"
      }
    }

  override def inputs: Seq[Expression] = kinds.flatMap(_.inputs)

  override def withInputs(inputs: Seq[Expression]): WindowKind = {
    val ends = kinds.map(_.inputs.length).scanLeft(0)(_ + _)
    copy(kinds.zip(ends.zip(ends.tail)).map { case (kind, (from, until)) =>
      kind.withInputs(inputs.slice(from, until))
    })
  }

  override protected def withNewChildrenInternal(
      children: IndexedSeq[Expression]
  ): JoinedWindow = copy(children.map(_.asInstanceOf[WindowKind]))
}

private[spark] object JoinedWindow {
  val And = "window_and"
  val Or = "window_or"

  /** The reason why a kind cannot be joined with another; None if it can. */
  def fault(kind: Expression, ofAll: Boolean): Option[String] = kind match {
    case k: WindowKind if k.movesBack && !ofAll =>
      Some("its start may move back from row to row; join kinds whose windows only move forwards")
    case _: PredicateWindow =>
      Some("its condition is of the rows of its own window; ask for it alone")
    case _: WindowModifier =>
      Some("it says nothing of the rows of a window; write it beside the joined window")
    case _: WindowKind => None
    case _             => Some("it is no kind of window; write one, as in count_window(100)")
  }
}

/** A property of a window besides its kind. It also applies to SQL's frames. */
private[spark] abstract class WindowModifier extends WindowKind {
  override final def mayBeEmpty: Boolean = false

  override final def movesBack: Boolean = false
}

/**
 * A window that ends at the current row and begins where a condition on an aggregate of its rows
 * begins to hold. When a row enters, the oldest rows leave until the condition holds. See
 * `PredicateFrame`.
 *
 * @param aggregate the aggregate that the condition tests
 * @param condition a lambda from the aggregate's value to a boolean
 * @param isPending as in a [[PendingKind]]
 */
private[spark] final case class PredicateWindow(
    aggregate: Expression,
    condition: Expression,
    isPending: Boolean = false
) extends WindowKind
    with TotalCondition
    with BinaryLike[Expression] {
  override def name: String = "predicate_window"
  override def nullable: Boolean = true
  override lazy val resolved: Boolean = isBound && !isPending
  override def left: Expression = aggregate
  override def right: Expression = condition
  override def mayBeEmpty: Boolean = false
  override def movesBack: Boolean = false

  override def orderFault(order: Seq[SortOrder]): Option[String] =
    OrderFaults.noOrder(order).orElse(conditionFault)

  override def inputs: Seq[Expression] = aggregate.children

  override def withInputs(inputs: Seq[Expression]): WindowKind =
    copy(aggregate = aggregate.withNewChildren(inputs))

  override def sql: String = {
    // in error messages the aggregate may be over unresolved names, without a known type
    val dataType = condition match {
      case LambdaFunction(_, Seq(v: NamedLambdaVariable), _) => v.dataType
      case _                                                 => NullType
    }
    val total = AttributeReference("total", dataType)()
    s"$name(${aggregate.sql}, total -> ${of(total).sql})"
  }

  override protected def withNewChildrenInternal(l: Expression, r: Expression): PredicateWindow =
    copy(aggregate = l, condition = r)
}
