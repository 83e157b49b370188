package io.sash.spark.features.status

/**
 * A link by reflection, which no bytecode shows. `holds` checks it against the classes.
 *
 * @param features the features that are off without it
 * @param text a description that follows "this Spark lacks"
 */
private[spark] final case class ReflectiveLink(features: Seq[FeatureName], text: String)(
    val holds: Classes => Boolean
)

private[spark] object ReflectiveLink {

  /** The parameter types of the longest constructor, which is the one that reflection calls. */
  def longestConstructor(c: ClassFacts): Option[Seq[String]] =
    c.methodKeys.toSeq
      .filter(_.startsWith("<init>"))
      .map(k => LinkText.typesOf(k.stripPrefix("<init>")))
      .maxByOption(_.length)
}
