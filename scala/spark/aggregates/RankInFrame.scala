package io.sash.spark.aggregates

import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult.TypeCheckSuccess
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.ImperativeAggregate
import org.apache.spark.sql.catalyst.trees.UnaryLike
import org.apache.spark.sql.sash.SqlInternals
import org.apache.spark.sql.types._

import io.sash.spark.base.{ArgumentChecks, SashFunction}
import io.sash.spark.monoids.OfCurrentRow
import io.sash.spark.multisets.{HasRunningAnswer, OrderedLong, RankTree, RankTreeState}
import io.sash.spark.slots.{RunningAnswer, RunningState}

/** The rank of the current row's value among the values of its frame. NULLs have no rank. */
private[spark] final case class RankInFrame(
    rank: RankKind,
    child: Expression,
    mutableAggBufferOffset: Int = 0,
    inputAggBufferOffset: Int = 0
) extends OfCurrentRow
    with UnaryLike[Expression]
    with HasRunningAnswer {
  override def prettyName: String = rank.name
  override protected def stringArgs: Iterator[Any] = Iterator(child)
  override def dataType: DataType = rank.dataType
  override def nullable: Boolean = true

  override def checkInputDataTypes(): TypeCheckResult = child.dataType match {
    case d if OrderedLong.accepts(d) => TypeCheckSuccess
    case _ => ArgumentChecks.unexpectedTime("x", child, RankInFrame.Types)
  }

  override def runningAnswer: RunningAnswer =
    RankAnswer(rank, OrderedLong(SqlInternals.normalized(child)))

  override def withNewMutableAggBufferOffset(offset: Int): ImperativeAggregate =
    copy(mutableAggBufferOffset = offset)

  override def withNewInputAggBufferOffset(offset: Int): ImperativeAggregate =
    copy(inputAggBufferOffset = offset)

  override protected def withNewChildInternal(newChild: Expression): RankInFrame =
    copy(child = newChild)
}

private[spark] object RankInFrame {
  private val Types: String =
    "(\"NUMERIC\" with 18 digits at most or \"DATE\" or \"TIMESTAMP\" or \"TIME\" or " +
      "\"INTERVAL\")"
}

/** A rank, as SQL defines it for window functions that are ordered by the value. */
private[spark] sealed abstract class RankKind(val name: String, val dataType: DataType)
    extends Serializable {
  def function: SashFunction

  /** The rank of a value among the values in the tree. */
  private[aggregates] def of(value: Long, tree: RankTree): Any

  /** @param answers the ranks of 5, 3 and 4 in a frame of three rows */
  protected final def described(usage: String, answers: String*)(note: String): SashFunction =
    SashFunction.of(
      name,
      s"""
      $usage

      * x - a number of 18 digits at most, a date, a timestamp, a TIME or an interval; -x for the
        rank from the greatest value

      > SELECT ts, _FUNC_(x) OVER (ORDER BY ts ROWS 2 PRECEDING)
        FROM VALUES (1, 5), (2, 3), (3, 4) AS t(ts, x);
      1  ${answers(0)}
      2  ${answers(1)}
      3  ${answers(2)}

      $note
      For windows only. NULLs in the frame are skipped; NULL for a row whose value is NULL. A
      value that the frame lacks, as by FILTER, is ranked as if it were there. NaN is the
      greatest number. Each row that enters or leaves, and each answer, costs O(log n).
      """,
      classOf[RankInFrame]
    ) { case Seq(x) => RankInFrame(this, x) }
}

private[spark] object RankKind {
  val All: Seq[RankKind] = Seq(Standard, Dense, Percent, CumeDist)

  /** One more than the count of lesser values. */
  sealed abstract class Number(name: String) extends RankKind(name, LongType) {
    override private[aggregates] def of(value: Long, tree: RankTree): Any =
      tree.countBelow(value) + 1
  }

  case object Standard extends Number("rank_in_frame") {
    override val function: SashFunction = described(
      "Returns one more than the number of values in the frame that are less than the row's own.",
      "1",
      "1",
      "2"
    )("`rank` among the frame's values: equal values have one rank, and leave a gap behind it.")
  }

  /** Its tree counts each value once. */
  case object Dense extends Number("dense_rank_in_frame") {
    override val function: SashFunction = described(
      """
      Returns one more than the number of different values in the frame that are less than the
      row's own.""",
      "1",
      "1",
      "2"
    )("`dense_rank` among the frame's values: equal values have one rank, and leave no gap.")
  }

  case object Percent extends RankKind("percent_rank_in_frame", DoubleType) {
    override private[aggregates] def of(value: Long, tree: RankTree): Any = {
      val below = tree.countBelow(value)
      val others = if (tree.countUpTo(value) > below) tree.size - 1 else tree.size
      if (others == 0) 0.0 else below.toDouble / others
    }

    override val function: SashFunction = described(
      "Returns the share of the frame's other values that are less than the row's own.",
      "0.0",
      "0.0",
      "0.5"
    )("`percent_rank` among the frame's values, from 0 to 1; 0 where there is no other value.")
  }

  case object CumeDist extends RankKind("cume_dist_in_frame", DoubleType) {
    override private[aggregates] def of(value: Long, tree: RankTree): Any = {
      val upTo = tree.countUpTo(value)
      if (upTo > tree.countBelow(value)) upTo.toDouble / tree.size
      else (upTo + 1.0) / (tree.size + 1.0)
    }

    override val function: SashFunction = described(
      "Returns the share of the frame's values that are at most the row's own.",
      "1.0",
      "0.5",
      "0.6666666666666666"
    )("`cume_dist` among the frame's values.")
  }
}

/**
 * The rank of a row's own value, in a tree of ranks.
 *
 * Cost: O(log n) for each row that enters or leaves, and for each answer.
 */
private[aggregates] final case class RankAnswer(rank: RankKind, value: Expression)
    extends RunningAnswer {
  override def inputs: Seq[Expression] = Seq(value)
  override def own: Option[Expression] = Some(value)
  override def dataType: DataType = rank.dataType
  override def isInvertible: Boolean = true
  override def title: String = "a tree of ranks"
  override def create(): RunningState = new RankState(rank)
}

private final class RankState(rank: RankKind)
    extends RankTreeState(new RankTree(ofKeys = rank == RankKind.Dense)) {

  override def result(): Any = throw new IllegalStateException("a rank is of a row")

  override def result(own: Any): Any = own match {
    case value: Long => rank.of(value, tree)
    case _           => null
  }
}
