package io.sash.spark.base

import org.apache.spark.sql.types.{Metadata, MetadataBuilder}

/** The metadata of a column that holds an event time, and has no watermark itself. */
private[spark] object NoWatermark {

  /**
   * The metadata for an alias. They are not empty: when Spark 4.0 copies an alias, it takes empty
   * metadata for none, and the copy then has its child's.
   */
  val Explicit: Option[Metadata] =
    Some(new MetadataBuilder().putBoolean("sash.noWatermark", true).build())
}
