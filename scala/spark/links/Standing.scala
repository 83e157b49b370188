package io.sash.spark.links

import java.io.{BufferedReader, InputStreamReader}
import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicBoolean

import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import io.sash.spark.base.SashVersion

/**
 * Which features stand down in this JVM, and why. What is missing is known before the first of them
 * is loaded; what only turns up while queries are planned is added later.
 *
 * Nothing here links to Spark.
 */
private[spark] object Standing {
  val Base = "base"
  val Functions = "functions"
  val Ordering = "ordering"
  val Windows = "windows"
  val Hops = "hops"
  val Streams = "streams"

  /** Beside the base, in the order in which they come into a session. */
  val All: Seq[String] = Seq(Functions, Windows, Hops, Streams, Ordering)

  private val log = LoggerFactory.getLogger("io.sash.spark.SashExtensions")
  private val downs = new ConcurrentHashMap[String, String]

  /** Why a feature stands down, if it does. */
  def reason(feature: String): Option[String] = {
    checked
    Option(downs.getOrDefault(feature, downs.get(Base)))
  }

  def isUp(feature: String): Boolean = reason(feature).isEmpty

  /** The reasons as EXPLAIN and the log say them. */
  def lines: Seq[String] =
    reason(Base).map(why => s"left to Spark: all: $why").fold(all)(Seq(_))

  private def all: Seq[String] =
    All.flatMap(f => reason(f).map(why => s"left to Spark: $f: $why"))

  /** @param spark the version that it calls itself */
  def log(spark: String): Unit = {
    checked
    if (logged.compareAndSet(false, true))
      lines.foreach(l => log.warn(s"Sash ${SashVersion.Version} on Spark $spark: $l"))
  }

  private val logged = new AtomicBoolean

  /** A link that was found missing while a query was planned. */
  def failed(feature: String, error: LinkageError): Unit = {
    val why = s"it does not link to this Spark ($error)"
    if (downs.putIfAbsent(feature, why) == null) {
      log.warn(s"Sash ${SashVersion.Version}: left to Spark from now on: $feature: $why")
      log.debug("The link that is missing", error)
    }
  }

  private lazy val checked: Unit = {
    try
      missing(getClass.getClassLoader).foreach { case (feature, why) =>
        downs.put(feature, why.head)
      }
    catch { // no session ends because it cannot be looked at
      case NonFatal(e) => downs.put(Base, s"its classes cannot be looked at ($e)")
    }
    // an order is only made below windows
    Option(downs.get(Windows)).foreach(downs.put(Ordering, _))
  }

  /** By feature, all that it links to and that a loader of Spark's classes does not have. */
  def missing(spark: ClassLoader): Map[String, Seq[String]] = {
    val list = getClass.getClassLoader.getResourceAsStream(Resource)
    try {
      val lines = new BufferedReader(new InputStreamReader(list, UTF_8))
      new LinkCheck(lines, new Classes(spark), ReflectiveLinks.All).reasons
    } finally list.close()
  }

  /** What project/SparkLinks.scala writes. */
  private val Resource = "io/sash/spark/links.txt"
}
