package io.sash.spark

/** Frames over `TestTable`, each also as a join of a row with the rows of its frame. */
private[spark] object JoinedFrames {

  /**
   * A frame.
   *
   * @param join the condition on which a row `b` is in the frame of a row `a`; `rn` is a row's
   *   number in its partition
   * @param kind the window kinds in PARTITION BY, behind the keys
   */
  final case class Framed(order: String, frame: String, join: String, kind: String = "") {
    override def toString: String = s"$kind$frame".stripPrefix(", ")
  }

  /** Frames from which rows leave. */
  val Moving: Seq[Framed] = Seq(
    Framed("uq", "ROWS BETWEEN 4 PRECEDING AND CURRENT ROW", "b.rn BETWEEN a.rn - 4 AND a.rn"),
    Framed(
      "uq",
      "ROWS BETWEEN 9 PRECEDING AND 3 PRECEDING",
      "b.rn BETWEEN a.rn - 9 AND a.rn - 3"
    ),
    Framed(
      "uq",
      "ROWS BETWEEN 2 PRECEDING AND 7 FOLLOWING",
      "b.rn BETWEEN a.rn - 2 AND a.rn + 7"
    ),
    Framed("uq", "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING", "b.rn >= a.rn"),
    Framed(
      "tie",
      "RANGE BETWEEN 2 PRECEDING AND 1 FOLLOWING",
      "CASE WHEN a.tie IS NULL THEN b.tie IS NULL ELSE b.tie BETWEEN a.tie - 2 AND a.tie + 1 END"
    )
  )

  /** Frames from which no row leaves. */
  val Whole: Seq[Framed] = Seq(
    Framed("uq", "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW", "b.rn <= a.rn"),
    Framed("uq", "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING", "true")
  )

  /** Ways to run, with their settings. */
  val Modes: Seq[(String, Seq[(String, String)])] = Seq(
    "compiled" -> Nil,
    "interpreted" -> Seq(
      "spark.sql.codegen.wholeStage" -> "false",
      "spark.sql.codegen.factoryMode" -> "NO_CODEGEN"
    )
  )
}
