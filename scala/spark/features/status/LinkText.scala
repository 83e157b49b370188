package io.sash.spark.features.status

import java.lang.invoke.MethodType

/** Prints links in the words of Spark's sources. */
private[status] object LinkText {
  def of(owner: String): String = s"the class ${dotted(owner)}"

  def of(owner: String, name: String, descriptor: String): String =
    if (name == "<init>") s"new ${dotted(owner)}(${parameters(descriptor)})"
    else if (name == "MODULE$") s"the object ${dotted(owner).stripSuffix("$")}"
    else {
      val of = s"${dotted(owner).stripSuffix("$")}.$name"
      if (descriptor.startsWith("(")) s"$of(${parameters(descriptor)})" else of
    }

  private def dotted(name: String): String = name.replace('/', '.')

  private val OneType = """\[*(?:L[^;]*;|[A-Z])""".r

  /** Splits the parameters of a method's descriptor into their types' descriptors. */
  def typesOf(descriptor: String): Seq[String] =
    OneType.findAllIn(descriptor.substring(1, descriptor.indexOf(')'))).toSeq

  /** The simple names of the parameters' types. */
  private def parameters(descriptor: String): String =
    typesOf(descriptor).map(simple).mkString(", ")

  private def simple(descriptor: String): String = {
    val element = descriptor.dropWhile(_ == '[')
    val name =
      if (element.startsWith("L")) element.drop(1).dropRight(1).split("[/$]").last
      else MethodType.fromMethodDescriptorString(s"()$element", null).returnType.getName
    name + "[]" * (descriptor.length - element.length)
  }
}
