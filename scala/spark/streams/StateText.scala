package io.sash.spark.streams

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.internal.SQLConf

import io.sash.spark.slots.SlotProgram

/**
 * Says expressions over the columns of an operator with state, as [[Words]] do.
 *
 * @param lineage of the rows below the operator
 * @param origin what it says of them
 * @param inputs columns beside those that aggregates read
 */
private[streams] final class StateText(
    lineage: Lineage,
    origin: Origin,
    inputs: Seq[Alias],
    programs: Seq[SlotProgram]
) {
  private[this] val cells = programs.flatMap(p => p.columns ++ p.right)
  private[this] val words = {
    val below = lineage.words(origin)
    lineage.words(
      origin
        .and(inputs.map(i => i.exprId -> below.said(i.child)).toMap)
        .and(cells.zipWithIndex.map { case (c, i) => c.exprId -> Said(s"cell$i") }.toMap)
    )
  }

  def said(e: Expression): Said = words.said(e)

  def all(of: Seq[Expression]): Said = Said.all(of.map(said))

  /** Which rows there are. */
  def rows: Said = origin.rows

  /** What words leave out: a hash of how partials are made. */
  def definitions: Said = {
    val parts = programs.flatMap { p =>
      p.parts.flatMap(d => d.identity ++ d.lift ++ d.combine) ++ p.holds
    }
    val types = cells.map(_.dataType.sql)
    Said(f"${Said.hash((parts.map(said(_).text) ++ types).mkString("; "))}%x")
  }
}

/**
 * What a state was written for, in named parts, a line each: so that an error can name those that
 * are others.
 */
private[streams] object StateText {

  /**
   * @param parts that depend on the session's time zone where an expression does
   * @param others that do not, or whose rows have what they had when they came
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

  /** The parts in which two texts differ, as each of them has them. */
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

  /** Of a long text the place where another begins to differ. */
  private def around(text: String, other: String): String = {
    val same = text.zip(other).takeWhile { case (a, b) => a == b }.length
    val from =
      if (text.length <= Most) 0 else math.max(0, math.min(same - Most / 4, text.length - Most))
    val shown = text.slice(from, from + Most)
    (if (from > 0) "... " else "") + shown + (if (from + Most < text.length) " ..." else "")
  }

  private val Most = 400
}
