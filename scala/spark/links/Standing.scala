package io.sash.spark.links

import java.io.{BufferedReader, InputStreamReader}
import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicBoolean

import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import io.sash.spark.base.SashVersion

/**
 * Records which features stand down in this JVM, and why. A check finds missing links before any
 * feature is loaded. A LinkageError while a query is planned adds a reason later.
 *
 * This object has no link to Spark.
 */
private[spark] object Standing {
  val Base = "base"
  val Functions = "functions"
  val Ordering = "ordering"
  val Windows = "windows"
  val Hops = "hops"
  val Labels = "labels"
  val Streams = "streams"

  /** All features but the base, in the order in which they are added to a session. */
  val All: Seq[String] = Seq(Functions, Windows, Labels, Hops, Streams, Ordering)

  /** The feature that each of these works through, and without which it stands down. */
  private val Needs: Map[String, String] = Map(
    // nothing else uses the ordering
    Ordering -> Windows,
    // a subquery becomes a window, which Spark alone cannot run
    Labels -> Windows
  )

  private val log = LoggerFactory.getLogger("io.sash.spark.SashExtensions")
  private val downs = new ConcurrentHashMap[String, String]

  /** The reason why a feature stands down, or none if it is up. */
  def reason(feature: String): Option[String] = {
    checked
    Option(downs.getOrDefault(feature, downs.get(Base))).orElse(
      Needs.get(feature).flatMap(n => Option(downs.get(n)).map(why => s"it needs $n, and $why"))
    )
  }

  def isUp(feature: String): Boolean = reason(feature).isEmpty

  /** The reasons as lines for EXPLAIN and the log. */
  def lines: Seq[String] =
    reason(Base).map(why => s"left to Spark: all: $why").fold(all)(Seq(_))

  private def all: Seq[String] =
    All.flatMap(f => reason(f).map(why => s"left to Spark: $f: $why"))

  /**
   * Logs which features run, and why the others stand down, once in a JVM.
   *
   * @param spark the version that Spark reports
   */
  def log(spark: String): Unit = {
    checked
    if (logged.compareAndSet(false, true)) {
      val up = All.filter(isUp)
      if (up.nonEmpty) log.info(s"Sash $version on Spark $spark runs ${up.mkString(", ")}")
      lines.foreach(l => log.warn(s"Sash $version on Spark $spark: $l"))
    }
  }

  private val logged = new AtomicBoolean

  // read before a link is missed: the handler of a LinkageError must not load a class
  private val version = SashVersion.Version

  /** Makes a feature stand down because of a link found missing while a query was planned. */
  def failed(feature: String, error: LinkageError): Unit = {
    val why = s"it does not link to this Spark ($error)"
    if (downs.putIfAbsent(feature, why) == null) {
      log.warn(s"Sash $version: left to Spark from now on: $feature: $why")
      log.debug("The link that is missing", error)
    }
  }

  private lazy val checked: Unit = {
    try
      missing(getClass.getClassLoader).foreach { case (feature, why) =>
        downs.put(feature, why.head)
      }
    catch { // a check that fails must not end the session
      case NonFatal(e) => downs.put(Base, s"its classes cannot be looked at ($e)")
    }
  }

  /** The missing links of each feature among the classes of a loader. */
  def missing(spark: ClassLoader): Map[String, Seq[String]] = {
    val list = getClass.getClassLoader.getResourceAsStream(Resource)
    try {
      val lines = new BufferedReader(new InputStreamReader(list, UTF_8))
      new LinkCheck(lines, new Classes(spark), ReflectiveLinks.All).reasons
    } finally list.close()
  }

  /** The list of links, which project/SparkLinks.scala writes. */
  private val Resource = "io/sash/spark/links.txt"
}
