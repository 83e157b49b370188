package io.sash.spark

import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.{SPARK_VERSION, SparkEnv}
import org.apache.spark.sql.{SparkSessionExtensions, SparkSessionExtensionsProvider}
import org.slf4j.LoggerFactory

import io.sash.spark.base.{KnownVersions, SashConf, SashVersion}
import io.sash.spark.features.Features
import io.sash.spark.links.Standing

/**
 * What Sash adds to a session: its `Features`, each of which stands down where this Spark lacks
 * what it links to. It is on wherever the jar is on the class path (META-INF/services), or by
 * `spark.sql.extensions=io.sash.spark.SashExtensions`; both at once do no harm, since a second
 * strategy finds nothing left to plan.
 *
 * With `Explain`, `SashConf` and `CoreAggregator` it is Sash's API for Spark: all else is for Sash
 * alone, and may change from version to version.
 */
final class SashExtensions extends SparkSessionExtensionsProvider {
  override def apply(extensions: SparkSessionExtensions): Unit =
    try {
      if (isMeant) {
        Standing.log(SPARK_VERSION)
        if (Standing.isUp(Standing.Base)) {
          // so that a wrong value is refused when it is set, not when a query is planned
          SashConf.register()
          Features.inject(extensions)
        }
      }
    } catch { case e: LinkageError => Standing.failed(Standing.Base, e) }

  /** Whether Sash is meant for this version of Spark, and if not, the user wants it all the same. */
  private def isMeant: Boolean = {
    val isKnown = KnownVersions.contains(SPARK_VERSION)
    val isWanted = isKnown || SashExtensions.runsUntested
    if (!isKnown && SashExtensions.said.add(isWanted))
      SashExtensions.log.warn(SashExtensions.unknown(isWanted))
    isWanted
  }
}

private[spark] object SashExtensions {
  import KnownVersions.UntestedVersions

  /** What has been told of this version; Spark loads extensions more than once. */
  private val said = ConcurrentHashMap.newKeySet[Boolean]

  private val log = LoggerFactory.getLogger(classOf[SashExtensions])

  /** Read when the session starts, before it has settings of its own. */
  private def runsUntested: Boolean =
    Option(SparkEnv.get).exists(_.conf.getBoolean(UntestedVersions, defaultValue = false))

  private def unknown(isWanted: Boolean): String = {
    val versions = s"Sash ${SashVersion.Version} does not know Spark $SPARK_VERSION"
    val known = s"it knows ${KnownVersions.All.mkString(", ")}"
    if (isWanted) s"$versions and runs what links to it, since $UntestedVersions is true; $known"
    else
      s"$versions and leaves it alone; $known. $UntestedVersions=true, set before Spark starts, " +
        "runs what links to it"
  }
}
