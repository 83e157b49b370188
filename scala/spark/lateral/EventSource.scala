package io.sash.spark.lateral

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

import io.sash.spark.base.Filtered

/**
 * The events of one table, for all queries that read it with the same keys and time.
 *
 * @param queries the queries by number, rewritten to the columns of the first query's events
 */
private[lateral] final case class EventSource(queries: Map[Int, CorrelatedAggregate]) {
  private val first = queries(queries.keys.min)

  def keys: Seq[Expression] = first.keys.map(_.ofEvents)

  def time: Expression = first.time

  /** The conditions on events that all queries share. */
  private val common: Seq[Expression] = first.ofEvents.filter { condition =>
    queries.values.forall(_.ofEvents.exists(_.semanticEquals(condition)))
  }

  /**
   * The events that some query may need; for others, keys and time are never computed. An event
   * whose time is NULL is in no range. An event whose key is NULL matches no label, unless the
   * query compares by `<=>` and a label's key can be NULL.
   */
  def rows: LogicalPlan = {
    val own = queries.keys.toSeq.sorted.map(conditionsOf(_).reduceOption(And(_, _)))
    val some = if (own.contains(None)) None else own.flatten.reduceOption(Or(_, _))
    val values = time +: first.keys
      .filterNot(key => key.isNullSafe && key.ofLabel.nullable)
      .map(_.ofEvents)
    Filtered(common ++ some ++ values.filter(_.nullable).map(IsNotNull(_)), first.events)
  }

  /** The conditions on events that query `i` does not share with all others. */
  def conditionsOf(i: Int): Seq[Expression] =
    queries(i).ofEvents.filterNot(c => common.exists(_.semanticEquals(c)))

  /** The columns of the events that aggregates and their conditions read. */
  val columns: Seq[Attribute] = {
    val read = queries.keys.toSeq.flatMap(i => queries(i).calls ++ conditionsOf(i))
    val references = AttributeSet.fromAttributeSets(read.map(_.references))
    first.events.output.filter(references.contains)
  }

  /** Rewrites a query to this source's columns; none if its rows, keys or time differ. */
  private def taken(query: CorrelatedAggregate): Option[CorrelatedAggregate] =
    Option
      .when(first.events.deterministic && first.events.sameResult(query.events)) {
        EventSource.over(query, AttributeMap(query.events.output.zip(first.events.output)))
      }
      .filter { named =>
        time.semanticEquals(named.time) && first.keys.zip(named.keys).forall { case (k, of) =>
          k.isNullSafe == of.isNullSafe && k.ofEvents.semanticEquals(of.ofEvents)
        }
      }
}

private[lateral] object EventSource {

  def of(queries: Seq[CorrelatedAggregate]): Seq[EventSource] =
    queries.zipWithIndex.foldLeft(Seq.empty[EventSource]) { case (sources, (query, i)) =>
      sources.indices.iterator
        .flatMap(n => sources(n).taken(query).map(n -> _))
        .nextOption()
        .fold(sources :+ EventSource(Map(i -> query))) { case (n, named) =>
          sources.updated(n, EventSource(sources(n).queries + (i -> named)))
        }
    }

  /** Rewrites a query to other attributes for the columns of its events. */
  private def over(
      query: CorrelatedAggregate,
      names: AttributeMap[Attribute]
  ): CorrelatedAggregate = {
    def over[E <: Expression](e: E): E =
      e.transform { case a: Attribute => names.getOrElse(a, a) }.asInstanceOf[E]
    query.copy(
      keys = query.keys.map(k => k.copy(ofEvents = over(k.ofEvents))),
      time = over(query.time),
      ofEvents = query.ofEvents.map(over(_)),
      results = query.results.map(over(_)),
      having = query.having.map(over(_)),
      list = query.list.map(of => of.copy(over(of.call)))
    )
  }
}
