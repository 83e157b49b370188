package io.sash.spark.streams.read

import org.apache.spark.sql.catalyst.expressions.{Attribute, ExprId, Expression, Literal}

import io.sash.spark.streams.checkpoint.StateSignature
import io.sash.spark.streams.checkpoint.StateSignature.part
import io.sash.spark.streams.program.{AnswerMode, StreamProgram, WarmStart}

/**
 * A query's program as the query of a checkpoint ran it. That query had an output mode, maybe a
 * history, and its rows had the columns that it asked for, which may be fewer.
 *
 * @param written the description of the state in the checkpoint
 */
private[read] final class StateProgram(program: StreamProgram, written: String) {
  private[this] val kept = StateProgram.kept(program, written)

  /** The program whose text is the description, if the state is of the same windows. */
  val running: StreamProgram = started.pruned(kept)

  /**
   * The same program, for moments instead of rows. A moment has values in the columns of
   * the key and the time, and NULL in all others.
   *
   * @param known the output columns that follow from these, as in `KnownColumns`
   */
  def reading(known: Map[Int, Expression]): StreamProgram = {
    val places = kept.zipWithIndex.toMap
    def nullable(columns: Seq[Attribute]) = columns.map(_.withNullability(true))
    running.copy(
      input = nullable(running.input),
      trees =
        running.trees.map(t => t.copy(slots = t.slots.copy(input = nullable(t.slots.input)))),
      output = program.output.zipWithIndex.map {
        case (a: Attribute, i) => known.getOrElse(i, Literal(null, a.dataType))
        case (_, i)            => running.output(places(i))
      }
    )
  }

  private def started: StreamProgram = program
    .in(StateProgram.modeIn(written).getOrElse(program.mode))
    .copy(start = StateProgram.startIn(written))
}

private[read] object StateProgram {

  /** The answer mode in the description of a state. */
  def modeIn(written: String): Option[AnswerMode] = Seq(AnswerMode.Append, AnswerMode.Update)
    .find(m => part(written, StateSignature.Answered).contains(m.signature))

  /** The history in the description of a state. */
  def startIn(written: String): Option[WarmStart] =
    StateSignature.historyIn(written).map(WarmStart(_, answers = true))

  /** The output columns that read no other columns of rows than those in the state. */
  private def kept(program: StreamProgram, written: String): Seq[Int] = {
    val columns = columnsIn(program, part(written, StateSignature.Columns).getOrElse(""))
    program.output.indices.filter { i =>
      program.output(i) match {
        case a: Attribute => columns(a.exprId)
        case _            => true
      }
    }
  }

  /** The columns of rows that a list of columns names, in the order of the program. */
  private def columnsIn(program: StreamProgram, list: String): Set[ExprId] =
    program.input
      .foldLeft((list, Set.empty[ExprId])) { case ((left, found), column) =>
        program.signature.textOf(column) match {
          case Some(said) if left == said || left.startsWith(s"$said, ") =>
            (left.drop(said.length + 2), found + column.exprId)
          case _ => (left, found)
        }
      }
      ._2
}
