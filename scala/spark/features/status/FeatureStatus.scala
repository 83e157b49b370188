package io.sash.spark.features.status

import java.io.{BufferedReader, InputStreamReader}
import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicBoolean

import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import io.sash.spark.base.SashVersion

/**
 * Records which features are off in this JVM, and why. A check finds missing links before any
 * feature is loaded. A LinkageError while a query is planned adds a reason later.
 *
 * This object has no link to Spark.
 */
private[spark] object FeatureStatus {
  private val log = LoggerFactory.getLogger("io.sash.spark.SashExtensions")

  /** Why a feature is off by itself. It may also be off because a feature that it needs is. */
  private[features] val reasons = new ConcurrentHashMap[FeatureName, String]

  /** The reason why a feature is off, or none if it is on. */
  def reason(feature: FeatureName): Option[String] = {
    checked
    Option(reasons.getOrDefault(feature, reasons.get(FeatureName.Base))).orElse(
      feature.needs.flatMap(n => reason(n).map(why => s"it needs $n, and $why")).headOption
    )
  }

  def isOn(feature: FeatureName): Boolean = reason(feature).isEmpty

  /** The reasons as lines for EXPLAIN and the log. */
  def lines: Seq[String] =
    reason(FeatureName.Base).map(why => s"left to Spark: all: $why").fold(all)(Seq(_))

  private def all: Seq[String] =
    FeatureName.All.flatMap(f => reason(f).map(why => s"left to Spark: $f: $why"))

  /**
   * Logs which features run, and why the others are off, once in a JVM.
   *
   * @param spark the version that Spark reports
   */
  def log(spark: String): Unit = {
    checked
    if (logged.compareAndSet(false, true)) {
      val on = FeatureName.All.filter(isOn)
      if (on.nonEmpty) log.info(s"Sash $version on Spark $spark runs ${on.mkString(", ")}")
      lines.foreach(l => log.warn(s"Sash $version on Spark $spark: $l"))
    }
  }

  private val logged = new AtomicBoolean

  // read before a link is missed: the handler of a LinkageError must not load a class
  private val version = SashVersion.Version

  /** Switches a feature off because of a link found missing while a query was planned. */
  def failed(feature: FeatureName, error: LinkageError): Unit = {
    val why = s"it does not link to this Spark ($error)"
    if (reasons.putIfAbsent(feature, why) == null) {
      log.warn(s"Sash $version: left to Spark from now on: $feature: $why")
      log.debug("The link that is missing", error)
    }
  }

  private lazy val checked: Unit = {
    try
      missing(getClass.getClassLoader).foreach { case (feature, why) =>
        reasons.put(feature, why.head)
      }
    catch { // a check that fails must not end the session
      case NonFatal(e) => reasons.put(FeatureName.Base, s"its classes cannot be looked at ($e)")
    }
  }

  /** The missing links of each feature among the classes of a loader. */
  def missing(spark: ClassLoader): Map[FeatureName, Seq[String]] = {
    val list = getClass.getClassLoader.getResourceAsStream(Resource)
    try {
      val lines = new BufferedReader(new InputStreamReader(list, UTF_8))
      val reasons = new LinkCheck(lines, new Classes(spark), ReflectiveLinks.All).reasons
      (FeatureName.Base +: FeatureName.All).flatMap(f => reasons.get(f.name).map(f -> _)).toMap
    } finally list.close()
  }

  /** The list of links, which project/SparkLinks.scala writes. */
  private val Resource = "io/sash/spark/links.txt"
}
