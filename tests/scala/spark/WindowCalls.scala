package io.sash.spark

/**
 * An aggregate call of a random query.
 *
 * @param approximate whether the result is floating-point arithmetic, which grouping may change
 * @param ordered whether the result depends on the order of the frame's rows
 * @param set whether the result is an array whose elements may come in any order
 */
final case class TestCall(
    sql: String,
    approximate: Boolean = false,
    ordered: Boolean = false,
    set: Boolean = false
) {

  /** The name of a column for the result, by which `RowEquality` knows how to compare it. */
  def alias(i: Int): String = if (approximate) s"approx_$i" else if (set) s"set_$i" else s"c$i"
}

/** The aggregates of Spark over every type of column that they take. */
object WindowCalls {
  private val integers = Seq("b", "h", "i", "l")
  private val decimals = Seq("small", "large")
  private val intervals = Seq("ym", "dti")
  private val floats = Seq("f", "d", "x")
  private val orderables =
    integers ++ decimals ++ intervals ++ Seq("s", "bin", "bo", "dt", "ts", "tn", "st", "ar")

  /** Values that are equal and yet differ: -0.0 and 0.0, a and A. */
  private val equivocal = Seq("f", "d", "sc")
  private val all = orderables ++ equivocal

  private def each(functions: String*)(columns: Seq[String])(make: String => TestCall) =
    for (f <- functions; c <- columns) yield make(s"$f($c)")

  private val selections: Seq[TestCall] =
    each("min", "max")(orderables)(TestCall(_)) ++
      each("min", "max")(equivocal)(TestCall(_, ordered = true)) ++
      each("first", "last", "any_value")(all)(TestCall(_, ordered = true)) ++
      each("first", "last", "any_value")(all) { call =>
        TestCall(s"$call IGNORE NULLS", ordered = true)
      } ++
      each("min_by", "max_by")(
        for (value <- Seq("s", "i", "st"); by <- Seq("i", "d", "sc", "ts")) yield s"$value, $by"
      )(TestCall(_, ordered = true))

  private val sums: Seq[TestCall] =
    each("sum", "try_sum")(integers ++ decimals ++ intervals)(TestCall(_)) ++
      each("avg", "try_avg")(decimals ++ intervals)(TestCall(_)) ++
      each("sum", "avg", "try_sum", "try_avg")(floats)(TestCall(_, approximate = true)) ++
      each("avg", "try_avg")(integers)(TestCall(_, approximate = true))

  private val counts: Seq[TestCall] =
    each("count")(all :+ "*")(TestCall(_)) ++
      Seq("count(i, s)", "count_if(i > 0)", "regr_count(x, i)").map(TestCall(_))

  private val bits: Seq[TestCall] =
    each("bit_and", "bit_or", "bit_xor")(integers)(TestCall(_)) ++
      each("bool_and", "bool_or", "every", "some")(Seq("bo"))(TestCall(_))

  private val moments: Seq[TestCall] =
    each("stddev", "stddev_pop", "variance", "var_pop", "skewness", "kurtosis")(
      Seq("i", "x", "d", "small")
    )(TestCall(_, approximate = true)) ++
      each(
        "covar_pop",
        "covar_samp",
        "regr_avgx",
        "regr_avgy",
        "regr_intercept",
        "regr_r2",
        "regr_slope",
        "regr_sxx",
        "regr_sxy",
        "regr_syy"
      )(Seq("x, i", "small, x", "i, tie"))(TestCall(_, approximate = true)) ++
      // of a constant, corr is a division by zero, which ANSI mode forbids
      each("corr")(Seq("x, l", "small, x"))(TestCall(_, approximate = true))

  private val collections: Seq[TestCall] =
    each("collect_list", "array_agg")(all ++ Seq("ym", "dti", "bin"))(
      TestCall(_, ordered = true)
    ) ++
      each("collect_set")(orderables.diff(Seq("bin")) ++ Seq("f", "d"))(
        TestCall(_, set = true)
      ) ++
      Seq("listagg(s)", "listagg(s, ', ')", "listagg(bin)").map(TestCall(_, ordered = true))

  private val ranks: Seq[TestCall] =
    each("percentile")(
      for (c <- integers ++ intervals :+ "small"; p <- Seq("0.3", "array(0.0, 0.5, 1.0)"))
        yield s"$c, $p"
    )(TestCall(_)) ++
      // of values that are equal and yet differ; sums of products of decimals
      each("percentile")(Seq("f, 0.25", "d, 0.5", "large, 0.75", "i, 0.5, 2", "x, 0.9"))(
        TestCall(_, approximate = true)
      ) ++
      each("mode")((orderables ++ Seq("f", "d")).map(c => s"$c, true"))(TestCall(_)) ++
      Seq("b", "i", "l", "dt", "ts").map(c => TestCall(s"percentile_approx($c, 0.5)"))

  private val sketches: Seq[TestCall] =
    each("approx_count_distinct")(orderables ++ floats)(TestCall(_)) ++
      Seq(
        "approx_count_distinct(l, 0.2)",
        "count_min_sketch(s, 0.5D, 0.5D, 7)",
        "bitmap_construct_agg(bitmap_bit_position(uq))"
      ).map(TestCall(_))

  val All: Seq[TestCall] =
    selections ++ sums ++ counts ++ bits ++ moments ++ collections ++ ranks ++ sketches
}
