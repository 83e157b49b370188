package io.sash.spark.features.status

import java.lang.reflect.Modifier
import java.util.HashMap

/**
 * The facts of a class by which the JVM links: its access flags, supertypes and own members.
 * Names are internal. A member's key is its name followed by its descriptor.
 */
private[spark] abstract class ClassFacts {
  def access: Int

  def name: String

  /** Null for Object. */
  def superName: String

  def interfaces: Array[String]

  /** The access flags of the class's own fields, by key. */
  protected def fields: HashMap[String, Integer]

  protected def methods: HashMap[String, Integer]

  /** The access flags of one of its own fields, or -1 if it has no such field. */
  final def field(key: String): Int = fields.getOrDefault(key, -1)

  final def method(key: String): Int = methods.getOrDefault(key, -1)

  final def methodKeys: Array[String] = methods.keySet.toArray(Array.empty[String])

  /** The keys of the abstract methods, which concrete subclasses have to implement. */
  final lazy val abstractMethods: Array[String] =
    methodKeys.filter(k => Modifier.isAbstract(method(k)))

  final def isInterface: Boolean = Modifier.isInterface(access)

  final def isAbstract: Boolean = Modifier.isAbstract(access)
}
