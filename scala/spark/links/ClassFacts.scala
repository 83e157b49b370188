package io.sash.spark.links

import java.lang.reflect.Modifier
import java.util.HashMap

/**
 * What the JVM links by: a class's kind, its supertypes and its own members. Names are internal;
 * a member's key is its name and behind that its descriptor.
 */
private[spark] abstract class ClassFacts {
  def access: Int

  def name: String

  /** Null for Object. */
  def superName: String

  def interfaces: Array[String]

  /** The access flags of its fields, by key. */
  protected def fields: HashMap[String, Integer]

  protected def methods: HashMap[String, Integer]

  /** The access flags of a field of its own, or -1. */
  final def field(key: String): Int = fields.getOrDefault(key, -1)

  final def method(key: String): Int = methods.getOrDefault(key, -1)

  final def methodKeys: Array[String] = methods.keySet.toArray(Array.empty[String])

  /** The keys of methods that classes of it have to have. */
  final lazy val abstractMethods: Array[String] =
    methodKeys.filter(k => Modifier.isAbstract(method(k)))

  final def isInterface: Boolean = Modifier.isInterface(access)

  final def isAbstract: Boolean = Modifier.isAbstract(access)
}
