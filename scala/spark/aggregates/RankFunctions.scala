package io.sash.spark.aggregates

import io.sash.spark.base.SashFunction

/** The SQL functions of ranks in a frame. */
private[spark] object RankFunctions {
  val All: Seq[SashFunction] = Seq(
    function(
      RankKind.Standard,
      "Returns one more than the number of values in the frame that are less than the row's own.",
      "1\t1\n2\t1\n3\t2",
      "`rank` among the frame's values: equal values have one rank, and leave a gap behind it."
    ),
    function(
      RankKind.Dense,
      "Returns one more than the number of different values in the frame that are less than " +
        "the row's own.",
      "1\t1\n2\t1\n3\t2",
      "`dense_rank` among the frame's values: equal values have one rank, and leave no gap."
    ),
    function(
      RankKind.Percent,
      "Returns the share of the frame's other values that are less than the row's own.",
      "1\t0.0\n2\t0.0\n3\t0.5",
      "`percent_rank` among the frame's values, from 0 to 1; 0 where there is no other value."
    ),
    function(
      RankKind.CumeDist,
      "Returns the share of the frame's values that are at most the row's own.",
      "1\t1.0\n2\t0.5\n3\t0.6666666666666666",
      "`cume_dist` among the frame's values."
    )
  )

  private def function(
      rank: RankKind,
      usage: String,
      answer: String,
      note: String
  ): SashFunction = SashFunction(
    rank.name,
    usage,
    Seq(
      "x" -> ("a number of 18 digits at most, a date, a timestamp or an interval; -x for the " +
        "rank from the greatest value")
    ),
    Seq(
      "SELECT ts, _FUNC_(x) OVER (ORDER BY ts ROWS 2 PRECEDING) FROM VALUES (1, 5), (2, 3), " +
        "(3, 4) AS t(ts, x)" -> answer
    ),
    Seq(
      note,
      "For windows only. NULLs in the frame are skipped; NULL for a row whose value is NULL. A",
      "value that the frame lacks, as by FILTER, is ranked as if it were there. NaN is the",
      "greatest number. Each row that enters or leaves, and each answer, costs O(log n)."
    ),
    classOf[RankInFrame]
  ) { case Seq(x) => RankInFrame(rank, x) }
}
