package io.sash.spark.plan

import scala.util.Try

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, RowNumber, WindowExpression}
import org.apache.spark.sql.catalyst.expressions.{Literal, PythonUDAF}
import org.apache.spark.sql.catalyst.expressions.{RowFrame, SpecifiedWindowFrame}
import org.apache.spark.sql.catalyst.expressions.{CurrentRow, WindowSpecDefinition}
import org.apache.spark.sql.catalyst.expressions.aggregate.Count
import org.apache.spark.sql.execution.{ExtendedMode, FormattedMode, SimpleMode}
import org.apache.spark.sql.types.{IntegerType, LongType}

import io.sash.spark.{Explain, SashSuite}
import io.sash.spark.base.SashConf
import io.sash.spark.monoids.{AggregateMonoid, Algorithm, Refusal}
import io.sash.spark.windows.WindowCall

/** EXPLAIN says which windows Sash took, by which algorithm, and why it left the others. */
class ExplainSuite extends SashSuite {
  private val table = "(SELECT id, id % 3 AS k, id * 7 % 5 AS x FROM range(20)) AS t"

  private def explained(query: String): String =
    spark.sql(query).queryExecution.explainString(SimpleMode)

  private def over(call: String, frame: String = "ROWS 3 PRECEDING"): String =
    s"SELECT id, $call OVER (PARTITION BY k ORDER BY id $frame) AS c FROM $table"

  test("the node names each aggregate, its frame and its algorithm") {
    val text = explained(
      s"SELECT sum(x) OVER w, max(x) OVER w, stddev(x) OVER w FROM $table " +
        "WINDOW w AS (PARTITION BY k ORDER BY id ROWS 3 PRECEDING)"
    )
    val frame = "ROWS BETWEEN 3 PRECEDING AND CURRENT ROW"
    assert(text.contains("SlidingWindow ["), text)
    assert(text.contains(s"sum(t.x) $frame: SlickDeque (Inv)"), text)
    assert(text.contains(s"max(t.x) $frame: SlickDeque (Non-Inv)"), text)
    assert(text.contains(s"$frame: Two-Stacks Lite"), text)
  }

  test("the node names what an answer is kept in beside its slots") {
    for {
      (call, title) <- Seq(
        "count(DISTINCT x)" -> "SlickDeque (Inv) of a multiset",
        "sum(DISTINCT double(x))" -> "SlickDeque (Inv) of a multiset and FlatFAT",
        "median(x)" -> "SlickDeque (Inv) of a tree of ranks",
        "mode(x)" -> "SlickDeque (Inv) of counts of values",
        "collect_list(x)" -> "Recalculate of the window itself"
      )
    } {
      val text = explained(over(call))
      assert(text.contains(s"CURRENT ROW: $title"), text)
    }
  }

  test("every mode of EXPLAIN has Sash's part") {
    val frame = spark.sql(over("avg(x)"))
    for (mode <- Seq(SimpleMode, ExtendedMode, FormattedMode)) {
      val text = frame.queryExecution.explainString(mode)
      assert(text.contains("Sash"), text)
      assert(text.contains("slides: avg(t.x) ROWS BETWEEN 3 PRECEDING AND CURRENT ROW: "), text)
    }
    val formatted = frame.queryExecution.explainString(FormattedMode)
    assert(formatted.contains("Windows: [avg(t.x) "), formatted)
    assert(formatted.contains("Partition by: [t.k]"), formatted)
  }

  test("EXPLAIN of a query that has run, adaptively") {
    withSettings("spark.sql.adaptive.enabled" -> "true") {
      val frame = spark.sql(over("avg(x)"))
      frame.collect()
      val text = new Explain().generateExtendedInfo(frame.queryExecution.executedPlan)
      assert(
        text == "slides: avg(t.x) ROWS BETWEEN 3 PRECEDING AND CURRENT ROW: Two-Stacks Lite\n" +
          "ordering: hash + adaptive\n"
      )
    }
  }

  private val refused: Seq[(String, String, Refusal)] = Seq(
    (
      "the entire partition",
      over("sum(x)", "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"),
      Refusal.EntirePartition
    ),
    ("a growing frame", over("sum(x)", "ROWS UNBOUNDED PRECEDING"), Refusal.Growing),
    ("no frame, which is a growing one", over("sum(x)", ""), Refusal.Growing),
    ("a ranking function", over("row_number()", ""), Refusal.NotAnAggregate("row_number")),
    ("an offset function", over("lag(x)", ""), Refusal.NotAnAggregate("lag")),
    ("a constant", over("count(CAST(NULL AS INT))"), Refusal.NoWindowFunction)
  )

