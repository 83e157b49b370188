package io.sash.spark

import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.internal.SQLConf.buildConf

import io.sash.spark.monoids.Algorithm

/** All settings of Sash. docs/configuration.md is generated from this list. */
object SashConf {
  val Enabled = buildConf("spark.sash.enabled")
    .doc("Whether Sash plans moving windows. When false, Spark runs as if Sash were not there.")
    .version("0.1.0")
    .booleanConf
    .createWithDefault(true)

  val WindowAlgorithm = buildConf("spark.sash.window.algorithm")
    .doc(
      "The algorithm for moving windows: 'auto' lets Sash choose for each aggregate; the " +
        "name of an algorithm forces it wherever the aggregate has what it needs. Meant for tests " +
        s"and benchmarks. One of ${(Algorithm.Auto +: Algorithm.All.map(_.id)).mkString(", ")}."
    )
    .version("0.1.0")
    .stringConf
    .checkValues((Algorithm.Auto +: Algorithm.All.map(_.id)).toSet)
    .createWithDefault(Algorithm.Auto)

  val OrderingEnabled = buildConf("spark.sash.ordering.enabled")
    .doc(
      "Whether the rows below a moving window are ordered by hashing their keys, and sorted only " +
        "where rows of a key come late, wherever no operator above needs more. When " +
        "false, Spark sorts them by keys and order."
    )
    .version("0.1.0")
    .booleanConf
    .createWithDefault(true)

  val All = Seq(Enabled, WindowAlgorithm, OrderingEnabled)

  /** Makes Spark know the settings: initializing this object does, and it is done by now. */
  def register(): Unit = ()

  def enabled(conf: SQLConf): Boolean = conf.getConf(Enabled)

  def orderingEnabled(conf: SQLConf): Boolean = conf.getConf(OrderingEnabled)

  def algorithm(conf: SQLConf): String = conf.getConf(WindowAlgorithm)
}
