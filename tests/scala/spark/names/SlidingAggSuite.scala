package io.sash.spark.names

import org.apache.spark.sql.AnalysisException
import org.scalatest.prop.TableDrivenPropertyChecks.{forAll, Table}

import io.sash.spark.{RowEquality, SashSuite, TestTable}

/** `sliding_agg(col, 'monoid') OVER (…)`: the aggregate that the name says, and clear errors. */
class SlidingAggSuite extends SashSuite {
  private val over = "OVER (PARTITION BY g ORDER BY uq ROWS 5 PRECEDING)"

  private val same = Table(
    ("sliding_agg", "the aggregate"),
    ("sliding_agg(i, 'max')", "max(i)"),
    ("sliding_agg(i, 'MAX')", "max(i)"),
    ("sliding_agg(l, 'sum')", "sum(l)"),
    ("sliding_agg(s, 'max_by', uq)", "max_by(s, uq)"),
    ("sliding_agg(s, 'first', true)", "first(s, true)"),
    ("sliding_agg(x, 'stddev')", "stddev(x)"),
    ("sliding_agg(bo, 'count_if')", "count_if(bo)"),
    ("sliding_agg(l, 'bit_xor') FILTER (WHERE i > 0)", "bit_xor(l) FILTER (WHERE i > 0)")
  )

  test("the same rows, types and plan as the aggregate itself") {
    TestTable.create(spark)
    forAll(same) { (words, aggregate) =>
      val frame = spark.sql(s"SELECT id, $words $over AS c FROM data")
      val plain = spark.sql(s"SELECT id, $aggregate $over AS c FROM data")
      assert(RowEquality.difference(plain.collect().toSeq, frame.collect().toSeq).isEmpty)
      assert(
        sliding(frame).flatMap(_.calls.map(_.toString)) ==
          sliding(plain).flatMap(_.calls.map(_.toString))
      )
      assert(sliding(frame).nonEmpty)
    }
  }

  test("with Sash off it is still the aggregate") {
    TestTable.create(spark)
    checkSlides(s"SELECT id, sliding_agg(i, 'max') $over AS c FROM data")
  }

  private def failure(call: String): AnalysisException = {
    TestTable.create(spark)
    intercept[AnalysisException](spark.sql(s"SELECT $call $over FROM data"))
  }

  test("an unknown monoid's error suggests the nearest names") {
    val error = failure("sliding_agg(i, 'maxx')")
    assert(error.getMessage.contains("maxx") && error.getMessage.contains("'max'"))
    assert(failure("sliding_agg(i, 'stdev')").getMessage.contains("'stddev'"))
  }

  test("monoid_agg is called by itself") {
    assert(failure("sliding_agg(i, 'monoid_agg')").getMessage.contains("takes lambdas"))
    val lambdas = "x -> x, (a, b) -> a + b"
    assert(
      failure(s"sliding_agg(i, 'monoid_agg', $lambdas)").getMessage.contains("takes lambdas")
    )
  }

  test("a function that is no aggregate is no monoid") {
    assert(failure("sliding_agg(s, 'upper')").getMessage.contains("upper"))
    assert(failure("sliding_agg(i, 'row_number')").getMessage.nonEmpty)
  }

  test("the monoid must be a constant name") {
    assert(failure("sliding_agg(i, s)").getMessage.contains("'max'"))
    assert(failure("sliding_agg(i, 1)").getMessage.contains("monoid"))
  }

  test("the number of arguments") {
    for (call <- Seq("sliding_agg()", "sliding_agg(i)"))
      assert(failure(call).getCondition == "WRONG_NUM_ARGS.WITHOUT_SUGGESTION")
    // the aggregate itself knows how many it takes
    assert(failure("sliding_agg(i, 'max', s)").getCondition.startsWith("WRONG_NUM_ARGS"))
  }

  test("sash_version() takes no argument") {
    val error = intercept[AnalysisException](spark.sql("SELECT sash_version(1)"))
    assert(error.getCondition == "WRONG_NUM_ARGS.WITHOUT_SUGGESTION")
  }
}
