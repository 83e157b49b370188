package io.sash.spark.streams.plan

import org.apache.spark.sql.internal.SQLConf

/** Spark's settings for stateful operators. */
private[spark] object StreamSettings {
  def isRocksDB(provider: String): Boolean = provider.endsWith(".RocksDBStateStoreProvider")

  /** Whether each stateful operator has a watermark of its own. */
  def allowsSeveral(conf: SQLConf): Boolean =
    conf.getConf(SQLConf.STATEFUL_OPERATOR_ALLOW_MULTIPLE)
}
