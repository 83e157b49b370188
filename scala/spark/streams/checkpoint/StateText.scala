package io.sash.spark.streams.checkpoint

import org.apache.spark.sql.internal.SQLConf

/**
 * The text that describes a state. It has named parts, one on each line, so that an error can
 * name the parts that differ.
 */
private[spark] object StateText {

  /** The first word of a text for hop windows. */
  val Hops: String = "hops"

  def isOfHops(text: String): Boolean = text.startsWith(Hops)

  /**
   * @param parts these depend on the session's time zone if one of their expressions does
   * @param others these do not; or their rows keep the values that they had when they came
   */
  def of(parts: Seq[(String, Said)], others: Seq[(String, Said)]): String = {
    val all = parts ++ others
    val reads = all.flatMap(_._2.reads).distinct.sorted
    val zone = Option.when(parts.exists(_._2.isZoned))(SQLConf.get.sessionLocalTimeZone)
    val lines = all.map { case (name, said) => name -> said.text } ++
      Seq("columns of sources" -> reads.mkString(", ")) ++ zone.map("time zone" -> _)
    lines
      .map { case (name, text) => s"$name: ${text.replace("\\", "\\\\").replace("\n", "\\n")}" }
      .mkString("\n")
  }

  /** The parts in which two texts differ: first as `was` has them, then as `is` does. */
  def differences(was: String, is: String): (String, String) = {
    val (before, now) = (parts(was), parts(is))
    val names = (now ++ before).map(_._1).distinct
    val differing = names.filter(n => of(before, n) != of(now, n))
    def said(of: Seq[(String, String)], other: Seq[(String, String)]) = differing
      .map { n =>
        this
          .of(of, n)
          .filter(_.nonEmpty)
          .fold(s"no $n")(text => s"$n: ${around(text, this.of(other, n).getOrElse(""))}")
      }
      .mkString("; ")
    (said(before, now), said(now, before))
  }

  private def parts(text: String): Seq[(String, String)] = text.linesIterator.toSeq.map { line =>
    val end = line.indexOf(": ")
    if (end < 0) (line, "") else (line.take(end), line.drop(end + 2))
  }

  private def of(parts: Seq[(String, String)], name: String): Option[String] =
    parts.collectFirst { case (`name`, text) => text }

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
