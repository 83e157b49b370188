package io.sash.spark.streams.program

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.DataType

import io.sash.spark.monoids.ForestAlgorithm
import io.sash.spark.slots.SlotProgram
import io.sash.spark.streams.checkpoint.StateSignature

/**
 * The program of the windows of one OVER on a stream, which is sent to tasks.
 *
 * @param windows the windows, which the trees share
 * @param marks the values that frames and slides read in a row, each a BIGINT
 * @param later the rows, groups or times that a row waits for, if windows look ahead
 * @param mode when rows are answered
 * @param signature the description of the state
 * @param timeToLive the longest pause of a key, in microseconds, after which its windows go on.
 *   After a longer one the key begins anew
 * @param start the history that the windows begin with, if there is one
 */
private[spark] final case class StreamProgram(
    rows: StreamRows,
    trees: Seq[TreeProgram],
    windows: Seq[StreamShape],
    marks: Seq[Expression],
    answers: StreamAnswers,
    later: Option[StreamLater],
    mode: AnswerMode,
    signature: StreamSignature,
    timeToLive: Option[Long],
    start: Option[WarmStart] = None
) {

  /** The columns of a row. */
  def input: Seq[Attribute] = rows.columns

  /** The ordinal of the event time. */
  def time: Int = rows.time

  /** The text that describes the state; a state with another text is not used. */
  lazy val text: String =
    StateSignature.begun(signature.text(input, mode), start.map(_.until))

  /** The columns of an answered row, each over `input`. */
  def fields: Seq[Expression] = answers.output.map(_.transform { case b: BoundReference =>
    answers.calls(b.ordinal - input.length)
  })

  /** Whether windows count groups of peers. */
  def countsGroups: Boolean = windows.exists(_.countsGroups)

  /** The same program with another answer mode. */
  def in(mode: AnswerMode): StreamProgram = copy(mode = mode)

  /** The ordinals of the answers of a window. */
  def resultsOf(window: Int): Seq[Int] = for {
    tree <- trees
    (w, range) <- tree.windows.zipWithIndex if w == window
    (ordinal, _) <- tree.slots.resultsOf(range)
  } yield ordinal

  /**
   * The program with only some of its output columns, and with the input columns that these need.
   */
  def pruned(kept: Seq[Int]): StreamProgram = {
    val wanted = kept.map(answers.output)
    val lifted = trees.flatMap(_.slots.parts).flatMap(_.lift)
    val waiting = later.toSeq.flatMap(_.due).flatMap(d => Seq(d.at, d.position)).map(input)
    val used = AttributeSet.fromAttributeSets(
      (wanted ++ rows.keys ++ rows.order ++ lifted ++ marks ++ waiting).map(_.references)
    )
    val columns = input.indices.filter(i => i == input.length - 1 || used.contains(input(i)))
    val gone = input.length - columns.length
    copy(
      rows = rows.copy(columns = columns.map(input), time = columns.indexOf(time)),
      later = later.map(l =>
        l.copy(due =
          l.due.map(d => StreamDue(columns.indexOf(d.at), columns.indexOf(d.position)))
        )
      ),
      trees = trees.map(t => t.copy(slots = t.slots.copy(input = columns.map(input)))),
      answers = answers.copy(output = wanted.map(_.transform { case b: BoundReference =>
        b.copy(ordinal = b.ordinal - gone)
      }))
    )
  }
}

/**
 * The rows that windows take in.
 *
 * @param columns the columns of a row
 * @param keys the partition keys; equal keys have equal bytes
 * @param time the ordinal of the event time
 * @param order the order of a key's rows, the event time first
 */
private[spark] final case class StreamRows(
    columns: Seq[Attribute],
    keys: Seq[Expression],
    time: Int,
    order: Seq[SortOrder]
)

/**
 * The answers of windows. The plan alone reads the calls, not the tasks.
 *
 * @param types the types of the answers
 * @param output the columns of an answered row, over its input columns and then its answers
 * @param calls an aggregate over the input columns for each answer
 * @param written the calls as the user wrote them
 */
private[spark] final case class StreamAnswers(
    types: Seq[DataType],
    output: Seq[Expression],
    @transient calls: Seq[Expression],
    @transient written: Seq[String]
)

/**
 * The description of the state of windows.
 *
 * @param parts the descriptions, by the names of the parts
 * @param columns the descriptions of a row's columns
 * @param zone the session's time zone, if the state depends on it
 */
private[spark] final case class StreamSignature(
    parts: Seq[(String, String)],
    columns: Map[ExprId, String],
    zone: Option[String]
) {

  /** @param input the columns of a waiting row */
  def text(input: Seq[Attribute], mode: AnswerMode): String = {
    val waiting = StateSignature.Columns -> input.flatMap(textOf).mkString(", ")
    StateSignature.of(parts ++ Seq(waiting, StateSignature.Answered -> mode.signature), zone)
  }

  /** The description of a column, if the state depends on it. */
  def textOf(column: Attribute): Option[String] =
    columns.get(column.exprId).map(said => s"$said ${StateSignature.sqlOf(column.dataType)}")
}

/**
 * The rows, groups or time for which a row waits after the watermark has passed it, until its
 * frame is complete.
 *
 * @param rows the number of rows of its key that have to come after it
 * @param groups the number of groups of peers of its key that have to come after it
 * @param due the time that the watermark has to pass, if windows look ahead in time
 */
private[spark] final case class StreamLater(rows: Long, groups: Long, due: Option[StreamDue]) {

  /** Whether rows may wait for other rows of their key. */
  def waitsForRows: Boolean = rows > 0 || groups > 0
}

/**
 * The columns of a row that waits for the watermark until its frame is complete.
 *
 * @param at the ordinal of the time that the watermark has to pass
 * @param position the ordinal of the row's place: the number of rows of its key taken in before
 *   it. Rows that are equal in the window's order are read back in order of their places
 */
private[spark] final case class StreamDue(at: Int, position: Int)

/**
 * The aggregates that the same windows ask for, which are the elements of one tree. A window
 * combines only the aggregates that it asks for: any other may cost much there, or even fail.
 *
 * @param slots the partials of the aggregates, side by side, or the inputs of answers beside the
 *   slots; range i of the results has the answers of the group's window i
 * @param windows the numbers of the group's windows in the program
 * @param signature the partials in the description of a state
 */
private[spark] final case class TreeProgram(
    algorithm: ForestAlgorithm,
    slots: SlotProgram,
    windows: Seq[Int],
    signature: String
) {

  /**
   * Whether the next batch goes on with answers that are kept beside the slots. In update mode
   * they include pending rows, and answers that cannot subtract are made anew anyway.
   */
  def keepsAnswers(mode: AnswerMode): Boolean =
    slots.running.nonEmpty && algorithm.subtracts && mode == AnswerMode.Append

  /** The name, in EXPLAIN, of the algorithm that moves the windows. */
  def title: String = algorithm.title + " over a forest"
}
