package io.sash.spark.names

import org.apache.spark.sql.{AnalysisException, Encoder, Encoders, Row, SparkSession}
import org.apache.spark.sql.api.java.UDF1
import org.apache.spark.sql.expressions.Aggregator
import org.apache.spark.sql.functions.{call_function, call_udf, col, expr, product, udaf, udf}
import org.apache.spark.sql.types.StringType
import org.scalatest.Assertion
import org.scalatest.prop.TableDrivenPropertyChecks.{forAll, Table}
import org.scalatest.tags.Slow

import io.sash.spark.SashSuite
import io.sash.spark.base.SashVersionFunction
import io.sash.spark.kinds.WindowKindFunctions

/** A name that anybody else has is not Sash's: in every clause, whenever it was made. */
@Slow
class NamesSuite extends SashSuite {
  private val names: Seq[String] =
    (AllSashFunctions.All ++ WindowKindFunctions.All).map(_.name) :+ SlidingAgg.Name :+
      SashVersionFunction.function.name

  private def rows(query: String): Seq[Row] = spark.sql(query).collect().toSeq

  private def one(query: String): Any = rows(query).map(_.get(0)) match {
    case Seq(value) => value
    case several    => several
  }

  private def condition(body: => Any): String =
    intercept[AnalysisException](body).getCondition

  /** With a function that goes away again. */
  private def having[T](create: String)(body: => T): T = {
    spark.sql(create)
    val kind = if (create.contains("TEMPORARY")) "TEMPORARY" else ""
    val Name = """.*?FUNCTION (\S+?)\(.*""".r
    try body
    finally
      create match {
        case Name(name) => spark.sql(s"DROP $kind FUNCTION IF EXISTS $name")
      }
  }

  test("each name: a user's temporary, persistent or registered function is the one that runs") {
    for (name <- names) withClue(name) {
      // Sash's give no string, or want other arguments
      def isTheirs(): Assertion = {
        val query = spark.sql(s"SELECT $name(7), `${name.toUpperCase}`(7), (SELECT $name(7))")
        assert(query.schema.map(_.dataType).distinct == Seq(StringType))
      }
      spark.udf.register(name, udf((x: Long) => s"mine $x"))
      try isTheirs()
      finally spark.sql(s"DROP TEMPORARY FUNCTION $name")
      for (kind <- Seq("TEMPORARY", ""))
        having(
          s"CREATE $kind FUNCTION $name(x INT) RETURNS STRING RETURN concat('mine ', cast(x AS STRING))"
        )(isTheirs())
    }
  }

  test("the cases that went wrong") {
    spark.udf.register("product", udf((x: Long) => x * 1000))
    try {
      assert(rows("SELECT product(id) FROM range(3)") == Seq(Row(0L), Row(1000L), Row(2000L)))
      val numbers = spark.range(2, 3)
      for (
        call <- Seq(
          call_function("product", col("id")),
          call_udf("product", col("id")),
          expr("product(id)")
        )
      )
        assert(numbers.select(call).head() == Row(2000L))
      // Spark's own in DataFrames is nobody's name
      assert(spark.range(1, 4).select(product(col("id"))).head() == Row(6.0))
    } finally spark.sql("DROP TEMPORARY FUNCTION product")
    val ofJava: UDF1[java.lang.Long, String] = x => s"Java's $x"
    spark.udf.register("mode_share", ofJava, StringType)
    try {
      assert(rows("SELECT mode_share(id) FROM range(2)") == Seq(Row("Java's 0"), Row("Java's 1")))
      assert(spark.range(1).select(call_udf("mode_share", col("id"))).head() == Row("Java's 0"))
    } finally spark.sql("DROP TEMPORARY FUNCTION mode_share")
    having("CREATE FUNCTION geometric_mean(x DOUBLE) RETURNS DOUBLE RETURN x * 100") {
      assert(one("SELECT geometric_mean(2.0D)") == 200.0)
      assert(one("SELECT sash.geometric_mean(2.0D)") == 2.0)
    }
    assert(one("SELECT geometric_mean(2.0D)") == 2.0)
    having("CREATE TEMPORARY FUNCTION max_count(x INT) RETURNS INT RETURN x + 7") {
      assert(one("SELECT max_count(1)") == 8)
    }
    having(
      "CREATE FUNCTION time_window(t TIMESTAMP) RETURNS STRING RETURN date_format(t, 'HH')"
    ) {
      val times = Seq("10:00", "10:30", "11:00").map(t => s"(TIMESTAMP'2020-01-01 $t:00')")
      val counts = rows(
        "SELECT count(*) OVER (PARTITION BY time_window(ts) ORDER BY ts) FROM VALUES " +
          times.mkString(", ") + " AS t(ts) ORDER BY ts"
      )
      assert(counts == Seq(Row(1L), Row(2L), Row(1L)))
    }
  }

