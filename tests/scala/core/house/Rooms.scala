package io.sash.core.house

import java.nio.file.{Files, Path}

import scala.collection.mutable
import scala.jdk.CollectionConverters._

/** A folder of sources. */
final case class Room(project: String, folder: String, packageName: String) {
  def path: String = if (folder == ".") s"scala/$project" else s"scala/$project/$folder"
}

final case class Source(path: String, text: String) {
  def folder: String = path.take(path.lastIndexOf('/'))
}

object Source {

  /** The sources of the core, of the plugin and of the library. */
  def all: Seq[Source] = Seq("scala/core", "scala/spark", "scala/papers").flatMap { root =>
    val files = Files.walk(Path.of(root)).iterator.asScala.map(_.toString)
    files
      .filter(_.endsWith(".scala"))
      .toSeq
      .sorted
      .map(f => Source(f, Files.readString(Path.of(f))))
  }
}

/** Rooms in an order, from the ground up, and the faults of sources against it. */
final class Rooms(val all: Seq[Room]) {
  private val placed = all.zipWithIndex.map { case (r, i) => r.path -> i }.toMap
  // the longest names first
  private val named = all.map(r => r.packageName -> placed(r.path)).sortBy(-_._1.length)

  /** The faults, each with the file and the line. */
  def faults(sources: Seq[Source]): Seq[String] = sources.flatMap { source =>
    placed.get(source.folder) match {
      case None    => Seq(s"${source.path}:1: ${source.folder} is not in the list of rooms")
      case Some(i) => packageFaults(source, all(i)) ++ uses(source, i)
    }
  }

  private def packageFaults(source: Source, room: Room): Seq[String] = {
    val code = Rooms.code(source.text)
    val clauses = Rooms.Package.findAllMatchIn(code).map(m => (m.group(1), m.group(2))).toSeq
    val name = clauses.map { case (isObject, name) => (isObject != null, name) } match {
      case Seq((false, outer), (true, inner)) => s"$outer.$inner"
      case names                              => names.map(_._2).mkString(" and ")
    }
    if (name == room.packageName) Nil
    else Seq(s"${source.path}:1: package $name in the room ${room.packageName}")
  }

  private def uses(source: Source, of: Int): Seq[String] = {
    val here = all(of).packageName
    (Rooms.names(Rooms.code(source.text), here) ++ Rooms.links(source.text)).flatMap {
      case (line, name) =>
        named
          .collectFirst { case (p, i) if name == p || name.startsWith(p + ".") => i }
          .filter(_ > of)
          .map(i =>
            s"${source.path}:$line: $here uses ${all(i).packageName}, which stands above it"
          )
    }.distinct
  }
}

object Rooms {

  def parse(lines: Seq[String]): Rooms = new Rooms(
    lines.collect { case Line(project, folder, packageName) =>
      val inner = if (folder == ".") "" else s".${folder.replace('/', '.')}"
      Room(project, folder, Option(packageName).getOrElse(s"io.sash.$project$inner"))
    }
  )

  private val Line = """(core|spark|papers) (\S+)(?: = (\S+))?: .*""".r

  private val Package = """(?m)^package (object )?([\w.]+)""".r

  /** Names of packages in code, without selectors in braces. */
  private val Full =
    """\b(?:io\.sash|org\.apache\.spark\.sash|org\.apache\.spark\.sql\.sash)[\w.]*(?:\{[^}]*\})?""".r

  /** A name relative to the package of the code. */
  private val Inner = """(?<![\w.`])([a-z]\w*)\.(?=[A-Z_{])""".r

  /** All names of our rooms in code, in full, each with its line. */
  private def names(code: String, here: String): Seq[(Int, String)] = {
    def lineOf(at: Int) = 1 + code.take(at).count(_ == '\n')
    val found = mutable.Buffer.empty[(Int, String)]
    val isClause = (at: Int) => code.substring(0, at).endsWith("package ")
    Full.findAllMatchIn(code).filterNot(m => isClause(m.start)).foreach { m =>
      val (prefix, selected) = m.matched.span(_ != '{')
      val selectors =
        if (selected.isEmpty) Seq("")
        else selected.drop(1).dropRight(1).split(',').toSeq.map(_.trim.takeWhile(!_.isWhitespace))
      selectors.foreach(s => found += lineOf(m.start) -> (prefix + s))
    }
    Inner.findAllMatchIn(code).foreach(m => found += lineOf(m.start) -> s"$here.${m.group(1)}")
    found.toSeq
  }

  /** The names of our rooms that comments link to, each with its line. */
  private def links(text: String): Seq[(Int, String)] = text.linesIterator.zipWithIndex.flatMap {
    case (line, i) => Link.findAllMatchIn(line).map(m => (i + 1) -> m.group(1))
  }.toSeq

  private val Link =
    """\[\[((?:io\.sash|org\.apache\.spark\.sash|org\.apache\.spark\.sql\.sash)[\w.]*)""".r

  /** A text without its comments and strings, with its lines kept. */
  private def code(text: String): String =
    NoCode.replaceAllIn(text, m => m.matched.filter(_ == '\n'))

  private val NoCode =
    ("(?s)\"\"\".*?\"\"\"" + "|\"(?:[^\"\\\\\\n]|\\\\.)*\"" + "|/\\*.*?\\*/" + "|//[^\\n]*").r
}
