package io.sash.spark.features.status

/**
 * A part of Sash that can be off by itself.
 *
 * @param needs the features that it uses; if one of them is off, so is this one
 */
private[spark] sealed abstract class FeatureName(val name: String, val needs: FeatureName*) {
  override def toString: String = name
}

private[spark] object FeatureName {

  /** All features need it. */
  case object Base extends FeatureName("base")

  case object Functions extends FeatureName("functions")

  case object Windows extends FeatureName("windows")

  // orders rows itself, and leaves windows that it cannot divide to Windows
  case object Split extends FeatureName("split")

  // a subquery becomes a window over an aggregate that Spark alone cannot run
  case object Lateral extends FeatureName("lateral", Windows)

  case object Hops extends FeatureName("hops")

  case object Streams extends FeatureName("streams")

  // nothing else uses the ordering
  case object Ordering extends FeatureName("ordering", Windows)

  /** All features but the base, in the order in which their rules come into a session. */
  val All: Seq[FeatureName] = Seq(
    // calls of Sash's functions become expressions, which the rules of other features look for
    Functions,
    // plans the windows that many tasks can answer, before the other windows are planned
    Split,
    // moving aggregates are wrapped before anyone checks them
    Windows,
    // on a stream, a subquery becomes a window, which the streams then plan
    Lateral,
    Hops,
    Streams,
    // its rule runs over planned windows
    Ordering
  )
}
