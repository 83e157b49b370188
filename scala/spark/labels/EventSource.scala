package io.sash.spark.labels

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}

/**
 * The events of one table, for one query or for several that read the same table with the same
 * keys and time.
 *
 * @param queries the queries by their numbers, over the columns of the first one's events
 * @param names the columns of each query's events, in the order of the first one's
 */
private[labels] final case class EventSource(
    queries: Map[Int, CorrelatedAggregate],
    names: Map[Int, Seq[Attribute]]
) {
  val first: CorrelatedAggregate = queries(queries.keys.min)

  def keys: Seq[Expression] = first.keys.map(_.ofEvents)

  def time: Expression = first.time

  /** The conditions of all queries. */
  private val common: Seq[Expression] = first.ofEvents.filter { condition =>
    queries.values.forall(_.ofEvents.exists(_.semanticEquals(condition)))
  }

  /** The events that a query may need. No range holds a NULL, and no NULL equals a key. */
  def rows: LogicalPlan = {
    val values = time +: first.keys.filterNot(_.isNullSafe).map(_.ofEvents)
    val present = values.filter(_.nullable).map(IsNotNull(_))
    (common ++ present).reduceOption(And).fold(first.events)(Filter(_, first.events))
  }

  /** The conditions of query `i` that others do not have. */
  def conditionsFor(i: Int): Seq[Expression] = {
    val back = AttributeMap(names(queries.keys.min).zip(names(i)))
    queries(i).ofEvents
      .filterNot(c => common.exists(_.semanticEquals(c)))
      .map(_.transform { case a: Attribute => back.getOrElse(a, a) })
  }

  /** The columns that aggregates and conditions read. */
  val columns: Seq[Attribute] = {
    val read = queries.toSeq.sortBy(_._1).flatMap { case (_, query) =>
      query.calls ++ query.ofEvents.filterNot(c => common.exists(_.semanticEquals(c)))
    }
    val references = AttributeSet.fromAttributeSets(read.map(_.references))
    first.events.output.filter(references.contains)
  }

  /** The columns of query `i`'s events, each with the column of `columns` that holds it. */
  def namesFor(i: Int): Seq[(Attribute, Attribute)] =
    names(i).zip(first.events.output)
}

private[labels] object EventSource {

  def of(queries: Seq[CorrelatedAggregate]): Seq[EventSource] =
    queries.zipWithIndex.foldLeft(Seq.empty[EventSource]) { case (sources, (query, i)) =>
      val shared = sources.indexWhere(s => isSame(s.first, query))
      if (shared < 0)
        sources :+ EventSource(Map(i -> query), Map(i -> query.events.output))
      else {
        val s = sources(shared)
        val joined = EventSource(
          s.queries + (i -> renamed(query, s.first)),
          s.names + (i -> query.events.output)
        )
        sources.updated(shared, joined)
      }
    }

  /** The number of the source that query `i` reads. */
  def of(sources: Seq[EventSource], i: Int): Int = sources.indexWhere(_.queries.contains(i))

  private def isSame(one: CorrelatedAggregate, other: CorrelatedAggregate): Boolean =
    one.events.deterministic && one.events.sameResult(other.events) && {
      val named = renamed(other, one)
      one.time.semanticEquals(named.time) && one.keys.zip(named.keys).forall { case (k, of) =>
        k.isNullSafe == of.isNullSafe && k.ofEvents.semanticEquals(of.ofEvents)
      }
    }

  /** The query over the columns of another query's events. */
  private def renamed(
      query: CorrelatedAggregate,
      to: CorrelatedAggregate
  ): CorrelatedAggregate = {
    val names = AttributeMap(query.events.output.zip(to.events.output))
    def over[E <: Expression](e: E): E =
      e.transform { case a: Attribute => names.getOrElse(a, a) }.asInstanceOf[E]
    query.copy(
      keys = query.keys.map(k => k.copy(ofEvents = over(k.ofEvents))),
      time = over(query.time),
      ofEvents = query.ofEvents.map(over(_)),
      results = query.results.map(over(_)),
      having = query.having.map(over(_))
    )
  }
}
