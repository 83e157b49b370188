package io.sash.spark.streams.checkpoint

import scala.util.hashing.MurmurHash3

import org.apache.spark.sql.catalyst.expressions.{LeafExpression, Unevaluable}
import org.apache.spark.sql.types.DataType

import io.sash.spark.base.Described

/**
 * The description of an expression, a column or a relation, in words that are the same at each
 * start of a query.
 *
 * @param reads the source columns that it reads, with their types
 * @param isZoned whether it depends on the session's time zone
 */
private[spark] final case class Said(
    text: String,
    reads: Set[String] = Set.empty,
    isZoned: Boolean = false
) {

  /** The description as a part of others: if the text is long, a hash replaces its end. */
  def short: Said =
    if (text.length <= Said.Most) this
    else copy(text = f"${text.take(Said.Shown)}... ~${Said.hash(text)}%016x")

  /** The description with words around it. */
  def in(before: String, after: String = ""): Said = copy(text = before + text + after)
}

private[spark] object Said {
  private val Most = 240
  private val Shown = 80

  def all(of: Seq[Said], start: String = "", separator: String = ", ", end: String = ""): Said =
    Said(
      of.map(_.text).mkString(start, separator, end),
      of.flatMap(_.reads).toSet,
      of.exists(_.isZoned)
    )

  /** A hash that is the same in every JVM. */
  def hash(text: String): Long =
    (MurmurHash3.stringHash(text).toLong << 32) | (MurmurHash3.stringHash(text, 1) & 0xffffffffL)
}

/** The description of a column, which takes the column's place in an expression. */
private[streams] final case class SaidColumn(
    said: Said,
    override val dataType: DataType,
    override val nullable: Boolean
) extends LeafExpression
    with Unevaluable
    with Described {
  override def prettyName: String = "column"

  override def words: Seq[String] = Seq(dataType.sql.replace(" NOT NULL", ""))

  override def sql: String = said.text

  override def toString: String = said.text
}
