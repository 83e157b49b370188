package io.sash.spark.streams.program

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.DataType

import io.sash.spark.slots.SlotProgram
import io.sash.spark.streams.checkpoint.{Said, StateText}

/**
 * The windows of one OVER on a stream, ready to be sent to tasks.
 *
 * @param input the columns of a row
 * @param keys what rows are partitioned by, equal in bytes where it is equal
 * @param time the ordinal of the event time
 * @param order by which the rows of a key are taken, the event time first
 * @param windows that the groups share
 * @param marks what frames and slides look at in a row, each a BIGINT
 * @param results types of the answers
 * @param output what a row becomes, over its columns and its answers behind them
 * @param later what rows wait for until they are answered, where windows look ahead
 * @param mode when rows are answered
 * @param calls what is asked, over `input`, an answer each; where the plan is read, not in tasks
 * @param written the calls as the user wrote them
 * @param words what the state was written for
 */
private[spark] final case class StreamProgram(
    input: Seq[Attribute],
    keys: Seq[Expression],
    time: Int,
    order: Seq[SortOrder],
    groups: Seq[StreamGroup],
    windows: Seq[StreamFraming],
    marks: Seq[Expression],
    results: Seq[DataType],
    output: Seq[Expression],
    later: Option[StreamLater],
    mode: AnswerMode,
    @transient calls: Seq[Expression],
    @transient written: Seq[String],
    words: StreamWords
) {

  /** What the state was written for; another one's state is of no use. */
  lazy val text: String = words.text(input, mode)

  /** The columns that a row becomes, each over `input`. */
  def fields: Seq[Expression] = output.map(_.transform { case b: BoundReference =>
    calls(b.ordinal - input.length)
  })

  /** Whether windows count groups of peers. */
  def countsGroups: Boolean = windows.exists(_.frame.countsGroups)

  /** The same, answered when that mode says. */
  def in(mode: AnswerMode): StreamProgram = copy(mode = mode)

  /** The ordinals of the answers of a window. */
  def resultsOf(window: Int): Seq[Int] = for {
    group <- groups
    (w, range) <- group.windows.zipWithIndex if w == window
    (ordinal, _) <- group.slots.resultsOf(range)
  } yield ordinal

  /** The same windows over some of the columns, for some of the columns that a row becomes. */
  def pruned(kept: Seq[Int]): StreamProgram = {
    val wanted = kept.map(output)
    val lifted = groups.flatMap(_.slots.parts).flatMap(_.lift)
    val waiting = later.toSeq.flatMap(_.due).flatMap(d => Seq(d.at, d.position)).map(input)
    val used = AttributeSet.fromAttributeSets(
      (wanted ++ keys ++ order ++ lifted ++ marks ++ waiting).map(_.references)
    )
    val columns = input.indices.filter(i => i == input.length - 1 || used.contains(input(i)))
    val gone = input.length - columns.length
    copy(
      input = columns.map(input),
      time = columns.indexOf(time),
      later = later.map(l =>
        l.copy(due =
          l.due.map(d => StreamDue(columns.indexOf(d.at), columns.indexOf(d.position)))
        )
      ),
      groups = groups.map(g => g.copy(slots = g.slots.copy(input = columns.map(input)))),
      output = wanted.map(_.transform { case b: BoundReference =>
        b.copy(ordinal = b.ordinal - gone)
      })
    )
  }
}

/**
 * What the state of windows was written for.
 *
 * @param parts by their names
 * @param columns what is said of those of a row
 */
private[spark] final case class StreamWords(
    parts: Seq[(String, Said)],
    columns: Map[ExprId, Said]
) {

  /** @param input the columns of a row that waits */
  def text(input: Seq[Attribute], mode: AnswerMode): String = {
    val waiting = input.flatMap { c =>
      columns.get(c.exprId).map(_.short.in("", s" ${c.dataType.sql}"))
    }
    StateText.of(parts, Seq("columns" -> Said.all(waiting), "answered" -> Said(mode.text)))
  }
}

/**
 * What a row waits for, when the watermark has passed it, until all is there that its windows hold.
 *
 * @param rows of its key that come after it, so many
 * @param groups of peers of its key that come after it, so many
 * @param due what the watermark has to pass, if windows look ahead in time
 */
private[spark] final case class StreamLater(rows: Long, groups: Long, due: Option[StreamDue]) {

  /** Whether rows may have to wait with their key. */
  def waitsForRows: Boolean = rows > 0 || groups > 0
}

/**
 * The columns of a row that waits for the watermark until its windows are complete.
 *
 * @param at the ordinal of the time that it has to pass
 * @param position that of how many rows of the key were taken in before it, by which rows that are
 *   equal in the window's order come back as they were taken in
 */
private[spark] final case class StreamDue(at: Int, position: Int)

/**
 * Aggregates that the same windows ask for: elements of one tree. What others ask for is not combined
 * as far as their windows reach, which may cost much or even fail.
 *
 * @param slots the partials of the aggregates, side by side, or the inputs of answers beside the
 *   slots; range i of their results is that of the group's window i
 * @param windows their numbers in the program
 */
private[spark] final case class StreamGroup(slots: SlotProgram, windows: Seq[Int]) {

  /** Whether an answer beside the slots can do without what has left its window. */
  def isInvertible: Boolean = slots.running.forall(_.isInvertible)

  /** The name of the algorithm that moves the windows, as EXPLAIN shows it. */
  def algorithm: String =
    if (slots.running.isEmpty) "Two-Stacks Lite over a forest"
    else if (isInvertible) "SlickDeque (Inv)"
    else "Recalculate"
}
