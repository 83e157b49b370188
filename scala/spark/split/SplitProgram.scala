package io.sash.spark.split

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{DoubleType, FloatType}

import io.sash.spark.monoids.{Algorithm, AggregateMonoid}
import io.sash.spark.ordering.{KeyOrder, OrderProgram, RowOrder}
import io.sash.spark.windows._

/**
 * The recipe for the calls of one frame, or of all frames of near rows, serializable for tasks.
 *
 * @param totals makes the partial of a stretch's rows, one program for each store of `windows`;
 *   empty if the stage needs no totals
 */
private[split] final case class SplitStage(
    calls: Seq[WindowCall],
    windows: WindowProgram,
    frame: SplitFrame,
    totals: Seq[StoreProgram]
) {

  /** The columns of the answers, one per call. */
  val results: Seq[Attribute] =
    calls.map(c => AttributeReference("result", c.expression.dataType, c.expression.nullable)())

  /**
   * The number of rows that a task needs before and after its own. None if a first pass has to
   * find them.
   */
  def nearest: Option[(Int, Int)] = frame match {
    case SplitRows(lower, upper) if totals.isEmpty && SplitCalls.isNear(lower, upper) =>
      Some((math.max(0L, -lower).toInt, math.max(0L, upper).toInt))
    case _ => None
  }

  /** Whether totals are the same in any order of the rows, up to the last digits of floats. */
  def commutes: Boolean = totals.isEmpty || calls.forall(c => SplitCalls.commutes(c))
}

private[split] object SplitStage {

  /**
   * The stages of calls that [[SplitCalls]] has accepted. All frames of near rows are one stage,
   * since they read the same neighbours. Each other frame is a stage of its own.
   */
  def of(
      calls: Seq[WindowCall],
      by: KeyOrder,
      input: Seq[Attribute],
      timeZone: String
  ): Seq[SplitStage] = {
    val (near, others) = calls.partition(c => isNear(c.shape))
    val stages = near +: others.groupBy(_.shape).values.toSeq
    stages.filter(_.nonEmpty).sortBy(s => calls.indexOf(s.head)).map { of =>
      val windows = WindowProgram(of, by.keys, by.within, input, timeZone)
      val shapes = of.map(_.shape).distinct
      SplitStage(of, windows, frame(shapes, windows, by.within), totals(shapes.head, of, input))
    }
  }

  private def frame(
      shapes: Seq[WindowShape],
      windows: WindowProgram,
      order: Seq[SortOrder]
  ): SplitFrame =
    if (shapes.length == 1) frame(shapes.head, windows, order)
    else {
      val rows = shapes.map(_.frame).collect { case r: RowsSpec => r }
      SplitRows(rows.map(_.lower).min, rows.map(_.upper).max)
    }

  private def frame(
      shape: WindowShape,
      windows: WindowProgram,
      order: Seq[SortOrder]
  ): SplitFrame = shape.frame match {
    case rows: RowsSpec if isForAll(shape, rows.specified, windows) => AllRows
    case rows: RowsSpec => SplitRows(rows.lower, rows.upper)
    case range: RangeSpec if isForAll(shape, range.specified, windows) => AllRows
    case _: RangeSpec =>
      SplitRange(windows.rings, windows.frames.head.keys.parts.head.get, mayOverflow(order))
    case other => throw new IllegalStateException(s"${other.text} cannot be split")
  }

  /** Whether a bound may overflow. Floats and doubles become infinite instead. */
  private def mayOverflow(order: Seq[SortOrder]): Boolean =
    !order.forall(o => o.dataType == FloatType || o.dataType == DoubleType)

  private def isNear(shape: WindowShape): Boolean = shape.frame match {
    case RowsSpec(frame) => SplitCalls.isNear(frame)
    case _               => false
  }

  /**
   * Whether all rows have the same window. With an exclusion, each row has its own. With
   * PARTITION BY, each key has its own.
   */
  private def isForAll(
      shape: WindowShape,
      frame: SpecifiedWindowFrame,
      windows: WindowProgram
  ): Boolean =
    frame.isUnbounded && shape.exclude.isEmpty && windows.key.isEmpty

  private def totals(
      shape: WindowShape,
      calls: Seq[WindowCall],
      input: Seq[Attribute]
  ): Seq[StoreProgram] =
    if (isNear(shape)) Nil
    else
      SharedElements.of(calls).stores.map { store =>
        val monoids: Seq[AggregateMonoid] = store.members.map(_.call.monoid)
        val running = Algorithm.GrowingWindowAlgorithm
        StoreProgram(
          running,
          running.program(input, monoids, store.members.map(m => Seq(m.result))),
          ranges = 1
        )
      }
}

/**
 * The recipe of all stages of a window, serializable for tasks.
 *
 * @param keys the order of the partition keys, with which `order` begins
 * @param order the keys, then the window's order, then the tie-breaker if an answer depends on
 *   the order of ties
 * @param inOrder whether the first pass reads the rows in the window's order
 * @param comparesReadings whether the first pass has to note the rows. It has to if a later
 *   reading may find other rows, and Spark would not notice
 */
private[split] final case class SplitProgram(
    stages: IndexedSeq[SplitStage],
    keys: Seq[SortOrder],
    order: RowOrder,
    inOrder: Boolean,
    comparesReadings: Boolean
) {

  /** The condition that the first column of a row's order is not NULL. */
  def hasValue: Expression =
    order.order.drop(keys.length).headOption.fold[Expression](Literal.TrueLiteral) { by =>
      IsNotNull(by.child)
    }

  def ordering: OrderProgram = OrderProgram(Nil, order)

  /** Whether the second pass needs the results of a first pass. */
  def needsFirstPass: Boolean = comparesReadings || stages.exists(_.nearest.isEmpty)

  def comparesRows: Boolean = stages.exists(_.frame.comparesRows)
}
