package io.sash.spark.refresh

import java.util.{List => JList, Map => JMap}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.AliasIdentifier
import org.apache.spark.sql.catalyst.analysis.{Resolver, UnresolvedAttribute, UnresolvedFunction}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.Literal.TrueLiteral
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.classic.{DataFrame, SparkSession}
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.columnar.InMemoryTableScanExec
import org.apache.spark.sql.execution.exchange.ReusedExchangeExec
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.sash.RefreshInternals
import org.apache.spark.sql.types._

import io.sash.spark.base.{SashErrors, SparkVersions, TimeUnit}
import io.sash.spark.base.TimeUnit.Micro
import io.sash.spark.lateral.LateralWindows

/**
 * A query with windows over tables that have changed. It finds the answers that may differ now,
 * and computes them anew. Python's `sash.refreshed` calls it.
 *
 * A row is answered again if a changed row, old or new, lies in its window. A row is read if it
 * lies in the window of such a row. Both follow from the reach of the windows: how far from a row
 * of the same key the rows of its window may lie in time.
 *
 * @param query has a [[ChangedTable]] at each place where it reads a changed table
 * @param changed for each of these places, the rows that the query makes of the place's changed
 *   rows, in the query's columns, and the reach of the windows that may hold them
 * @param keys columns of the query. Rows that differ in one of them never meet in a window
 * @param time the order of the windows: a column of the query, or the start of its hop windows.
 *   None if any row of a key may be in the window of another
 * @param reach the longest reach of all windows
 */
final class Refresh private (
    session: SparkSession,
    query: LogicalPlan,
    changed: Seq[(LogicalPlan, WindowReach)],
    keys: Seq[Attribute],
    time: Option[Expression],
    reach: WindowReach
) {

  /** The names of the key's columns. */
  def keyNames: Array[String] = keys.map(_.name).toArray

  /** The name of the column that is the time, or has it as its first field. Null without one. */
  def timeName: String =
    time.flatMap(_.collectFirst { case a: Attribute => a.name }).orNull

  /**
   * The spans whose answers may differ now. Spark reads the changed rows at once, and keeps the
   * spans in memory until nothing refers to them.
   */
  def spans: Spans = {
    val each =
      changed.map { case (rows, reach) => run(spansOf(rows, reach)) }.reduce(_ unionAll _)
    val places = each.queryExecution.analyzed
    val (of, Seq(first, last)) = places.output.splitAt(keys.length)
    val ends = Alias(JoinedSpans(first, last).toAggregateExpression(), "ends")(explicitMetadata =
      Some(Spans.Mark)
    )
    // without keys, an aggregate has a row for no changes, too
    val byKey =
      RefreshInternals.kept(run(Aggregate(of, of :+ ends, places)).where("size(ends) > 0"))
    val found = byKey
      .selectExpr(
        Seq("count(1)", "sum(size(ends)) div 2", "min(ends[0])", "max(element_at(ends, -1))") ++
          of.map(key => s"count(${key.name})"): _*
      )
      .head()
    // without spans, 0 does as an end
    def number(at: Int): Long = if (found.isNullAt(at)) 0L else found.getLong(at)
    Spans(
      seen(byKey),
      byKey.queryExecution.analyzed,
      mayBeNull = of.indices.map(i => number(4 + i) < number(0)),
      keys = number(0),
      count = number(1),
      least = number(2),
      greatest = number(3)
    )
  }

  /**
   * One span for each row. Spans of a key may overlap. An end beyond the times of its type is no
   * limit.
   */
  private def spansOf(rows: LogicalPlan, reach: WindowReach): LogicalPlan = {
    val units = time.fold[Expression](Literal(null, LongType))(Spans.units)
    def end(moved: Expression, none: Literal) =
      If(IsNull(units), none, Coalesce(Seq(Spans.units(Spans.time(moved, timeType)), none)))
    // the keys are renamed, since the query may have columns named `first` or `last`
    val numbered = keys.zipWithIndex.map { case (k, i) => Alias(k, s"key_$i")() } :+
      Alias(end(Spans.back(units, reach.ahead), Spans.NoFirst), "first")() :+
      Alias(end(Spans.ahead(units, reach.back), Spans.NoLast), "last")()
    Project(numbered, ChangedTable.restored(rows))
  }

  private def timeType: DataType = time.fold[DataType](TimestampType)(_.dataType)

  /** The spans as users see them. */
  private def seen(byKey: DataFrame): DataFrame = {
    val each = byKey
      .selectExpr("*", "posexplode(ends) AS (place, first)")
      .where("place % 2 = 0")
      .selectExpr("*", "ends[place + 1] AS last")
    val table = each.queryExecution.analyzed
    val names = keys.zip(table.output).map { case (k, a) => Alias(a, k.name)() }
    val ends = Seq("first", "last").map { name =>
      Alias(Spans.time(table.output.find(_.name == name).get, timeType), name)()
    }
    run(Project(names ++ ends, table))
  }

  /** The query's answers within the spans. It reads only rows within reach of the spans. */
  def answers(spans: Spans): DataFrame = {
    val read = new RowsInReach(spans.near).below(query, keys, time, reach)
    run(spans.near(ChangedTable.restored(read), keys, time, WindowReach.Own))
  }

  /** The rows of a table that lie within the spans. The table has the query's keys and time. */
  def within(rows: DataFrame, spans: Spans): DataFrame = {
    val table = rows.queryExecution.analyzed
    run(spans.near(table, keys.map(columnOf(table)), timeOf(table), WindowReach.Own))
  }

  /** The rows of a table whose time lies between the first span and the last. */
  def near(rows: DataFrame, spans: Spans): DataFrame = {
    val table = rows.queryExecution.analyzed
    val limits = timeOf(table).flatMap(spans.between(_, WindowReach.Own))
    run(limits.fold(table)(Filter(_, table)))
  }

  /**
   * Runs a MERGE of answers into a table.
   *
   * @param text the MERGE, in which the table is `t`. Its call of `sash_among` becomes a
   *   condition on the table alone: a row may have an answer's id, and its time lies between the
   *   first span and the last
   * @param ids the columns of the id, quoted
   * @param count the number of answers; 0 if all of them are new
   */
  def merge(
      text: String,
      table: DataFrame,
      answers: DataFrame,
      ids: JList[String],
      count: Long,
      spans: Spans
  ): Unit = {
    val among =
      Option.when(count > 0)(Among.one(table, answers, ids.asScala.toSeq, count)).flatten
    val limits = time
      .flatMap(spans.between(_, WindowReach.Own))
      .map(_.transform { case a: Attribute =>
        UnresolvedAttribute(Seq("t", a.name))
      })
    val plan = session.sessionState.sqlParser.parsePlan(text).transformAllExpressions {
      case call: UnresolvedFunction if call.nameParts == Seq("sash_among") =>
        (limits ++ among
          .map(_(call.arguments))).reduceOption[Expression](And).getOrElse(TrueLiteral)
    }
    run(plan).collect()
  }

  private def timeOf(table: LogicalPlan): Option[Expression] =
    time.map(_.transform { case a: Attribute => columnOf(table)(a) })

  private def columnOf(table: LogicalPlan)(of: Attribute): Attribute =
    table.output.find(c => session.sessionState.conf.resolver(c.name, of.name)).get

  private def run(plan: LogicalPlan): DataFrame = RefreshInternals.rows(session, plan)
}