  test("CREATE, DESCRIBE, SHOW and DROP know the user's functions and no others") {
    val create = "CREATE FUNCTION m4(x DOUBLE) RETURNS DOUBLE RETURN x"
    val absent = "DROP FUNCTION m4"
    assert(condition(spark.sql(absent)) == "ROUTINE_NOT_FOUND")
    assert(condition(spark.sql("DROP TEMPORARY FUNCTION m4")).endsWith("_NOT_FOUND"))
    assert(!spark.catalog.functionExists("m4"))
    for (name <- names) assert(rows(s"SHOW FUNCTIONS LIKE '$name'").isEmpty, name)
    having(create) {
      assert(condition(spark.sql(create)) == "ROUTINE_ALREADY_EXISTS")
      assert(spark.catalog.functionExists("m4"))
      assert(rows("SHOW USER FUNCTIONS LIKE 'm4'").size == 1)
      val said = rows("DESCRIBE FUNCTION m4").mkString
      assert(said.contains("SCALAR") && !said.contains("io.sash"), said)
      spark.sql("CREATE OR REPLACE FUNCTION m4(x DOUBLE) RETURNS DOUBLE RETURN x + 1")
      assert(one("SELECT m4(1D)") == 2.0)
    }
    having("CREATE TEMPORARY FUNCTION m4(x INT) RETURNS TABLE(a INT) RETURN SELECT x") {
      assert(rows("DESCRIBE FUNCTION m4").mkString.contains("TABLE"))
      assert(rows("SELECT * FROM m4(3)") == Seq(Row(3)))
    }
    for (name <- names) {
      val said = rows(s"DESCRIBE FUNCTION EXTENDED $name").mkString
      assert(said.contains(s"Function: $name") && said.contains("Usage: "), said)
    }
  }

  test("a function of another schema is taken there alone") {
    spark.sql("CREATE SCHEMA IF NOT EXISTS elsewhere")
    try
      having("CREATE FUNCTION elsewhere.value_range(x INT) RETURNS INT RETURN x * 10") {
        assert(one("SELECT value_range(1)") == 0)
        assert(one("SELECT elsewhere.value_range(1)") == 10)
        spark.sql("USE elsewhere")
        try assert(one("SELECT value_range(1)") == 10)
        finally spark.sql("USE default")
        // a view looks where it was made
        spark.sql("CREATE VIEW of_sash AS SELECT value_range(x) r FROM VALUES (1), (4) AS t(x)")
        spark.sql("USE elsewhere")
        try assert(one("SELECT r FROM default.of_sash") == 3)
        finally {
          spark.sql("USE default")
          spark.sql("DROP VIEW of_sash")
        }
      }
    finally spark.sql("DROP SCHEMA elsewhere CASCADE")
  }

  private val clauses = Table[String, Any](
    ("query", "answer"),
    ("SELECT geometric_mean(id) FROM range(4, 5)", 4.0),
    ("SELECT `Geometric_Mean`(id) FROM range(4, 5)", 4.0),
    ("SELECT geometric_mean(DISTINCT id) FILTER (WHERE id < 5) FROM range(4, 9)", 4.0),
    ("SELECT (SELECT geometric_mean(id) FROM range(4, 5))", 4.0),
    ("SELECT 1 WHERE EXISTS (SELECT geometric_mean(1))", 1),
    ("SELECT g FROM range(1) t, LATERAL (SELECT geometric_mean(id + 4) g FROM range(1))", 4.0),
    ("WITH c AS (SELECT geometric_mean(id) g FROM range(4, 5)) SELECT g FROM c", 4.0),
    ("SELECT max(id) FROM range(4, 5) GROUP BY id HAVING geometric_mean(id) = 4", 4L),
    ("SELECT max(id) FROM range(4, 5) GROUP BY id ORDER BY geometric_mean(id)", 4L),
    (
      "SELECT * FROM (SELECT 0 k, id FROM range(4, 5)) PIVOT (geometric_mean(id) FOR k IN (0))",
      4.0
    ),
    (
      "SELECT geometric_mean(id) OVER w FROM range(4, 5) WINDOW w AS (ORDER BY id ROWS 1 PRECEDING)",
      4.0
    ),
    (
      "SELECT count(*) OVER w FROM range(4, 5) WINDOW w AS (PARTITION BY delta_window(id, 1) ORDER BY id)",
      1L
    ),
    ("SELECT monoid_agg(id, x -> x, (a, b) -> a + b) FROM range(4, 5)", 4L),
    ("SELECT sliding_agg(id, 'geometric_mean') OVER (ORDER BY id) FROM range(4, 5)", 4.0),
    ("FROM range(4, 5) |> AGGREGATE geometric_mean(id)", 4.0),
    ("EXECUTE IMMEDIATE 'SELECT geometric_mean(id) FROM range(4, 5)'", 4.0)
  )

