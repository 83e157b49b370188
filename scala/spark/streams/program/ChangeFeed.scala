package io.sash.spark.streams.program

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}

import io.sash.spark.multisets.Distinct

/**
 * The columns by which a row of a stream changes an earlier row. Delta's change feed has them.
 *
 * @param kind the kind of the change, one of `ChangeFeed.Kinds`
 * @param version the order of the changes of a row, a BIGINT
 * @param ids the columns that a row has in common with its changes, and with no other row
 */
private[spark] final case class ChangeFeed(
    kind: Attribute,
    version: Attribute,
    ids: Seq[Attribute]
) {

  def columns: Seq[Attribute] = ids ++ Seq(kind, version)

  /** Keys whose bytes are equal if the ids are. */
  def keys: Seq[Expression] = ids.map(Distinct.key)
}

private[spark] object ChangeFeed {
  val Kind = "_change_type"
  val Version = "_commit_version"

  val Insert = "insert"
  val Before = "update_preimage"
  val After = "update_postimage"
  val Delete = "delete"
  val Kinds: Seq[String] = Seq(Insert, Before, After, Delete)
}
