package io.sash.spark.features.status

import java.io.File
import java.nio.file.Files

import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

/** The list of features is the one of the build, and of docs/compatibility.md. */
class FeatureNameSuite extends AnyFunSuite {

  test("a feature comes after those that it needs") {
    for (f <- FeatureName.All) {
      val before = FeatureName.All.takeWhile(_ != f)
      assert(f.needs.forall(before.contains), f)
    }
  }

  test("the build lists the links of the same features") {
    val resource = getClass.getResourceAsStream("/io/sash/spark/links.txt")
    val head =
      try new String(resource.readAllBytes()).linesIterator.next()
      finally resource.close()
    assert(
      head
        .split(' ')
        .toSet == (FeatureName.Base +: FeatureName.All).map(_.name).toSet + "features"
    )
  }

  test("docs/compatibility.md has each feature, and those that it needs") {
    val here =
      Iterator.iterate(new File("").getAbsoluteFile)(_.getParentFile).takeWhile(_ != null)
    val page = here.map(new File(_, "docs/compatibility.md")).find(_.exists).get
    val rows = Files
      .readAllLines(page.toPath)
      .asScala
      .toSeq
      .dropWhile(!_.startsWith("| feature |"))
      .takeWhile(_.startsWith("|"))
      .drop(2)
      .map(_.split('|').map(_.trim).toSeq.slice(1, 3))
    assert(rows == FeatureName.All.map(f => Seq(f.name, f.needs.mkString(", "))))
  }
}
