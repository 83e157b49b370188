package io.sash.spark

import scala.util.Random

/** The parts that random queries over the test table have in common. */
object RandomQuery {
  def pick[T](random: Random, values: T*): T = values(random.nextInt(values.length))

  /** The calls over one window, some of them with a FILTER, beside `id`. */
  def select(random: Random, calls: Seq[TestCall], window: String): String = {
    val columns = calls.zipWithIndex.map { case (call, i) =>
      val filter = pick(random, "", "", "", " FILTER (WHERE tie > 4)")
      // Spark's grammar has FILTER before IGNORE NULLS
      val Array(function, rest @ _*) = call.sql.split(" (?=IGNORE)")
      s"$function$filter ${rest.mkString} OVER w AS ${call.alias(i)}"
    }
    s"SELECT id, ${columns.mkString(", ")} FROM data WINDOW w AS $window"
  }

  /** Settings of the ways in which Spark runs an operator's code. */
  def codeMode(random: Random): Seq[(String, String)] = pick(
    random,
    Seq("spark.sql.codegen.wholeStage" -> "true"),
    Seq("spark.sql.codegen.wholeStage" -> "false"),
    Seq(
      "spark.sql.codegen.wholeStage" -> "false",
      "spark.sql.codegen.factoryMode" -> "NO_CODEGEN"
    )
  )
}
