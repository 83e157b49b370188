package io.sash.spark.features.status

import java.util.LinkedHashSet
import java.util.concurrent.ConcurrentHashMap

/** Finds classes with a class loader, by internal name, and reads each once. Thread-safe. */
private[spark] final class Classes(loader: ClassLoader) {
  private val read = new ConcurrentHashMap[String, Option[ClassFacts]]
  private val lineages = new ConcurrentHashMap[String, Array[ClassFacts]]

  def get(name: String): Option[ClassFacts] = {
    val known = read.get(name)
    if (known != null) known
    else {
      val found = find(name)
      read.put(name, found)
      found
    }
  }

  /** The class itself, its superclasses, and then all their interfaces, each once. */
  def lineage(name: String): Array[ClassFacts] = {
    val known = lineages.get(name)
    if (known != null) known
    else {
      val made = get(name).fold(Array.empty[ClassFacts])(lineageOf)
      lineages.put(name, made)
      made
    }
  }

  private def lineageOf(c: ClassFacts): Array[ClassFacts] = {
    val all = new LinkedHashSet[ClassFacts]
    all.add(c)
    if (c.superName != null) lineage(c.superName).foreach(all.add)
    c.interfaces.foreach(i => lineage(i).foreach(all.add))
    all.toArray(Array.empty[ClassFacts])
  }

  private def find(name: String): Option[ClassFacts] = {
    val in = loader.getResourceAsStream(name + ".class")
    if (in == null) loaded(name)
    else
      try Some(new ClassFile(in.readAllBytes()))
      catch { case _: RuntimeException => loaded(name) } // an unknown format
      finally in.close()
  }

  private def loaded(name: String): Option[ClassFacts] =
    try Some(new LoadedClass(Class.forName(name.replace('/', '.'), false, loader)))
    catch { case _: ClassNotFoundException | _: LinkageError => None }
}
