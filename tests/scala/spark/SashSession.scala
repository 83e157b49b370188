package io.sash.spark

import org.apache.spark.sql.SparkSession

/** The session that the suites share: there can be one SparkContext in a JVM. */
object SashSession {
  // code generation can be switched off only where Spark believes that it is tested
  System.setProperty("spark.testing", "true")

  private val common: Map[String, String] = Map(
    "spark.ui.enabled" -> "false",
    "spark.sql.shuffle.partitions" -> "2",
    "spark.sql.extensions" ->
      Seq(classOf[SashExtensions], classOf[CheckedPromises]).map(_.getName).mkString(","),
    "spark.sql.extendedExplainProviders" -> classOf[Explain].getName,
    "spark.sql.datetime.java8API.enabled" -> "true",
    // days of 23 and 25 hours lie in the data
    "spark.sql.session.timeZone" -> "Europe/Berlin",
    // memory that a task has not given back fails the task
    "spark.unsafe.exceptionOnMemoryLeak" -> "true"
  ) ++ LocalFiles.settings

  private var current: Option[(Map[String, String], SparkSession)] = None

  def shared: SparkSession = having(Map.empty)

  /** The session with these settings of the SparkContext; another that runs is stopped. */
  def having(settings: Map[String, String]): SparkSession = synchronized {
    current match {
      case Some((`settings`, session)) => session
      case _ =>
        current.foreach(_._2.stop())
        val builder = SparkSession.builder().master("local[2,4]")
        val session = (common ++ settings)
          .foldLeft(builder) { case (b, (key, value)) => b.config(key, value) }
          .getOrCreate()
        session.sparkContext.setLogLevel("OFF") // tests provoke errors and assert on them
        current = Some((settings, session))
        session
    }
  }
}
