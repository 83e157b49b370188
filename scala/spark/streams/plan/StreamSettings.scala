package io.sash.spark.streams.plan

import org.apache.spark.sql.internal.SQLConf

/** What settings of Spark's say of operators with state. */
private[spark] object StreamSettings {
  def isRocksDB(provider: String): Boolean = provider.endsWith(".RocksDBStateStoreProvider")

  /** Whether operators with state have a watermark of their own, each. */
  def allowsSeveral(conf: SQLConf): Boolean =
    conf.getConf(SQLConf.STATEFUL_OPERATOR_ALLOW_MULTIPLE)
}
