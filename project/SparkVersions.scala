/** The only table of Spark versions: sbt imports it, the Makefile reads the quoted numbers. */
object SparkVersions {

  /** What the jar is compiled against. */
  val compile = "4.2.0"

  /** What sbt compiles and tests against: `make test-newest` tries another version. */
  val built = sys.env.getOrElse("SASH_SPARK", compile)

  /** The PySpark versions that `make test-versions` runs the one jar on. */
  val tested = Seq("4.0.5", "4.1.4", "4.2.0", "4.3.0")

  /**
   * The versions on Maven against which `make lint` checks the jar's links. Where PySpark is
   * ahead of Maven, `make test-versions` finds what a version lacks.
   */
  val linked = sys.env.get("SASH_LINKED").fold(Seq("4.0.4", "4.1.3"))(Seq(_))

  /** The Scala version that Spark `compile` is built with. */
  val scala = "2.13.18"
}
