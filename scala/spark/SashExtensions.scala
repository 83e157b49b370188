package io.sash.spark

import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.{SPARK_VERSION, SparkEnv}
import org.apache.spark.sql.{SparkSessionExtensions, SparkSessionExtensionsProvider}
import org.slf4j.LoggerFactory

import io.sash.spark.base.{KnownVersions, SashConf, SashVersion}
import io.sash.spark.features.Features
import io.sash.spark.features.status.{FeatureName, FeatureStatus}

/**
 * Adds Sash's `Features` to a Spark session. A feature is off if this Spark lacks a class or
 * method that the feature links to. Spark finds this class through META-INF/services when the jar
 * is on the class path, or through `spark.sql.extensions=io.sash.spark.SashExtensions`. Both at
 * once do no harm: the second strategy finds no window left to plan.
 *
 * The API of Sash in Spark is this class, `Explain`, `SashConf` and `CoreAggregator`. All other
 * classes are internal, and may change in any version.
 */
final class SashExtensions extends SparkSessionExtensionsProvider {
  override def apply(extensions: SparkSessionExtensions): Unit =
    try {
      if (isMeant) {
        FeatureStatus.log(SPARK_VERSION)
        if (FeatureStatus.isOn(FeatureName.Base)) {
          // registers the settings first, so that SET refuses a wrong value at once
          SashConf.register()
          Features.inject(extensions)
        }
      }
    } catch { case e: LinkageError => FeatureStatus.failed(FeatureName.Base, e) }

  /** Whether Sash knows this version of Spark, or else the user has asked to run it untested. */
  private def isMeant: Boolean = {
    val isKnown = KnownVersions.contains(SPARK_VERSION)
    val isWanted = isKnown || SashExtensions.runsUntested
    if (!isKnown && SashExtensions.logged.add(isWanted))
      SashExtensions.log.warn(SashExtensions.unknown(isWanted))
    isWanted
  }
}

private[spark] object SashExtensions {
  import KnownVersions.UntestedVersions

  /** The warnings already logged; Spark loads extensions more than once. */
  private val logged = ConcurrentHashMap.newKeySet[Boolean]

  private val log = LoggerFactory.getLogger(classOf[SashExtensions])

  /** Reads Spark's configuration, since the session has no settings of its own when it starts. */
  private def runsUntested: Boolean =
    Option(SparkEnv.get).exists(_.conf.getBoolean(UntestedVersions, defaultValue = false))

  private def unknown(isWanted: Boolean): String = {
    val versions = s"Sash ${SashVersion.Version} does not know Spark $SPARK_VERSION"
    val known = s"it knows ${KnownVersions.All.mkString(", ")}"
    if (isWanted)
      s"$versions and runs each feature that links to it, since $UntestedVersions is true; $known"
    else
      s"$versions and leaves it alone; $known. $UntestedVersions=true, set before Spark " +
        "starts, runs each feature that links to it"
  }
}
