package io.sash.spark.features

import org.apache.spark.sql.{AnalysisException, DataFrame, Row}
import org.scalatest.tags.Slow

import io.sash.spark.{Event, Explain, StreamSuite, Thorough}
import io.sash.spark.features.status.{FeatureName, FeatureStatus}
import io.sash.spark.features.status.FeatureName._

/** Each kind of query, under each feature that is off, and under each pair of them. */
@Slow
class FeaturesOffSuite extends StreamSuite {
  private val single: Seq[Set[FeatureName]] = All.map(Set(_))
  private val pairs: Seq[Set[FeatureName]] = All.combinations(2).map(_.toSet).toSeq
  private val off: Seq[Set[FeatureName]] =
    single ++ (if (Thorough.isOn) pairs else pairs.grouped(5).map(_.head))

  private def without[T](features: Set[FeatureName])(body: => T): T = {
    features.foreach(FeatureStatus.reasons.put(_, "it is off in this test"))
    try body
    finally FeatureStatus.reasons.clear()
  }

  /** Queries, and the features that Spark has no words for. */
  private val queries: Seq[(String, Set[FeatureName], String)] = Seq(
    (
      "OVER",
      Set.empty,
      "SELECT id, sum(id) OVER (PARTITION BY k ORDER BY id ROWS 1 PRECEDING) s FROM t"
    ),
    (
      "a moving median",
      Set(Windows),
      "SELECT id, median(id) OVER (PARTITION BY k ORDER BY id ROWS 2 PRECEDING) s FROM t"
    ),
    (
      "a kind of window",
      Set(Functions, Windows),
      "SELECT id, sum(id) OVER (PARTITION BY k, delta_window(id, 2) ORDER BY id) s FROM t"
    ),
    ("a function", Set(Functions), "SELECT k, value_range(id) s FROM t GROUP BY k"),
    (
      "hop windows",
      Set.empty,
      "SELECT window.start, count(*) s FROM t GROUP BY window(ts, '4 seconds', '2 seconds')"
    ),
    (
      "LATERAL",
      Set.empty,
      "SELECT l.id, f.s FROM t l, LATERAL (SELECT sum(e.id) s FROM t e " +
        "WHERE e.k = l.k AND e.id >= l.id - 2 AND e.id <= l.id) f"
    ),
    (
      "the last event",
      Set.empty,
      "SELECT l.id, (SELECT e.id FROM t e WHERE e.k = l.k AND e.id < l.id " +
        "ORDER BY e.id DESC LIMIT 1) s FROM t l"
    )
  )

  /** The errors by which Spark says that it has no such function or window. */
  private val sparks =
    Set("UNRESOLVED_ROUTINE", "INVALID_WINDOW_SPEC_FOR_AGGREGATION_FUNC")

  private def rows(query: String): Seq[Row] = spark.sql(query).collect().toSeq.sortBy(_.toString)

  spark
    .range(6)
    .selectExpr("id", "id % 2 k", "timestamp_seconds(id) ts")
    .createOrReplaceTempView("t")

  for ((name, needs, query) <- queries) test(s"$name: the same rows, or an error that says why") {
    val expected = rows(query)
    for (features <- off) without(features) {
      if (features.exists(needs)) {
        val error = intercept[AnalysisException](rows(query))
        assert(
          sparks(error.getCondition) || error.getMessage.contains("it is off in this test"),
          s"$features: $error"
        )
      } else assert(rows(query) == expected, features)
    }
  }

  test("EXPLAIN names each feature that is off, and those that need it") {
    for (features <- off) without(features) {
      val lines =
        new Explain().generateExtendedInfo(spark.sql(queries.head._3).queryExecution.executedPlan)
      for (f <- All) {
        val isOff = features(f) || f.needs.exists(features)
        assert(lines.contains(s"left to Spark: $f: ") == isOff, s"$features: $lines")
      }
    }
  }

  for ((sets, tags) <- Seq(single -> Nil, pairs -> Seq(Thorough)))
    test(s"OVER on a stream runs, or is refused: ${sets.size} sets of features", tags: _*) {
      stream(sets)
    }

  private def stream(sets: Seq[Set[FeatureName]]): Unit = {
    val batches = Seq(1, 2).map(b => Seq(Event(b, Some(1), Some(at(b)), Some(b), 0, "")))
    for (features <- sets) without(features)(withSource("0 seconds") { source =>
      def answers: Seq[Row] = {
        run(source, batches, Set(1))(over)
        source.rows
      }
      if (features(Streams)) {
        val error = intercept[AnalysisException](answers)
        assert(error.getCondition == "NON_TIME_WINDOW_NOT_SUPPORTED_IN_STREAMING")
      } else assert(answers.map(_.getLong(1)) == Seq(1, 3), features)
    })
  }

  private def at(second: Int) = new java.sql.Timestamp(1767225600000L + second * 1000L)

  private def over(events: DataFrame): DataFrame =
    events.selectExpr("id", "sum(id) OVER (PARTITION BY k ORDER BY ts ROWS 1 PRECEDING) s")
}
