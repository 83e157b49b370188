package io.sash.spark

import org.apache.spark.sql.{AnalysisException, DataFrame}
import org.apache.spark.sql.catalyst.analysis.UnsupportedOperationChecker
import org.apache.spark.sql.catalyst.plans.logical.TransformWithState
import org.apache.spark.sql.catalyst.streaming.WriteToStreamStatement
import org.apache.spark.sql.streaming.{OutputMode, Trigger}

import io.sash.spark.streams.start.StreamingWrite
import io.sash.spark.streams.task.BucketProcessor

/** Asks Spark's planner who would run a query, in batch and on a stream. */
trait WhoRunsWhat extends StreamSuite {
  import WhoRunsWhat._

  /** In batch, in append mode and in update mode; the query reads `events`. */
  protected def ask(query: String, batch: DataFrame, stream: DataFrame): Seq[Answer] =
    inBatch(query, batch) +: Seq(OutputMode.Append(), OutputMode.Update()).map(
      onStream(query, stream, _)
    )

  private def inBatch(query: String, rows: DataFrame): Answer = answer {
    val plan = sql(query)(rows).queryExecution.sparkPlan.toString
    if (plan.contains("SlidingWindow") || plan.contains("HopWindows")) Sash else Spark
  }

  private def onStream(query: String, rows: DataFrame, mode: OutputMode): Answer = answer {
    val statement =
      statementOf(sql(query)(rows).queryExecution.analyzed, mode, Trigger.ProcessingTime(0))
    val planned = StreamingWrite(statement).asInstanceOf[WriteToStreamStatement].inputQuery
    UnsupportedOperationChecker.checkForStreaming(planned, mode)
    val isOurs = planned.exists {
      case t: TransformWithState => (t.statefulProcessor: Any).isInstanceOf[BucketProcessor]
      case _                     => false
    }
    if (isOurs) Sash else Spark
  }

  private def answer(asked: => Answer): Answer =
    try asked
    catch { case e: AnalysisException => Refused(reason(e.getMessage)) }
}

object WhoRunsWhat {

  /** Who runs a query, or why nobody does. */
  sealed abstract class Answer(val sign: String)
  case object Sash extends Answer("●")
  case object Spark extends Answer("○")
  final case class Refused(reason: String) extends Answer("✗")

  /** The message's own words, without the query and Spark's frame around them. */
  private def reason(message: String): String = {
    val text = message.replaceAll("\\s+", " ")
    val ours = "; Sash: (.*)\\)\\.? SQLSTATE".r.unanchored
    val mode = "is not supported for .*\\), (.*) on streaming".r.unanchored
    text match {
      case ours(words) => words
      case mode(words) => words
      case _           => text.split("[;.] ").head.stripSuffix(".")
    }
  }

  /** A row of a table of the page: its first cell, and the pieces of code in its second. */
  final case class Line(name: String, codes: Seq[String])

  /** The rows of the table of a section. */
  def lines(page: String, section: String): Seq[Line] =
    page.linesIterator
      .dropWhile(_ != s"## $section")
      .drop(1)
      .takeWhile(!_.startsWith("## "))
      .filter(_.startsWith("|"))
      .drop(2)
      .map { row =>
        val cells = row.stripPrefix("| ").split(" \\| ").toSeq
        Line(cells.head, "`([^`]+)`".r.findAllMatchIn(cells(1)).map(_.group(1)).toSeq)
      }
      .toSeq

  /** Windows with one answer to each function: a column of the table. */
  final case class Column(windows: Seq[String], cells: Seq[Seq[Seq[Answer]]]) {

    /** What a cell shows: who runs it in batch, in append and in update mode. */
    def signs(function: Int): Seq[String] = cells.head(function).map(_.sign)

    /** Why streams refuse it, window by window. */
    def reasons(function: Int): Seq[String] = {
      val all = cells.map(_(function)).filterNot(_.head.isInstanceOf[Refused])
      all.flatten.collect { case Refused(why) => why }.distinct
    }
  }

  /** Columns of windows whose signs are the same. */
  def columns(answers: Seq[(String, Seq[Seq[Answer]])]): Seq[Column] = {
    val signs = answers.map { case (_, cells) => cells.map(_.map(_.sign)) }
    signs.distinct.map { some =>
      val alike = answers.zip(signs).collect { case (a, `some`) => a }
      Column(alike.map(_._1), alike.map(_._2))
    }
  }

  /** The tables, in Markdown. Functions with the same cells are one row. */
  def tables(functions: Seq[String], columns: Seq[Column]): String = {
    val letters = columns.indices.map(i => ('A' + i).toChar.toString)
    val reasons = functions.indices.flatMap(f => columns.flatMap(_.reasons(f))).distinct
    def cell(column: Column, f: Int): String = {
      val signs = column.signs(f)
      val numbers = column.reasons(f).map(reasons.indexOf(_) + 1)
      if (signs.forall(_ == "✗")) "–"
      else (signs :+ numbers.mkString(", ")).mkString(" ").trim
    }
    val heads = letters.zip(columns).map { case (l, c) =>
      s"$l: ${c.windows.head}${if (c.windows.length > 1) ", …" else ""}"
    }
    val windows = letters.zip(columns).map { case (l, c) => Seq(l, c.windows.mkString("; ")) }
    val cells = functions.indices.map(f => columns.map(cell(_, f)))
    val rows = cells.distinct.map { some =>
      functions.zip(cells).collect { case (f, `some`) => f }.mkString("; ") +: some
    }
    val notes = reasons.zipWithIndex.map { case (r, i) => Seq((i + 1).toString, s"`$r`") }
    Seq(
      table(Seq("column", "windows"), windows),
      table("function" +: heads, rows),
      table(Seq("note", "the error says"), notes)
    ).mkString("\n")
  }

  private def table(head: Seq[String], rows: Seq[Seq[String]]): String =
    (head +: head.map(_ => ":--") +: rows).map(_.mkString("| ", " | ", " |\n")).mkString
}
