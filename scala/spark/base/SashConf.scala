package io.sash.spark.base

import java.util.concurrent.TimeUnit

import org.apache.spark.network.util.ByteUnit
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.internal.SQLConf.{buildConf, buildStaticConf}

/** All settings of Sash. docs/configuration.md is generated from this list. Part of the API. */
object SashConf {

  /** A text block as one line. */
  private def flowed(block: String): String = block.trim.replaceAll("\\s+", " ")

  val Enabled = buildConf("spark.sash.enabled")
    .doc(flowed("""
      Whether Sash is on. When false, Spark runs as if Sash were not there: none of Sash's
      functions is known, and Spark plans every window. It can be set at any time, and holds for
      queries that are analyzed from then on. A DataFrame that was analyzed before keeps its
      functions, and is planned by Spark, which refuses the kinds of window that only Sash has.
      A stream has the setting with which it was started.
    """))
    .version("0.1.0")
    .booleanConf
    .createWithDefault(true)

  private val AlgorithmNames = AlgorithmIds.Auto +: AlgorithmIds.All

  val WindowAlgorithm = buildConf("spark.sash.window.algorithm")
    .internal()
    .doc(flowed(s"""
      The algorithm of windows: 'auto' lets Sash choose for each aggregate. The name of an
      algorithm forces it in OVER and in hop windows, in batch and on streams. Where the
      aggregate or the store of its elements lacks an operation that the algorithm needs, Sash
      chooses as with 'auto'. A stream's checkpoint keeps its algorithms, and refuses others.
      For tests and benchmarks. One of ${AlgorithmNames.mkString(", ")}.
    """))
    .version("0.1.0")
    .stringConf
    .checkValues(AlgorithmNames.toSet)
    .createWithDefault(AlgorithmIds.Auto)

  val WindowSplit = buildConf("spark.sash.window.split")
    .doc(flowed("""
      Whether many tasks answer a window without PARTITION BY. With 'on' they do wherever the
      window's input is large enough (spark.sash.window.splitThreshold) and all its functions
      can be divided. With 'always' the same goes for windows with PARTITION BY, so that many
      tasks answer one key that holds most rows. With 'off', all rows of a key, or of a window
      without PARTITION BY, move to one task, as in Spark.
    """))
    .version("0.1.0")
    .stringConf
    .checkValues(Set("on", "always", "off"))
    .createWithDefault("on")

  val WindowSplitThreshold = buildConf("spark.sash.window.splitThreshold")
    .doc(flowed("""
      The estimated size of its input from which many tasks answer a window that
      spark.sash.window.split divides. An exchange by range reads a part of its input twice, so
      one task is faster for few rows.
    """))
    .version("0.1.0")
    .bytesConf(ByteUnit.BYTE)
    .createWithDefaultString("64MB")

  val OrderingEnabled = buildConf("spark.sash.ordering.enabled")
    .doc(flowed("""
      Whether the rows below a moving window are ordered by hashing their keys, wherever no
      operator above needs more. Then only overtaken rows are sorted. A row is overtaken if a
      younger row of its key has come before it. When false, Spark sorts all rows by keys and
      order.
    """))
    .version("0.1.0")
    .booleanConf
    .createWithDefault(true)

  val StreamBuckets = buildConf("spark.sash.stream.buckets")
    .doc(flowed("""
      Into how many groups the keys of a window over a stream are divided, a power of two. More
      of them spread the keys more evenly over the tasks; each takes some 40 microseconds of a
      micro-batch. 16 for each shuffle partition are enough. A checkpoint keeps its number:
      another number is an error there.
    """))
    .version("0.1.0")
    .intConf
    .checkValue(b => b > 0 && Integer.bitCount(b) == 1, "must be a power of two")
    .createWithDefault(1024)

  val StreamKeyTimeToLive = buildConf("spark.sash.stream.keyTimeToLive")
    .doc(flowed("""
      How long a stream keeps a key of OVER without rows, by event time, as in '30d'. A key that
      comes again after a longer pause begins anew: its windows hold no earlier row, and it
      counts from 1. Without it, keys of ROWS frames, lag, row_number and running totals stay
      for good. A checkpoint keeps its time: another time is an error there.
    """))
    .version("0.1.0")
    .timeConf(TimeUnit.MILLISECONDS)
    .checkValue(_ > 0, "must be more than 0")
    .createOptional

  val StreamLateRowsPath = buildConf("spark.sash.stream.lateRowsPath")
    .doc(flowed("""
      The folder in which a stream keeps the rows that Sash's operators drop as late, and the
      rows that are late for some of their hop windows, as Parquet files with the batch, the
      watermark and all columns of a row. Each such row is there once, also after a restart.
      Without it, late rows are only counted. It holds for queries that start from then on, also
      on a checkpoint that began without it.
    """))
    .version("0.1.0")
    .stringConf
    .checkValue(_.trim.nonEmpty, "must not be empty")
    .createOptional