  for ((name, query, refusal) <- refused) test(s"left to Spark: $name") {
    val frame = spark.sql(query)
    assert(sliding(frame).isEmpty)
    val text = explained(query)
    assert(text.contains(refusal.reason), text)
    assert(text.contains("left to Spark: "), text)
    assert(frame.collect().length == 20)
  }

  test("refusals that SQL cannot provoke") {
    val x = AttributeReference("x", LongType)()
    def call(bound: Literal): WindowExpression = WindowExpression(
      Count(x).toAggregateExpression(),
      WindowSpecDefinition(Nil, Nil, SpecifiedWindowFrame(RowFrame, bound, CurrentRow))
    )
    val unknown = WindowCall.of(call(Literal(null, IntegerType)), Algorithm.Auto)
    assert(unknown.swap.toOption.contains(Refusal.Unbound("CAST(NULL AS INT)")), unknown)
    assert(WindowCall.of(call(Literal(-1)), Algorithm.Auto).isRight)

    val ranking = AggregateMonoid.of(RowNumber().toAggregateExpression())
    assert(ranking.swap.toOption.contains(Refusal.NotMergeable("row_number")), ranking)

    val python = PythonUDAF("median_of", null, LongType, Seq(x), udfDeterministic = true, 0)
    val refusal = AggregateMonoid.of(python.toAggregateExpression()).swap.toOption
    assert(refusal.exists(_.isInstanceOf[Refusal.Python]), refusal)
  }

  test("a query without a window says so, and one with Sash off says nothing of it") {
    assert(!explained(s"SELECT id FROM $table").contains("slides: "))
    withSash(enabled = false) {
      val text = explained(over("sum(x)"))
      assert(text.linesIterator.dropWhile(!_.contains("(Sash)")).drop(1).forall(_.isBlank), text)
      assert(!text.contains("SlidingWindow"), text)
    }
  }

  test("frames from the least value of a type, which has no negation, are printed and run") {
    val least = Seq(
      "ROWS BETWEEN -2147483648 FOLLOWING AND CURRENT ROW" -> "id",
      "RANGE BETWEEN CAST('-9223372036854775808' AS BIGINT) FOLLOWING AND CURRENT ROW" -> "id",
      "RANGE BETWEEN INTERVAL '-106751991 04:00:54.775808' DAY TO SECOND FOLLOWING AND " +
        "CURRENT ROW" -> "timestamp_seconds(id)",
      "RANGE BETWEEN INTERVAL '-178956970-8' YEAR TO MONTH FOLLOWING AND CURRENT ROW" ->
        "date_add(DATE'2020-01-01', int(id))"
    )
    for ((frame, order) <- least; ansi <- Seq("true", "false"))
      withSettings("spark.sql.ansi.enabled" -> ansi) {
        val query = s"SELECT id, sum(x) OVER (ORDER BY $order $frame) AS s FROM $table"
        withClue(query)(assert(explained(query).contains("SlidingWindow [sum(t.x)")))
        def answer(query: String): Option[Seq[Row]] =
          Try(spark.sql(query).collect().toSeq).toOption
        // of 2147483648 rows, Spark's own arithmetic overflows and finds none
        val same = query.replace("-2147483648 FOLLOWING", "-2147483647 FOLLOWING")
        assert(answer(query) == withSash(enabled = false)(answer(same)), query)
      }
  }

  test("planning changes no setting of the session, and a view stores none of Sash's") {
    val key = "spark.sql.extendedExplainProviders"
    val session = spark.newSession()
    session.conf.unset(key)
    val before = session.conf.getAll
    for (enabled <- Seq("true", "false", "true")) {
      session.conf.set(SashConf.Enabled.key, enabled)
      session.sql(over("avg(x)")).collect()
      assert(session.conf.getAll - SashConf.Enabled.key == before - SashConf.Enabled.key)
      assert(session.conf.getOption(key).isEmpty)
    }
    session.sql(s"CREATE OR REPLACE VIEW averages AS ${over("avg(x)")}")
    try {
      val view = session.sessionState.catalog.getTableMetadata(TableIdentifier("averages"))
      assert(!view.properties.exists(_.toString.contains("Explain")), view.properties)
    } finally session.sql("DROP VIEW averages")
  }
}
