package io.sash.spark.streams.start

import scala.collection.mutable

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.streaming.WriteToStreamStatement
import org.apache.spark.sql.catalyst.trees.TreeNodeTag

import io.sash.spark.streams.plan.OfStream
import io.sash.spark.streams.program.{StreamFrame, StreamProgram, StreamSession, StreamSince}

/**
 * Says in the log, once a start, that rows are grouped by an answer over a session and by
 * `window(ts, …)`. Such a group is a part of a session, in batch as on a stream. A stream needs
 * the window, so that the query looks like one of whole sessions. It is not refused, since the
 * parts may be asked for, such as the minutes of each session by day.
 */
private[start] object SplitSessions extends Logging {
  private val Warned: TreeNodeTag[Unit] = TreeNodeTag("sash.split")

  def warn(write: WriteToStreamStatement, query: LogicalPlan): Unit = {
    val names = split(query)
    if (names.nonEmpty && write.getTagValue(Warned).isEmpty) {
      // the analyzer runs the rule more than once
      write.setTagValue(Warned, ())
      logWarning(
        s"Rows are grouped by an answer over a session (${names.mkString(", ")}) and by " +
          "window(…). A session that has rows in several of these windows gives a row for each " +
          "of them. For one row a session, group by session_window(time, gap) in place of both"
      )
    }
  }

  /** The columns of sessions by which rows are grouped, if a window is beside them. */
  private def split(query: LogicalPlan): Seq[String] = {
    val ofSessions = mutable.Set.empty[ExprId]
    def reads(e: Expression): Boolean = e.references.exists(a => ofSessions(a.exprId))
    val names = mutable.LinkedHashSet.empty[String]
    query.foreachUp {
      case Project(columns, OfStream(stateful, processor)) =>
        val answers = answersOf(processor.program)
        ofSessions ++= columns.collect {
          case a @ Alias(GetStructField(o: Attribute, i, _), _)
              if o.semanticEquals(stateful.outputObjAttr) && answers(i) =>
            a.exprId
        }
      case Project(columns, _) => ofSessions ++= columns.filter(reads).map(_.exprId)
      case Aggregate(grouping, _, _, _) if grouping.exists(isWindow) =>
        names ++= grouping.filter(reads).map(nameOf)
      case _ =>
    }
    names.toSeq
  }

  /** The columns of an answered row that are aggregates over sessions. */
  private def answersOf(program: StreamProgram): Set[Int] = {
    val results = for {
      (shape, window) <- program.windows.zipWithIndex
      if isSession(shape.frame)
      result <- program.resultsOf(window)
    } yield result
    program.output.indices.filter { i =>
      program.output(i).exists {
        case b: BoundReference => results.contains(b.ordinal - program.input.length)
        case _                 => false
      }
    }.toSet
  }

  private def isSession(frame: StreamFrame): Boolean = frame match {
    case StreamSince(_, _: StreamSession) => true
    case _                                => false
  }

  private def isWindow(e: Expression): Boolean = e match {
    case n: NamedExpression => n.metadata.contains(TimeWindow.marker)
    case _                  => false
  }

  private def nameOf(e: Expression): String = e match {
    case n: NamedExpression => n.name
    case other              => other.sql
  }
}