  val HopsEnabled = buildConf("spark.sash.hops.enabled")
    .doc(flowed("""
      Whether aggregates over window(time, size, slide) with a slide shorter than the size keep
      one partial for each key and pane. When false, Spark copies each row into all its windows.
    """))
    .version("0.1.0")
    .booleanConf
    .createWithDefault(true)

  val LateralEnabled = buildConf("spark.sash.lateral.enabled")
    .doc(flowed("""
      Whether a correlated aggregate over a range of another table's rows (LATERAL or a scalar
      subquery) runs as a window over the union of both tables. When false, Spark joins all
      pairs of rows whose keys are equal.
    """))
    .version("0.1.0")
    .booleanConf
    .createWithDefault(true)

  val LateralSliceThreshold = buildConf("spark.sash.lateral.sliceThreshold")
    .doc(flowed("""
      If the rows of a correlated aggregate have so many bytes, by estimate, they are cut into
      slices of time before they are exchanged. A job over the rows around makes an index of the
      slices. Rows of no range are not exchanged, and where there are several rows for each slice,
      they become one. With 0 rows are cut wherever they can be, with -1 nowhere.
    """))
    .version("0.1.0")
    .bytesConf(ByteUnit.BYTE)
    .createWithDefaultString("128MB")

  val LateralSliceLimit = buildConf("spark.sash.lateral.sliceLimit")
    .doc(flowed("""
      The most bytes of an index of slices, which is broadcast to all executors. It has some 8
      bytes for each slice, and from 24 to 48 for each key. A key of several columns, or of
      another type than INT, BIGINT, DATE and the timestamps, takes the bytes of its row besides.
      Where the index would be larger, each row of a correlated aggregate is exchanged.
    """))
    .version("0.1.0")
    .bytesConf(ByteUnit.BYTE)
    .checkValue(b => b >= 0 && b <= Int.MaxValue, "must be from 0 to 2 GB")
    .createWithDefaultString("64MB")

  val UntestedVersions = buildStaticConf(KnownVersions.UntestedVersions)
    .doc(flowed("""
      Whether Sash runs on a minor version of Spark that it was not tested with, as far as it
      links to it. When false, Sash leaves such a Spark alone. Static: set it before Spark
      starts.
    """))
    .version("0.1.0")
    .booleanConf
    .createWithDefault(false)

  val All =
    Seq(
      Enabled,
      WindowAlgorithm,
      WindowSplit,
      WindowSplitThreshold,
      OrderingEnabled,
      HopsEnabled,
      LateralEnabled,
      LateralSliceThreshold,
      LateralSliceLimit,
      StreamBuckets,
      StreamKeyTimeToLive,
      StreamLateRowsPath,
      UntestedVersions
    )

  /**
   * Registers the settings with Spark. The call initializes this object, which registers them.
   */
  def register(): Unit = ()

  def enabled(session: SparkSession): Boolean = session.sessionState.conf.getConf(Enabled)

  /**
   * Reads the active session first: inside a view or a SQL function, `conf` is the configuration
   * under which the view or function was created.
   */
  def enabled(conf: SQLConf): Boolean =
    SparkSession.getActiveSession.fold(conf)(_.sessionState.conf).getConf(Enabled)

  def splits(conf: SQLConf): Boolean = conf.getConf(WindowSplit) != "off"

  /** Whether the rows of a key are divided, too. */
  def splitsKeys(conf: SQLConf): Boolean = conf.getConf(WindowSplit) == "always"

  def splitThreshold(conf: SQLConf): Long = conf.getConf(WindowSplitThreshold)

  def orderingEnabled(conf: SQLConf): Boolean = conf.getConf(OrderingEnabled)

  def hopsEnabled(conf: SQLConf): Boolean = enabled(conf) && conf.getConf(HopsEnabled)

  def lateralEnabled(conf: SQLConf): Boolean = enabled(conf) && conf.getConf(LateralEnabled)

  /** The estimated size of rows from which they are cut into slices; negative for never. */
  def sliceThreshold(conf: SQLConf): Long = conf.getConf(LateralSliceThreshold)

  def sliceLimit(conf: SQLConf): Long = conf.getConf(LateralSliceLimit)

  def streamBuckets(conf: SQLConf): Int = conf.getConf(StreamBuckets)

  /** The time to live of a stream's keys, in microseconds, if there is one. */
  def keyTimeToLive(conf: SQLConf): Option[Long] =
    conf.getConf(StreamKeyTimeToLive).map(TimeUnit.MILLISECONDS.toMicros)

  def lateRowsPath(conf: SQLConf): Option[String] = conf.getConf(StreamLateRowsPath)

  def algorithm(conf: SQLConf): String = conf.getConf(WindowAlgorithm)
}
