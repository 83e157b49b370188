package io.sash.spark.base

import org.apache.spark.sql.types.{Metadata, MetadataBuilder}

/** The metadata of a column that holds an event time, and has no watermark itself. */
private[spark] object NoWatermark {

  /**
   * As an alias takes them. They are not empty: Spark 4.0 takes empty metadata for none when it
   * copies an alias, and then the alias has its child's.
   */
  val Explicit: Option[Metadata] =
    Some(new MetadataBuilder().putBoolean("sash.noWatermark", true).build())
}