  test("a name that nobody has is Sash's in every clause, and unknown while Sash is off") {
    forAll(clauses) { (query, answer) =>
      assert(one(query) == answer)
      withSash(enabled = false)(assert(condition(spark.sql(query)) == "UNRESOLVED_ROUTINE"))
    }
  }

  test("clauses that Spark does not take of its own functions, either") {
    def failure(f: String): String =
      condition(
        spark.sql(s"SELECT max(id) FROM range(9) GROUP BY id HAVING $f(id) = 4 ORDER BY $f(id)")
      )
    assert(failure("geometric_mean") == failure("avg"))
  }

  test("while Sash is off each name is as unknown as any") {
    withSash(enabled = false) {
      for (name <- names) withClue(name) {
        def text(name: String): String =
          intercept[AnalysisException](spark.sql(s"SELECT $name(1)")).getMessage
        assert(
          text(name) == text("no" + name).replace("no" + name, name).replace("pos 6", "pos 7")
        )
        assert(condition(spark.sql(s"DESCRIBE FUNCTION $name")) == "UNRESOLVED_ROUTINE")
      }
    }
  }

  private def created(create: String, drop: String, read: String): Unit = {
    spark.sql(create)
    try {
      assert(one(read) == 4.0, create)
      // also in what was made while Sash was on
      withSash(enabled = false)(assert(condition(one(read)) == "UNRESOLVED_ROUTINE", create))
    } finally spark.sql(drop)
  }

  test("views, tables and SQL functions over a name of Sash's") {
    val query = "SELECT geometric_mean(id) g FROM range(4, 5)"
    created(s"CREATE TEMPORARY VIEW over_sash AS $query", "DROP VIEW over_sash", "FROM over_sash")
    created(s"CREATE VIEW over_sash AS $query", "DROP VIEW over_sash", "FROM over_sash")
    for (kind <- Seq("", "TEMPORARY")) {
      val drop = s"DROP $kind FUNCTION over_sash"
      created(
        s"CREATE $kind FUNCTION over_sash(x DOUBLE) RETURNS DOUBLE RETURN x * ($query)",
        drop,
        "SELECT over_sash(1)"
      )
      created(
        s"CREATE $kind FUNCTION over_sash(x DOUBLE) RETURNS TABLE (g DOUBLE) RETURN $query",
        drop,
        "FROM over_sash(1)"
      )
    }
    // nothing of it is left in the session
    for (name <- names) assert(rows(s"SHOW FUNCTIONS LIKE '$name'").isEmpty, name)
    assert(
      condition(spark.sql("CREATE FUNCTION m4(x INT) RETURNS INT RETURN m4(x, x).min.value")) ==
        "ROUTINE_NOT_FOUND"
    )
    spark.sql(s"CREATE TABLE made_by_sash USING parquet AS $query")
    try {
      spark.sql(s"INSERT INTO made_by_sash $query")
      assert(one("SELECT sum(g) FROM made_by_sash") == 8.0)
    } finally spark.sql("DROP TABLE made_by_sash")
  }

  test("a view made before the user's function calls it from then on, as Spark's views do") {
    spark.sql("CREATE VIEW changing AS SELECT geometric_mean(id) g FROM range(4, 5)")
    try {
      assert(one("FROM changing") == 4.0)
      having("CREATE FUNCTION geometric_mean(x DOUBLE) RETURNS DOUBLE RETURN x * 100") {
        assert(one("FROM changing") == 400.0)
      }
    } finally spark.sql("DROP VIEW changing")
  }