object Refresh {

  /**
   * Takes a query apart, or throws an error that says why it cannot be refreshed.
   *
   * @param changes the changed rows of each table, old and new, in the table's columns
   */
  def of(query: DataFrame, changes: JMap[String, DataFrame]): Refresh = {
    val session = query.sparkSession
    val tables = changes.asScala.keys.map(name => name -> aliasOf(session, name)).toMap
    val as = session.sessionState.conf.resolver
    val plan = asWindows(session, marked(query.queryExecution.analyzed, tables, as))
    tables.keys.foreach { name =>
      if (
        !plan.exists(ofTable(_, name)) && !plan.exists(
          _.subqueries.exists(_.exists(ofTable(_, name)))
        )
      )
        throw SashErrors.invalidArgument(
          "refreshed",
          "changes",
          s"the query reads no table $name"
        )
    }
    val rows = changes.asScala.view.mapValues(_.queryExecution.analyzed).toMap
    // this refuses a query, so it comes before the search for keys
    val changed = ChangedRows.of(plan, rows)
    val zone = session.sessionState.conf.sessionLocalTimeZone
    val (time, reach) = timeOf(plan, zone)
    val isKeyed = RowsBelow.isKeyed(plan)
    val all = plan.output.filter { a =>
      RowOrdering.isOrderable(a.dataType) && RowsBelow.isKey(plan, a) &&
      !time.exists(_.references.contains(a))
    }
    // a time column beside other keys is no key, so that spans of one key can be merged
    val timeless = all.filterNot(a => time.nonEmpty && isInstant(a.dataType))
    val keys = if (timeless.isEmpty && isKeyed) all else timeless
    if (keys.isEmpty && isKeyed && !time.exists(RowsBelow.isKey(plan, _)))
      throw ChangedTable.refuse(
        "none of its columns is in PARTITION BY of each of its windows; select the key, too. " +
          "If a key is an expression, make it a column below the windows"
      )
    val withReach = changed.map { case (of, rows) =>
      rows -> time.flatMap(RowsBelow.reach(of, _, zone)).getOrElse(WindowReach.Endless)
    }
    new Refresh(session, plan, withReach, keys, time, reach)
  }

  /** The share of the table's bytes, from 0 to 1, that lies in the files which `rows` reads. */
  def share(rows: DataFrame, table: DataFrame): Double = {
    def bytes(plan: LogicalPlan) = plan.collectLeaves().map(_.stats.sizeInBytes).sum
    val all = bytes(table.queryExecution.analyzed)
    if (all == 0) 0
    else (BigDecimal(bytes(rows.queryExecution.optimizedPlan)) / BigDecimal(all)).toDouble
  }

