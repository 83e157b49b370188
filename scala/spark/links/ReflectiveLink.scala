package io.sash.spark.links

/**
 * Something that is reached by reflection, which no bytecode shows: written down beside the code
 * that reaches for it.
 *
 * @param features which stand down without it
 * @param text what it is, behind "this Spark lacks"
 */
private[spark] final case class ReflectiveLink(features: Seq[String], text: String)(
    val holds: Classes => Boolean
)

private[spark] object ReflectiveLink {

  /** The parameters of the constructor that has the most, as `newInstance` is given them. */
  def longestConstructor(c: ClassFacts): Option[Seq[String]] =
    c.methodKeys.toSeq
      .filter(_.startsWith("<init>"))
      .map(k => LinkText.typesOf(k.stripPrefix("<init>")))
      .maxByOption(_.length)
}