  test("sliding_agg names the user's aggregate before Sash's") {
    spark.udf.register("max_count", udaf(Sum, Encoders.scalaLong))
    try
      assert(one("SELECT sliding_agg(id, 'max_count') OVER () FROM range(4, 5)") == 4L)
    finally spark.sql("DROP TEMPORARY FUNCTION max_count")
    assert(one("SELECT sliding_agg(id, 'max_count') OVER () FROM range(4, 5)") == 1L)
  }

  test("sliding_agg takes a name as Spark takes it") {
    def isSame(name: String, session: SparkSession = spark): Assertion = {
      val calls = Seq(s"$name(id)", s"sliding_agg(id, '$name')").map(_ + " OVER (ORDER BY id)")
      val answers = session.sql(s"SELECT ${calls.mkString(", ")} FROM range(4, 6)").collect()
      assert(answers.forall(r => r.get(0) == r.get(1)), answers.mkString(name, " ", ""))
    }
    def runs(name: String): Assertion = assert(one(s"SELECT $name(1)") == 7)
    // a function of a catalogue is in the registry once it has run
    for (name <- Seq("max", "count"))
      having(s"CREATE FUNCTION default.$name(x BIGINT) RETURNS INT RETURN 7") {
        runs(s"default.$name")
        isSame(name)
      }
    spark.sql("CREATE SCHEMA elsewhere")
    try
      having("CREATE FUNCTION elsewhere.value_range(x BIGINT) RETURNS INT RETURN 7") {
        runs("elsewhere.value_range")
        isSame("value_range")
      }
    finally spark.sql("DROP SCHEMA elsewhere CASCADE")
    val another = spark.newSession()
    another.udf.register("max", udaf(Sum, Encoders.scalaLong))
    isSame("max", another)
  }

  for (
    (call, expected) <- Seq(
      "geometric_mean(x => 1)" -> "NAMED_PARAMETERS_NOT_SUPPORTED",
      "time_window(hop => 4)" -> "REQUIRED_PARAMETER_NOT_FOUND",
      "time_window(4, hops => 4)" -> "UNRECOGNIZED_PARAMETER_NAME",
      "time_window(hop => 4, 4)" -> "UNEXPECTED_POSITIONAL_ARGUMENT",
      "time_window(4, size => 4)" ->
        "DUPLICATE_ROUTINE_PARAMETER_ASSIGNMENT.BOTH_POSITIONAL_AND_NAMED",
      "time_window(4, hop => 4, HOP => 2)" ->
        "DUPLICATE_ROUTINE_PARAMETER_ASSIGNMENT.DOUBLE_NAMED_ARGUMENT_REFERENCE"
    )
  ) test(s"names of arguments: $call") {
    assert(condition(spark.sql(s"SELECT $call")) == expected)
  }

  test("a DataFrame that was analyzed with Sash on keeps its functions when Sash is off") {
    val analyzed =
      spark.sql("SELECT geometric_mean(id) OVER (ORDER BY id ROWS 1 PRECEDING) FROM range(4, 5)")
    withSash(enabled = false) {
      assert(analyzed.collect().toSeq == Seq(Row(4.0)))
      assert(sliding(analyzed.toDF("g")).isEmpty)
    }
  }

  test("a plan without a name of Sash's is left as it is") {
    val rule = new ResolveSashNames(spark)
    def isSame(query: String): Boolean = {
      val plan = spark.sessionState.sqlParser.parsePlan(query)
      rule(plan) eq plan
    }
    assert(isSame("SELECT sum(id), upper('a') FROM range(3) GROUP BY id % 2"))
    assert(!isSame("SELECT geometric_mean(id) FROM range(3)"))
    withSash(enabled = false)(assert(isSame("SELECT geometric_mean(id) FROM range(3)")))
  }

  private object Sum extends Aggregator[Long, Long, Long] {
    override def zero: Long = 0
    override def reduce(a: Long, b: Long): Long = a + b
    override def merge(a: Long, b: Long): Long = a + b
    override def finish(a: Long): Long = a
    override def bufferEncoder: Encoder[Long] = Encoders.scalaLong
    override def outputEncoder: Encoder[Long] = Encoders.scalaLong
  }
}
