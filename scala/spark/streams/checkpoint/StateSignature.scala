package io.sash.spark.streams.checkpoint

import java.time.Instant
import java.time.temporal.ChronoUnit

import scala.util.hashing.MurmurHash3

import org.apache.spark.sql.types._

/**
 * The text that describes a state. It has named parts, one on each line, so that an error can
 * name the parts that differ.
 */
private[spark] object StateSignature {

  /** The first word of a text for hop windows. */
  val Hops: String = "hops"

  /** The names of parts that have a remedy of their own: see `StateErrors`. */
  val Partials: String = "partials"
  val Algorithms: String = "algorithms"
  val Buckets: String = "buckets"
  val Answered: String = "answered"
  val Columns: String = "columns"
  val Keys: String = "partition by"
  val Order: String = "order by"
  val Aggregates: String = "aggregates"
  val Windows: String = "windows"
  val Bounds: String = "bounds of windows"
  val Conditions: String = "conditions of windows"
  val TimeZone: String = "time zone"
  val History: String = "history until"
  val TimeToLive: String = "time to live"
  val Layout: String = "layout"
  val BegunBy: String = "begun by"

  def isOfHops(text: String): Boolean = text.startsWith(Hops)

  /** @param zone the session's time zone, if one of the expressions depends on it */
  def of(parts: Seq[(String, String)], zone: Option[String]): String =
    (parts ++ zone.map(TimeZone -> _)).map((line _).tupled).mkString("\n")

  def line(name: String, text: String): String =
    s"$name: ${text.replace("\\", "\\\\").replace("\n", "\\n")}"

  /** The text of a state that begins with a history up to a time, in microseconds. */
  def begun(text: String, history: Option[Long]): String = history.fold(text) { micros =>
    s"$text\n${line(History, time(micros))}"
  }

  /** The time of the history in a text, in microseconds. */
  def historyIn(text: String): Option[Long] =
    part(text, History).map(t => ChronoUnit.MICROS.between(Instant.EPOCH, Instant.parse(t)))

  /** A time in UTC, for a text. */
  def time(micros: Long): String = Instant.EPOCH.plus(micros, ChronoUnit.MICROS).toString

  /** The types of cells, without names, since those are not stored. */
  def typesOf(cells: Seq[DataType]): String = cells.map(typeOf).mkString("(", ", ", ")")

  /** The type of a column. Its nullability may change. */
  def sqlOf(dataType: DataType): String = dataType.sql.replace(" NOT NULL", "")

  private def typeOf(dataType: DataType): String = dataType match {
    case s: StructType        => short(typesOf(s.map(_.dataType)))
    case ArrayType(of, _)     => s"ARRAY<${typeOf(of)}>"
    case MapType(from, to, _) => s"MAP<${typeOf(from)}, ${typeOf(to)}>"
    case other                => other.sql
  }

  /** If the text is long, a hash replaces its end. */
  private def short(text: String): String =
    if (text.length <= MostOfType) text
    else f"${text.take(MostOfType)}... ~${hash(text)}%016x"

  /** A hash that is the same in every JVM. */
  private def hash(text: String): Long =
    (MurmurHash3.stringHash(text).toLong << 32) | (MurmurHash3.stringHash(text, 1) & 0xffffffffL)

  private val MostOfType = 80

  def parts(text: String): Seq[(String, String)] = text.linesIterator.toSeq.map { line =>
    val end = line.indexOf(": ")
    if (end < 0) (line, "") else (line.take(end), line.drop(end + 2))
  }

  def part(text: String, name: String): Option[String] =
    parts(text).collectFirst { case (`name`, value) => value }

  /**
   * The names of the parts in which two texts differ, whatever version has begun them. A text
   * without a time zone may be of a version that did not find all expressions which need it.
   */
  def differing(was: String, is: String): Seq[String] =
    (parts(is) ++ parts(was))
      .map(_._1)
      .distinct
      .filterNot(n => n == BegunBy || n == TimeZone && part(was, n).isEmpty)
      .filter(n => part(was, n) != part(is, n))

  /** These parts of a text, in words, where the other text differs from it. */
  def differences(text: String, other: String, names: Seq[String]): String = names
    .map { n =>
      part(text, n)
        .filter(_.nonEmpty)
        .fold(s"no $n")(value => s"$n: ${around(value, part(other, n).getOrElse(""))}")
    }
    .mkString("; ")

  /** A long text is cut to a part around the place where it begins to differ from `other`. */
  private def around(text: String, other: String): String = {
    val same = text.zip(other).takeWhile { case (a, b) => a == b }.length
    val from =
      if (text.length <= Most) 0 else math.max(0, math.min(same - Most / 4, text.length - Most))
    val shown = text.slice(from, from + Most)
    (if (from > 0) "... " else "") + shown + (if (from + Most < text.length) " ..." else "")
  }

  private val Most = 400
}
