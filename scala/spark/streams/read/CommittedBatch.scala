package io.sash.spark.streams.read

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.json4s._

import io.sash.spark.streams.ask.ReadState
import io.sash.spark.streams.checkpoint.{NumberedFiles, TextFile}

/**
 * The last batch that a query has committed to its checkpoint.
 *
 * @param query the id of the query
 * @param committed when it was committed, in milliseconds
 * @param watermark the time, in microseconds, that the batch's watermark has passed
 * @param settings the settings of the state that Spark keeps from batch to batch
 */
private[read] final class CommittedBatch private (
    val query: String,
    val id: Long,
    val committed: Long,
    val watermark: Long,
    val settings: Map[String, String],
    commit: JValue
) {

  /**
   * The identity of a partition's state in this batch, where Spark tells apart the states that
   * several attempts of a batch have written.
   */
  def stateId(operator: Long, partition: Int): Option[String] =
    commit \ "stateUniqueIds" \ operator.toString match {
      case JArray(partitions) => Some(partitions(partition)(0)).collect { case JString(s) => s }
      case _                  => None
    }
}

private[read] object CommittedBatch {
  def of(checkpoint: Path, hadoop: Configuration): CommittedBatch = {
    val last = NumberedFiles.last(new Path(checkpoint, "commits"), hadoop).getOrElse {
      throw ReadState.refuse("checkpoint", s"$checkpoint has no batch that is committed")
    }
    val id = last.getPath.getName.toLong
    def json(log: String) = NumberedFiles.json(new Path(checkpoint, s"$log/$id"), hadoop)
    val batch = json("offsets")
    val settings = batch \ "conf" match {
      case JObject(fields) =>
        fields.collect { case (name, JString(value)) => name -> value }.toMap
      case _ => Map.empty[String, String]
    }
    val query = TextFile.read(new Path(checkpoint, "metadata"), hadoop)
    new CommittedBatch(
      query,
      id,
      last.getModificationTime,
      NumberedFiles.watermark(batch),
      settings,
      json("commits")
    )
  }
}
