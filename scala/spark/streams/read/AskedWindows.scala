package io.sash.spark.streams.read

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.sash.SqlInternals

import io.sash.spark.hops.stream.HopProgram
import io.sash.spark.streams.program.StreamProgram

/** The windows of a query. A checkpoint may hold their state. */
private[read] sealed abstract class AskedWindows {

  /** The windows as the user wrote them, for EXPLAIN. */
  def source: String

  def areHops: Boolean

  /**
   * The windows as the query of a state has run them.
   *
   * @param written the description of the state
   */
  def runAs(written: String): RunWindows
}

/** The windows of a query that has run. */
private[read] abstract class RunWindows {

  /** The text that the description of the state is compared with. */
  def text: String

  /** The end of the history that the windows began with, in microseconds. */
  def history: Option[Long]

  def keys: KeysOfState

  /**
   * @param passed the time, in microseconds, that the watermark has passed
   * @param generation the number of the state's present generation: see `StateFile`
   */
  def reading(passed: Long, generation: Int): ReadProgram

  /** The moment in which rows have these times and widths. */
  def moment(at: Option[Long]): ReadMoment
}

/**
 * Windows of OVER.
 *
 * @param known the columns that follow from key and time, as in `KnownColumns`
 */
private[read] final case class OverWindows(
    program: StreamProgram,
    known: Map[Int, Expression],
    widths: OwnWidths
) extends AskedWindows {
  override def source: String = program.source.distinct.mkString(", ")

  override def areHops: Boolean = false

  override def runAs(written: String): RunWindows = new RunWindows {
    private[this] val run = new StateProgram(program, written)
    private[this] lazy val read = run.reading(known)

    override def text: String = run.running.text

    override def history: Option[Long] = run.running.start.map(_.until)

    override lazy val keys: KeysOfState =
      new KeysOfState(read.input, read.keys, read.time, "PARTITION BY")

    override def reading(passed: Long, generation: Int): ReadProgram =
      OverProgram(read, keys, generation)

    override def moment(at: Option[Long]): ReadMoment = ReadMoment(at, widths.in(read.input))
  }
}

/** Hop windows. */
private[read] final case class OpenHops(program: HopProgram) extends AskedWindows {
  override def source: String = program.hops.signature

  override def areHops: Boolean = true

  override def runAs(written: String): RunWindows = new RunWindows {
    private[this] val run = program
      .in(StateProgram.modeIn(written).getOrElse(program.mode))
      .copy(start = StateProgram.startIn(written))

    override def text: String = run.text

    override def history: Option[Long] = run.start.map(_.until)

    override lazy val keys: KeysOfState = {
      val input = run.input.map(_.withNullability(true))
      val keys = run.keys.map(i => SqlInternals.normalized(input(i)))
      new KeysOfState(input, keys, run.pane, "GROUP BY")
    }

    override def reading(passed: Long, generation: Int): ReadProgram =
      HopsOfState(run, keys, passed, generation)

    override def moment(at: Option[Long]): ReadMoment = ReadMoment(at, Nil)
  }
}
