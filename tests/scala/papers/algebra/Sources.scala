package io.sash.papers.algebra

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._

/** The project's own text, read from the project's root, for tests of its promises. */
object Sources {
  def lines(path: String): Seq[String] = Files.readAllLines(Path.of(path)).asScala.toSeq

  def files(directory: String): Seq[String] =
    Files.list(Path.of(directory)).iterator.asScala.map(_.toString).toSeq.sorted

  /** The lines between a line `open` and a line `close`. White space around these is ignored. */
  def blocks(lines: Seq[String], open: String, close: String): Seq[Seq[String]] = {
    val rest = lines.dropWhile(_.trim != open).drop(1)
    if (rest.isEmpty) Nil
    else {
      val (block, after) = rest.span(_.trim != close)
      block +: blocks(after.drop(1), open, close)
    }
  }
}
