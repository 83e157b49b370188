package io.sash.spark.features

import java.io.File
import java.nio.file.Files

import scala.jdk.CollectionConverters._
import scala.sys.process.{Process, ProcessLogger}

import org.scalatest.Assertion
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tags.Slow

import io.sash.spark.Thorough
import io.sash.spark.features.status.{Asks, Longer, OtherSpark}

/** A session on another Spark, in a JVM of its own that has the changed classes first. */
@Slow
class OtherSparkSuite extends AnyFunSuite {
  private val windowRows = "window rows: 0 0, 1 1, 2 2, 3 4, 4 6, 5 8"
  private val lateralRows = "lateral rows: 0 0, 1 1, 2 2, 3 4, 4 6, 5 8"
  private val hopRows = "hops rows: 2, 2, 4, 4"

  test("without ordering, hops, lateral, streams and functions, windows run over Spark's sort") {
    val said = onSparkWith(
      Longer("org.apache.spark.sql.catalyst.expressions.XxHash64", "<init>"),
      Asks("org.apache.spark.sql.catalyst.expressions.NonSQLExpression", "groups"),
      Asks("org.apache.spark.sql.streaming.StatefulProcessor", "groups"),
      Asks("org.apache.spark.sql.execution.BinaryExecNode", "groups"),
      Longer("org.apache.spark.sql.catalyst.expressions.aggregate.Product", "<init>")
    )
    says(said, windowRows)
    says(said, "window explain: slides: sum(t.id) ROWS BETWEEN 1 PRECEDING AND CURRENT ROW")
    val lacking = "this Spark lacks new org.apache.spark.sql.catalyst.expressions.XxHash64(Seq)"
    says(said, s"window explain: ordering: Spark's sort: $lacking")
    says(said, s"window explain: left to Spark: ordering: $lacking")
    says(said, hopRows)
    says(
      said,
      "hops explain: left to Spark: hops: this Spark asks for " +
        "org.apache.spark.sql.catalyst.expressions.NonSQLExpression.groups(), which Sash does not have"
    )
    says(said, lateralRows)
    says(
      said,
      "lateral explain: left to Spark: lateral: this Spark asks for " +
        "org.apache.spark.sql.execution.BinaryExecNode.groups(), which Sash does not have"
    )
    says(said, "geometric_mean error: AnalysisException [UNRESOLVED_ROUTINE]")
    says(said, "stream of Sash: false")
    Seq("functions", "hops", "streams", "ordering", "lateral").foreach(logs(said, _, times = 1))
    logs(said, "windows", times = 0)
    noLinkageError(said)
  }

  test("without windows, the others run, and what only Sash has is refused", Thorough) {
    val said = onSparkWith(Asks("org.apache.spark.sql.execution.CodegenSupport", "groups"))
    val asked = "this Spark asks for org.apache.spark.sql.execution.CodegenSupport.groups(), " +
      "which Sash does not have"
    says(said, windowRows)
    says(said, s"window explain: left to Spark: windows: $asked")
    assert(!said.exists(_.contains("slides: ")), said.mkString("\n"))
    says(said, lateralRows)
    says(said, s"lateral explain: left to Spark: ordering: it needs windows, and $asked")
    says(said, s"lateral explain: left to Spark: lateral: $asked")
    says(said, hopRows)
    says(said, "hops explain: hops: count by windows of 2 panes")
    says(said, "geometric_mean rows: true")
    assert(
      said.exists(l => l.startsWith("kind error: ") && l.contains(asked)),
      said.mkString("\n")
    )
    says(said, "stream of Sash: true")
    logs(said, "windows", times = 1)
    noLinkageError(said)
  }

  test("a minor version that Sash was not tested with is left alone") {
    val said = onVersion("4.4.0")
    says(said, windowRows)
    says(said, hopRows)
    assert(!said.exists(_.contains("slides: ")), said.mkString("\n"))
    says(said, "geometric_mean error: AnalysisException [UNRESOLVED_ROUTINE]")
    val line = said.filter(_.contains("does not know Spark 4.4.0 and leaves it alone"))
    assert(line.size == 1 && line.head.contains("spark.sash.untestedVersions=true"), said)
    noLinkageError(said)
  }

  test("or runs as far as it links, if the user wants it", Thorough) {
    val said = onVersion("4.4.0", "spark.sash.untestedVersions=true")
    says(said, windowRows)
    says(said, "window explain: slides: sum(t.id) ROWS BETWEEN 1 PRECEDING AND CURRENT ROW")
    says(said, "hops explain: hops: count by windows of 2 panes")
    says(said, "geometric_mean rows: true")
    val line =
      said.filter(_.contains("does not know Spark 4.4.0 and runs each feature that links to it"))
    assert(line.size == 1, said)
    noLinkageError(said)
  }

  private def onSparkWith(changes: OtherSpark*): Seq[String] = {
    val directory = Files.createTempDirectory("other-spark").toFile
    changes.foreach(_.directory(directory))
    run(directory)
  }

  private def onVersion(version: String, settings: String*): Seq[String] = {
    val directory = Files.createTempDirectory("other-version").toFile
    val of = Seq("version", "branch", "revision", "user", "url", "date", "docroot")
    val text = of.map(k => s"$k=${if (k == "version") version else "none"}").mkString("\n")
    Files.writeString(new File(directory, "spark-version-info.properties").toPath, text)
    run(directory, settings: _*)
  }

  private def run(first: File, settings: String*): Seq[String] = {
    val logging = new File(first, "log4j2.properties")
    Files.writeString(
      logging.toPath,
      """rootLogger.level = warn
        |rootLogger.appenderRef.out.ref = out
        |appender.out.type = Console
        |appender.out.name = out
        |appender.out.target = SYSTEM_OUT
        |appender.out.layout.type = PatternLayout
        |appender.out.layout.pattern = %p %c: %m%n
        |""".stripMargin
    )
    val path = first.getPath + File.pathSeparator + System.getProperty("java.class.path")
    val options =
      java.lang.management.ManagementFactory.getRuntimeMXBean.getInputArguments.asScala
        .filter(o => o.startsWith("--add-") || o.startsWith("-XX") || o.startsWith("-Dio.netty"))
    val command = Seq("java", "-Xmx1g") ++ options ++
      Seq("-cp", path, OtherSparkMain.getClass.getName.stripSuffix("$")) ++ settings
    val lines = Seq.newBuilder[String]
    val status = Process(command, first).!(ProcessLogger(l => lines.synchronized(lines += l)))
    val said = lines.result()
    assert(status == 0, said.mkString("\n"))
    said
  }

  private def says(said: Seq[String], line: String): Assertion =
    assert(said.exists(_.startsWith(line)), s"${said.mkString("\n")}\nhas no $line")

  private def logs(said: Seq[String], feature: String, times: Int): Assertion = {
    val lines = said.filter(l => l.startsWith("WARN") && l.contains(s"left to Spark: $feature: "))
    assert(
      lines.size == times && lines.forall(_.contains(" on Spark 4.2.0: ")),
      said.mkString("\n")
    )
  }

  private def noLinkageError(said: Seq[String]): Assertion =
    assert(
      !said.exists(l =>
        Seq("NoSuch", "NoClassDef", "AbstractMethod", "Linkage").exists(l.contains)
      ),
      said.mkString("\n")
    )
}
