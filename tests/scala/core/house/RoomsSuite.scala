package io.sash.core.house

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

/** The rooms of the sources have the order of rooms.txt, and no room uses a higher one. */
class RoomsSuite extends AnyFunSuite {
  private val rooms =
    Rooms.parse(Files.readAllLines(Path.of("tests/scala/core/resources/rooms.txt")).asScala.toSeq)

  private val sources = Source.all

  test("no source uses a room above its own, and folders are packages") {
    val faults = rooms.faults(sources)
    assert(faults.isEmpty, faults.mkString("\n", "\n", "\n"))
  }

  test("each room has sources, and each is in the list once") {
    val folders = sources.map(_.folder).toSet
    assert(rooms.all.map(_.path).filterNot(folders) === Nil)
    assert(rooms.all.distinctBy(_.path).size === rooms.all.size)
    assert(sources.size > 300 && rooms.all.size > 30)
  }

  private val few = Rooms.parse(
    Seq(
      "core slots: first",
      "# a remark",
      "spark internals = org.apache.spark.sash: second",
      "spark hops: third",
      "spark streams/plan: fourth",
      "spark hops/stream: fifth",
      "spark .: last"
    )
  )

  private def faults(path: String, text: String): Seq[String] =
    few.faults(Seq(Source(path, text)))

  private def inHops(code: String): Seq[String] =
    faults("scala/spark/hops/A.scala", s"package io.sash.spark.hops\n\n$code\n")

  test("what stands above is found, with its line, however it is named") {
    val isPlan = "io.sash.spark.hops uses io.sash.spark.streams.plan, which stands above it"
    val isStream = "io.sash.spark.hops uses io.sash.spark.hops.stream, which stands above it"
    val found = Seq(
      "import io.sash.spark.streams.plan.X" -> isPlan,
      "import io.sash.spark.streams.plan._" -> isPlan,
      "import io.sash.spark.streams.plan" -> isPlan,
      "import io.sash.spark.streams.{plan => p}" -> isPlan,
      "import io.sash.spark.streams.{\n  plan\n}" -> isPlan,
      "  val x: io.sash.spark.streams.plan.X = null" -> isPlan,
      "import io.sash.spark.hops.stream.X" -> isStream,
      "import stream.X" -> isStream,
      "  val x = new stream.X" -> isStream
    )
    found.foreach { case (code, why) =>
      assert(inHops(code) === Seq(s"scala/spark/hops/A.scala:3: $why"), code)
    }
    val root = "io.sash.spark.hops uses io.sash.spark, which stands above it"
    assert(inHops("\nobject A { io.sash.spark.Explain }").head.endsWith(s":4: $root"))
    val core =
      faults("scala/core/slots/A.scala", "package io.sash.core.slots\nimport io.sash.spark.X")
    assert(core.head.startsWith("scala/core/slots/A.scala:2: "))
  }

  test("what stands below, its own room, comments and texts are no faults") {
    val code =
      """import java.util.Map
        |import org.apache.spark.sash.SparkInternals
        |import io.sash.core.slots.{Partials, Slots}
        |import io.sash.spark.hops.A
        |/** [[io.sash.core.slots.X]], `io.sash.spark.streams.plan.X`
        |  * and import io.sash.spark.streams.plan.X */
        |object B { val a = "io.sash.spark.streams.plan.X" /* "*/ } // io.sash.spark.streams.plan
        |""".stripMargin
    assert(inHops(code) === Nil)
  }

  test("a link of scaladoc to what stands above is a fault") {
    val code = "/**\n * [[io.sash.core.slots.X]],\n * [[io.sash.spark.streams.plan.X.of]]\n */"
    assert(
      inHops(code) === Seq(
        "scala/spark/hops/A.scala:5: io.sash.spark.hops uses io.sash.spark.streams.plan, which " +
          "stands above it"
      )
    )
  }

  test("a folder that is not in the list, and a package that is not its folder's, are faults") {
    val lost = faults("scala/spark/attic/A.scala", "package io.sash.spark.attic")
    assert(
      lost === Seq("scala/spark/attic/A.scala:1: scala/spark/attic is not in the list of rooms")
    )
    val other = faults("scala/spark/hops/A.scala", "package io.sash.spark.streams")
    assert(
      other === Seq(
        "scala/spark/hops/A.scala:1: package io.sash.spark.streams in the room io.sash.spark.hops"
      )
    )
    val inner = "package io.sash.spark\n\npackage object hops {}"
    assert(faults("scala/spark/hops/package.scala", inner) === Nil)
    assert(faults("scala/spark/internals/A.scala", "package org.apache.spark.sash") === Nil)
  }
}
