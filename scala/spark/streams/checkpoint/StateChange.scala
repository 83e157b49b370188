package io.sash.spark.streams.checkpoint

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet}
import org.apache.spark.sql.internal.SQLConf

import io.sash.spark.base.SashConf

/**
 * Compares the state of an operator with the query that is to go on with it. If they differ, a
 * new generation of the state begins, or the query is refused. Windows of rows go on with all
 * that the state has. With the rows of a history all windows begin anew.
 *
 * @param file the descriptions of the state
 * @param description the description of the query's operator
 * @param layout the parts of the state that it would go on with; None for hops
 * @param columns the columns of a row of the operator
 * @param placing the columns by which a row has its key and its place in the key's order
 * @param batch the batch that is planned
 * @param late the watermark, in microseconds, that the batch before has passed, if it is known
 */
private[streams] final class StateChange(
    file: StateFile,
    description: String,
    layout: Option[StateLayout],
    columns: Seq[Attribute],
    placing: AttributeSet,
    batch: Long,
    late: Option[Long],
    conf: SQLConf
) {
  import StateSignature._

  private[this] val written = file.read()
  private[this] val known = written.takeWhile(_.from < batch) // others are of failed batches
  private[this] val last = known.lastOption
  private[this] val now = Generation(StateFile.text(description))

  private[this] val differing =
    last.fold(Seq.empty[String])(g => StateSignature.differing(g.text, now.text))

  /** Whether the query is another one, and not only its history. */
  def isOther: Boolean = differing.exists(_ != History)

  /** Whether the operator has no state yet. */
  def isFirst: Boolean = last.isEmpty

  private[this] val hasNewHistory = now.history.nonEmpty && differing.contains(History)

  /**
   * Whether the windows began anew already, and are given a later history. So a query can go on
   * whose first history has ended too early for rows that wait.
   */
  private[this] val isLaterHistory = hasNewHistory && known.length > 1 &&
    begunAnew(known.init.last, known.last).exists(_ < now.history.get)

  /**
   * The state of the batch. It is written that the state changes with this batch, if it does.
   *
   * @param isChanged whether a query on the checkpoint is another one, in this operator or in
   *   another
   */
  def begin(isChanged: Boolean): BatchState = {
    val begins = isFirst || differing.nonEmpty
    val anew = !isFirst && hasNewHistory && (isChanged || isLaterHistory)
    if (isFirst) requireFirst()
    else if (anew) requireLater()
    else if (differing.nonEmpty) requireCarried()
    if (begins) file.begin(now.text, layout, known.length, batch)
    else if (written.length > known.length) file.endAt(known.length)
    val generations = if (begins) known :+ now else known
    BatchState(
      EarlierStates(
        generations.init.map(_.layout),
        generations.zip(generations.drop(1)).map { case (a, b) => begunAnew(a, b) },
        generations.map(g => Seq(Keys, Order).flatMap(part(g.text, _)))
      ),
      answered = Option.when(anew)(answered),
      readsHistory = isFirst || anew
    )
  }

  /** Whether a generation began anew, which shows in the texts of it and the one before. */
  private def begunAnew(before: Generation, after: Generation): Option[Long] =
    if (after.history.nonEmpty && after.history != before.history) after.history
    else Option.when(after.isOfHops)(Long.MinValue)

  /** The time up to which earlier queries have answered all rows. */
  private def answered: Long =
    (late ++ known.flatMap(_.history)).maxOption.getOrElse(Long.MinValue)

  private def requireFirst(): Unit = if (batch > 0) throw StateErrors.undescribed(file.first)

  private def requireLater(): Unit = {
    if (waits || differing.exists(StateChange.Fixed))
      throw StateErrors.other(last.get.text, now.text)
    if (now.history.exists(_ < answered))
      throw StateErrors.earlyHistory(last.get.text, now.text, answered)
    // a sink may have the batch's answers already, and would not run it again
    val isOwn = written.drop(known.length).headOption.exists { g =>
      g.from == batch && StateSignature.differing(g.text, now.text).isEmpty
    }
    if (!isOwn && file.hasRun(batch)) throw StateErrors.hasRun(batch)
  }

  private def requireCarried(): Unit = {
    val was = last.get
    if (!differing.forall(canDiffer))
      throw StateErrors.other(was.text, now.text, mayBeginAnew)
    val mapping = was.layout.zip(layout).map { case (a, b) => StateMapping.of(a, b) }
    def lacking = mapping.fold(Seq.empty[Attribute])(
      _.columns.zip(columns).collect { case (None, c) => c }
    )
    if (lacking.exists(placing.contains)) // the keys of the state are none of the query's
      throw StateErrors.other(was.text, now.text, mayBeginAnew)
    val missing = mapping.fold(Seq("the panes of other hop windows"))(_.missing)
    if (missing.nonEmpty && !SashConf.beginsIncomplete(conf))
      throw StateErrors.missing(was.text, now.text, missing)
    val neverNull = lacking.filterNot(_.nullable).map(_.name)
    if (neverNull.nonEmpty) throw StateErrors.neverNull(was.text, now.text, neverNull)
  }

  /** Whether a history would let the windows of the query begin anew. */
  private def mayBeginAnew: Boolean = now.history.isEmpty && !waits && !differing.exists(n =>
    StateChange.Fixed(n) || n == TimeZone || n == TimeToLive || n == History
  )

  /** Whether windows may go on without history if this part of their description differs. */
  private def canDiffer(part: String): Boolean =
    if (layout.isEmpty) !StateChange.Fixed(part) && part != History
    else if (part == History) now.history.isEmpty && late.exists(_ >= answered)
    else (StateChange.OfWindows(part) || part == TimeZone && isOfOneZone) && !hasBeside

  /** Whether all parts of the state that depend on a time zone have the same. */
  private def isOfOneZone: Boolean =
    (known :+ now).flatMap(g => StateSignature.part(g.text, TimeZone)).distinct.length == 1

  /**
   * Whether rows in the state wait for others, since windows look ahead, or late rows lie beside
   * the windows. They would be lost if the windows began anew: they are neither answered nor
   * behind the history.
   */
  private def waits: Boolean =
    last.exists(g => g.layout.exists(_.header.isLater) || part(g.text, LateRows).nonEmpty)

  /** Whether rows lie beside the windows, in the state or in the query. */
  private def hasBeside: Boolean = waits || part(now.text, LateRows).nonEmpty ||
    layout.exists(_.header.isLater)
}

private[streams] object StateChange {
  import StateSignature._

  /** The parts that may differ where the windows can be read in the state. */
  private val OfWindows = Set(
    Aggregates,
    Windows,
    Bounds,
    Conditions,
    Columns,
    Partials,
    Algorithms
  )

  /** The parts that belong to the checkpoint, whatever the windows begin with. */
  private val Fixed = Set(Buckets, Answered, LateRows, Layout)
}

/**
 * An operator's state in a batch.
 *
 * @param answered the time up to which all rows have been answered, if windows begin anew with
 *   this batch
 * @param readsHistory whether the batch takes in the rows of a history
 */
private[spark] final case class BatchState(
    earlier: EarlierStates,
    answered: Option[Long],
    readsHistory: Boolean
)

private[spark] object BatchState {

  /** The state of a plan that is only explained. */
  val Unknown: BatchState = BatchState(EarlierStates.Unknown, None, readsHistory = true)
}
