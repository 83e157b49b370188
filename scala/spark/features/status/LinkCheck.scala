package io.sash.spark.features.status

import java.io.BufferedReader
import java.lang.reflect.Modifier
import java.util.Arrays

/**
 * Checks the links of the jar against the classes on the class path.
 *
 * The list of links is a resource of the jar. project/SparkLinks.scala writes it and documents
 * its format. The check neither loads nor initializes a class, and has no link to Spark itself.
 */
private[spark] final class LinkCheck(
    list: BufferedReader,
    classes: Classes,
    reflective: Seq[ReflectiveLink]
) {
  private val lines =
    list.lines().map[Array[String]](_.split(' ')).toArray(new Array[Array[String]](_))
  private val features = lines.head.tail
  private val missing = Array.fill(features.length)(Vector.empty[String])
  private var owner: String = _
  private var members: Array[ClassFacts] = _

  /**
   * The missing links of each feature, as reasons. A feature that misses none is not in the map.
   */
  def reasons: Map[String, Seq[String]] = {
    // reads the class files in parallel first, since that is most of the work
    Arrays.stream(lines).parallel().forEach { words =>
      words(0) match {
        case "c" => classes.get(words(3))
        case "e" => classes.get(words(2))
        case _   =>
      }
    }
    lines.tail.foreach(look)
    reflective.filterNot(_.holds(classes)).foreach { link =>
      link.features.foreach(f => lacks(1 << features.indexOf(f.name), link.text))
    }
    features.zip(missing).filter(_._2.nonEmpty).toMap
  }

  private def look(words: Array[String]): Unit = {
    val bits = Integer.parseInt(words(1), 16)
    words(0) match {
      case "c" => lookForClass(bits, words(2), words(3))
      case "m" => lookForMember(bits, words(2), words(3), words(4), isField = false)
      case "f" => lookForMember(bits, words(2), words(3), words(4), isField = true)
      case "e" => lookForAbstract(bits, words(2))
    }
  }

  /**
   * Looks for a class, whose members the next lines name.
   *
   * @param how i or c: an interface or a class; n: Sash makes instances of it; x: Sash extends it
   */
  private def lookForClass(bits: Int, how: String, name: String): Unit = {
    owner = name
    members = null
    val found = classes.get(name)
    val isAsEver = found.exists { c =>
      c.isInterface == how.contains('i') &&
      !(how.contains('n') && c.isAbstract) &&
      !(how.contains('x') && Modifier.isFinal(c.access))
    }
    if (isAsEver) members = classes.lineage(name)
    else if (found.isEmpty) lacks(bits, LinkText.of(name))
    else lacks(bits, s"${LinkText.of(name)} as Sash was compiled with it")
  }

  /**
   * Looks for a member of the last class.
   *
   * @param flags s or v: static or not; p: it was protected when Sash was compiled
   */
  private def lookForMember(
      bits: Int,
      flags: String,
      name: String,
      descriptor: String,
      isField: Boolean
  ): Unit = if (members != null) {
    val access = accessOf(name + descriptor, isField, isOwn = name == "<init>")
    val isThere = access >= 0 && Modifier.isStatic(access) == (flags.charAt(0) == 's') &&
      (Modifier.isPublic(access) || (flags.length > 1 && Modifier.isProtected(access)))
    if (!isThere) lacks(bits, LinkText.of(owner, name, descriptor))
  }

  private def accessOf(key: String, isField: Boolean, isOwn: Boolean): Int = {
    var found = -1
    var i = 0
    while (found < 0 && i < (if (isOwn) 1 else members.length)) {
      found = if (isField) members(i).field(key) else members(i).method(key)
      i += 1
    }
    found
  }

  /**
   * Checks that a class of Sash's implements every abstract method that it inherits from Spark.
   */
  private def lookForAbstract(bits: Int, ours: String): Unit = {
    val types = classes.lineage(ours)
    types.foreach { t =>
      if (LinkCheck.isSparks(t.name))
        t.abstractMethods.foreach { key =>
          if (!types.exists(LinkCheck.implements(_, key))) {
            val at = key.indexOf('(')
            val method = LinkText.of(t.name, key.substring(0, at), key.substring(at))
            miss(bits, s"this Spark asks for $method, which Sash does not have")
          }
        }
    }
  }

  private def lacks(bits: Int, what: String): Unit = miss(bits, s"this Spark lacks $what")

  private def miss(bits: Int, why: String): Unit = missing.indices.foreach { i =>
    if ((bits >> i & 1) == 1) missing(i) :+= why
  }
}

private object LinkCheck {
  private def isSparks(name: String): Boolean =
    name.startsWith("org/apache/spark/") && !name.contains("/sash/")

  private def implements(t: ClassFacts, key: String): Boolean = {
    val access = t.method(key)
    access >= 0 && !Modifier.isAbstract(access) && !Modifier.isStatic(access)
  }
}
