import sbt._
import sbt.librarymanagement.{DependencyResolution, ScalaModuleInfo}

import scala.sys.process.Process

/**
 * Checks the jar's links against older versions of Spark, from their artifacts alone. Without it,
 * a name that one of them lacks would only show where the tests run on it.
 */
object LinkReports {

  /** The artifacts that have the classes which Sash links to. */
  private val Modules = Seq(
    "core",
    "catalyst",
    "sql",
    "sql-api",
    "common-utils",
    "common-utils-java",
    "unsafe",
    "network-common",
    "network-shuffle",
    "sketch",
    "tags",
    "variant"
  )

  /** Spark 4.0 has its classes in `common-utils`. */
  private val Younger = Set("common-utils-java")

  /**
   * @param own Sash's classes
   * @param others the class path of compilation; its libraries other than Spark serve all versions
   */
  def check(
      resolution: DependencyResolution,
      scala: Option[ScalaModuleInfo],
      own: Seq[File],
      others: Seq[File],
      directory: File,
      log: Logger
  ): Unit = {
    val libraries = others.filterNot(_.getName.startsWith("spark-"))
    val reports = SparkVersions.linked.map { version =>
      val jars =
        Modules.flatMap(retrieved(resolution, scala, directory / version, log)(_, version))
      version -> report(own ++ jars ++ libraries)
    }
    val faulty = reports.filterNot(_._2.linesIterator.drop(1).forall(isFine))
    if (faulty.nonEmpty)
      sys.error(faulty.map { case (v, text) => s"links to Spark $v:\n$text" }.mkString("\n"))
    log.info(s"all links are in Spark ${SparkVersions.linked.mkString(", ")}")
  }

  private def isFine(line: String): Boolean =
    line.endsWith(": all links") || line.startsWith("looked at")

  private def report(classPath: Seq[File]): String = Process(
    Seq("java", "-cp", classPath.mkString(java.io.File.pathSeparator), "io.sash.spark.LinkReport")
  ).!!

  private def retrieved(
      resolution: DependencyResolution,
      scala: Option[ScalaModuleInfo],
      directory: File,
      log: Logger
  )(module: String, version: String): Seq[File] = {
    val id = ("org.apache.spark" % s"spark-${module}_2.13" % version).intransitive()
    resolution.retrieve(id, scala, directory, log) match {
      case Right(files)               => files.filter(_.getName.startsWith("spark-"))
      case Left(_) if Younger(module) => Nil
      case Left(unresolved)           => throw unresolved.resolveException
    }
  }
}