  /** Whether no file or partition is left after pruning, so that there are no rows. */
  def isNone(rows: DataFrame): Boolean = rows.queryExecution.toRdd.getNumPartitions == 0

  /** How many rows the scans gave when `rows` was computed, without scans of the table `but`. */
  def rowsRead(rows: DataFrame, but: DataFrame): Long = {
    val columns = AttributeSet(but.queryExecution.analyzed.collectLeaves().flatMap(_.output))
    ExecutedPlan
      .collectLeaves(rows.queryExecution.executedPlan)
      .filter {
        case _: InMemoryTableScanExec | _: ReusedExchangeExec => false // the spans
        case scan =>
          scan.outputSet.intersect(columns).isEmpty && !scan.output.exists(Spans.isOfSpan)
      }
      .flatMap(_.metrics.get("numOutputRows"))
      .map(_.value)
      .sum
  }

  /** The rows with a column `same`: whether `before` and `row` have the same bytes. */
  def compared(rows: DataFrame): DataFrame = {
    val plan = rows.queryExecution.analyzed
    def column(name: String) = plan.output.find(_.name == name).get
    val same = Alias(SameBytes(column("before"), column("row")), "same")()
    RefreshInternals.rows(rows.sparkSession, Project(plan.output :+ same, plan))
  }

  private object ExecutedPlan extends AdaptiveSparkPlanHelper

  private def ofTable(plan: LogicalPlan, name: String): Boolean = plan match {
    case t: ChangedTable => t.name == name
    case _               => false
  }

  /** The name of the table that a DataFrame reads as a whole; null if it is something else. */
  def tableName(rows: DataFrame): String = rows.queryExecution.analyzed match {
    case SubqueryAlias(id, child) if isTable(child) =>
      (id.qualifier :+ id.name).map(part => s"`${part.replace("`", "``")}`").mkString(".")
    case _ => null
  }

  /** The plan of a table: its full name above its rows. */
  private def aliasOf(session: SparkSession, name: String): SubqueryAlias =
    session.table(name).queryExecution.analyzed match {
      case alias: SubqueryAlias => alias
      case _ =>
        throw SashErrors.invalidArgument("refreshed", "changes", s"$name is no table or view")
    }

  private def marked(
      query: LogicalPlan,
      tables: Map[String, SubqueryAlias],
      as: Resolver
  ): LogicalPlan =
    SparkVersions.inlineCommonTables(query).transformDownWithSubqueries {
      case alias @ SubqueryAlias(id, child) if isTable(child) =>
        tables
          .collectFirst {
            case (name, table)
                if isSame(table.identifier, id, as) && table.child.getClass == child.getClass =>
              alias.copy(child = ChangedTable(name, child))
          }
          .getOrElse(alias)
    }

  /** Whether two names mean one table. The names keep the case in which a query writes them. */
  private def isSame(a: AliasIdentifier, b: AliasIdentifier, as: Resolver): Boolean =
    (a.qualifier :+ a.name).corresponds(b.qualifier :+ b.name)(as)

  /** Whether a plan is a whole table or view, and no subquery with an alias of that name. */
  private def isTable(plan: LogicalPlan): Boolean = plan match {
    case _: LeafNode | _: View => true
    // Spark pads columns of CHAR above a table
    case Project(columns, _: LeafNode) =>
      columns.exists(_.exists {
        case s: StaticInvoke => s.functionName == "readSidePadding"
        case _               => false
      })
    case _ => false
  }

  /** The plan with subqueries over a range of time replaced by windows. */
  private def asWindows(session: SparkSession, plan: LogicalPlan): LogicalPlan =
    SQLConf.withExistingConf(session.sessionState.conf)(LateralWindows(plan))

  /**
   * The column that is the time of all windows, and its reach. A reach with two limits wins, then
   * a date or timestamp, then a column that orders a window.
   */
  private def timeOf(plan: LogicalPlan, zone: String): (Option[Expression], WindowReach) = {
    val times = plan.output.flatMap { a =>
      a.dataType match {
        case s: StructType
            if s.headOption.exists(f => f.name == "start" && isInstant(f.dataType)) =>
          Some(GetStructField(a, 0, Some("start")))
        case t if Spans.isTime(t) => Some(a)
        case _                    => None
      }
    }
    val reaches = for {
      time <- times
      reach <- RowsBelow.reach(plan, time, zone) if reach.openEnds < 2
    } yield (time: Expression, reach)
    reaches
      .minByOption { case (time, reach) =>
        (reach.openEnds, TimeUnit.of(time.dataType).isEmpty, !RowsBelow.isPlace(plan, time))
      }
      .fold[(Option[Expression], WindowReach)]((None, WindowReach.Endless)) { case (t, r) =>
        (Some(t), r)
      }
  }

  private def isInstant(dataType: DataType): Boolean = dataType match {
    case TimeUnit(Micro) => true
    case s: StructType   => s.headOption.exists(f => isInstant(f.dataType))
    case _               => false
  }
}
