package io.sash.spark.aggregates

import org.scalatest.tags.Slow

import io.sash.spark.SashSuite
import io.sash.spark.names.AllSashFunctions

/**
 * What an aggregate answers over no rows is one thing: in a plain query, beside several DISTINCT, in a
 * subquery that looks at outer rows, and over an empty frame.
 */
@Slow
class NoRowsSuite extends SashSuite {
  import NoRowsSuite._

  private def first(query: String): Any = withClue(query)(spark.sql(query).collect().last.get(0))

  private def create(): Unit = spark
    .sql(
      "SELECT id, CAST(id % 3 AS INT) k, CAST(id % 5 AS INT) vi, CAST(id % 4 AS INT) vh FROM range(12)"
    )
    .createOrReplaceTempView("rows")

  test("each function has a call here") {
    // a rank has no place but OVER
    val names = AllSashFunctions.All.map(_.name).filterNot(_.endsWith("_in_frame"))
    assert(names.toSet == Calls.map(_._1).toSet)
  }

  for (mode <- Seq("CODEGEN_ONLY", "NO_CODEGEN"))
    test(s"one answer in every place, $mode", each(2): _*) {
      create()
      val all = Calls.map(_._2)
      // which Spark refuses there, as it does first
      val lateral = all.filterNot(_.startsWith("longest"))
      def columns(calls: Seq[String], over: String = "") =
        calls.zipWithIndex.map { case (c, i) => s"$c$over c$i" }.mkString(", ")
      val places = Seq(
        all -> s"SELECT ${columns(all)} FROM rows WHERE id < 0",
        all -> s"SELECT ${columns(all)}, count(DISTINCT k), count(DISTINCT vh) FROM rows WHERE id < 0",
        all -> all
          .map(c => s"(SELECT $c FROM rows r WHERE r.k = v.k)")
          .mkString("SELECT ", ", ", " FROM (VALUES (99)) v(k)"),
        lateral -> (s"SELECT m.* FROM (VALUES (99)) v(k), LATERAL (SELECT ${columns(lateral)} " +
          "FROM rows r WHERE r.k = v.k) m"),
        all -> (s"SELECT ${columns(all, " OVER (ORDER BY id ROWS BETWEEN 30 PRECEDING AND 20 PRECEDING)")} " +
          "FROM rows")
      )
      withSettings("spark.sql.codegen.factoryMode" -> mode) {
        for ((calls, query) <- places) withClue(s"$query\n") {
          val row = spark.sql(query).collect().last
          for ((call, i) <- calls.zipWithIndex) withClue(s"$call\n") {
            assert(row.get(i) == Calls.collectFirst { case (_, `call`, empty) => empty }.get)
          }
        }
      }
    }

  test("what a lower that fails over no rows answers is found when it is run") {
    create()
    val call = "monoid_agg(vi, x -> x, (a, b) -> a + b, a -> 1 / a, 0)"
    assert(first(s"SELECT $call FROM rows WHERE id = 2") == 0.5)
    intercept[Exception](spark.sql(s"SELECT $call FROM rows WHERE id < 0").collect())
  }

  test("a nullable column in hops") {
    spark
      .sql(
        "SELECT timestamp_seconds(id * 30) ts, IF(id % 4 = 0, NULL, CAST(id AS INT)) i FROM range(30)"
      )
      .createOrReplaceTempView("hops")
    def query(of: String) =
      spark.sql(s"SELECT $of m FROM hops GROUP BY window(ts, '4 minutes', '1 minute')").collect()
    for (mode <- Seq("CODEGEN_ONLY", "NO_CODEGEN"))
      withSettings("spark.sql.codegen.factoryMode" -> mode) {
        assert(
          query("monoid_agg(i, x -> x, (a, b) -> greatest(a, b))").toSet == query("max(i)").toSet
        )
        assert(
          query("monoid_agg(struct(i, ts), x -> x.i, (a, b) -> coalesce(a, b))").length ==
            query("max(i)").length
        )
      }
  }
}

object NoRowsSuite {
  private val Monoid = "monoid_agg(vi, x -> CAST(x AS BIGINT), (a, b) -> a + b"

  private val Calls: Seq[(String, String, Any)] = Seq(
    ("monoid_agg", s"$Monoid, a -> a, 0L, (a, b) -> a - b)", 0L),
    ("monoid_agg", s"$Monoid, a -> concat('n', a), 0L)", "n0"),
    ("monoid_agg", s"$Monoid, a -> aggregate(array(a), 1L, (p, q) -> p + q), 0L)", 1L),
    ("monoid_agg", s"$Monoid)", null),
    ("max_count", "max_count(vi)", 0L),
    ("min_count", "min_count(vi)", 0L),
    ("value_range", "value_range(vi)", null),
    ("relative_variation", "relative_variation(vi)", null),
    ("coefficient_of_variation", "coefficient_of_variation(vi)", null),
    ("geometric_mean", "geometric_mean(vi)", null),
    ("product", "product(vi)", null),
    ("arg_max", "arg_max(id, vi)", null),
    ("arg_min", "arg_min(id, vi)", null),
    ("m4", "m4(vi, id)", null),
    ("longest_increasing_run", "longest_increasing_run(vi, id)", null),
    ("counter_increase", "counter_increase(vi)", null),
    ("counter_rate", "counter_rate(vi, id)", null),
    ("cusum", "cusum(vi)", null),
    ("funnel", "funnel(vi = 1, vi = 2)", 0),
    ("ewm_mean", "ewm_mean(vi, id, 2)", null),
    ("ewm_mean_by_rows", "ewm_mean_by_rows(vi, 0.5)", null),
    ("ema", "ema(vi, id, 2)", null),
    ("decayed_sum", "decayed_sum(vi, id, 2)", null),
    ("decayed_count", "decayed_count(id, 2)", 0.0),
    ("time_weighted_avg", "time_weighted_avg(vi, id)", null),
    ("linear_weighted_avg", "linear_weighted_avg(vi, id, 100000)", null),
    ("linear_weighted_sum", "linear_weighted_sum(vi, id, 100000)", null),
    ("time_weighted_avg", "time_weighted_avg(vi, id, vi, 2)", null),
    ("first_n", "first_n(vi, 2)", Seq()),
    ("last_n", "last_n(vi, 2)", Seq()),
    ("last_distinct_n", "last_distinct_n(vi, 2)", Seq()),
    ("max_n", "max_n(vi, 2)", Seq()),
    ("min_n", "min_n(vi, 2)", Seq()),
    ("max_n_by", "max_n_by(id, vi, 2)", Seq()),
    ("min_n_by", "min_n_by(id, vi, 2)", Seq()),
    ("value_counts", "value_counts(vi)", Map()),
    ("top_counts", "top_counts(vi, 2)", Seq()),
    ("entropy", "entropy(vi)", null),
    ("mode_share", "mode_share(vi)", null)
  )
}
