package io.sash.spark.features.status

import java.lang.invoke.MethodType
import java.util.HashMap

/** A class read by reflection, because its loader shows no file of it. It is not initialized. */
private[status] final class LoadedClass(c: Class[_]) extends ClassFacts {
  override def access: Int = c.getModifiers

  override def name: String = internal(c)

  override def superName: String = Option(c.getSuperclass).fold[String](null)(internal)

  override def interfaces: Array[String] = c.getInterfaces.map(internal)

  override protected lazy val fields: HashMap[String, Integer] = {
    val all = new HashMap[String, Integer]
    c.getDeclaredFields.foreach(f =>
      all.put(f.getName + f.getType.descriptorString, f.getModifiers)
    )
    all
  }

  override protected lazy val methods: HashMap[String, Integer] = {
    val all = new HashMap[String, Integer]
    c.getDeclaredMethods.foreach { m =>
      all.put(m.getName + descriptor(m.getReturnType, m.getParameterTypes), m.getModifiers)
    }
    c.getDeclaredConstructors.foreach { m =>
      all.put("<init>" + descriptor(java.lang.Void.TYPE, m.getParameterTypes), m.getModifiers)
    }
    all
  }

  private def internal(of: Class[_]): String = of.getName.replace('.', '/')

  private def descriptor(result: Class[_], parameters: Array[Class[_]]): String =
    MethodType.methodType(result, parameters).descriptorString
}
