package io.sash.spark.features.status

import java.nio.charset.StandardCharsets.ISO_8859_1
import java.util.HashMap

/**
 * Reads a class from its file, without loading it or any class that it names. Reads only the
 * tables of the file, in one pass, and no code.
 */
private[status] final class ClassFile(file: Array[Byte]) extends ClassFacts {
  private[this] val bytes = file
  private[this] var at = 8 // after magic number and version
  // the offset of each constant
  private[this] val constants = new Array[Int](u2())
  readConstants()

  override val access: Int = u2()
  override val name: String = className(u2())
  override val superName: String = className(u2())
  override val interfaces: Array[String] = Array.fill(u2())(className(u2()))
  override protected val fields: HashMap[String, Integer] = members()
  override protected val methods: HashMap[String, Integer] = members()

  private def readConstants(): Unit = {
    var i = 1
    while (i < constants.length) {
      constants(i) = at
      val tag = bytes(at)
      at += 1
      tag match {
        case 1 =>
          val length = u2()
          at += length
        case 7 | 8 | 16 | 19 | 20               => at += 2
        case 15                                 => at += 3
        case 3 | 4 | 9 | 10 | 11 | 12 | 17 | 18 => at += 4
        case 5 | 6 =>
          at += 8
          i += 1 // a constant of two places
        case _ => throw new IllegalArgumentException(s"unknown constant $tag in a class file")
      }
      i += 1
    }
  }

  private def members(): HashMap[String, Integer] = {
    var count = u2()
    val result = new HashMap[String, Integer](count * 2)
    while (count > 0) {
      val flags = u2()
      result.put(text(u2()).concat(text(u2())), flags)
      skipAttributes()
      count -= 1
    }
    result
  }

  private def skipAttributes(): Unit = {
    var count = u2()
    while (count > 0) {
      at += 2
      val length = (u2() << 16) | u2()
      at += length
      count -= 1
    }
  }

  private def className(constant: Int): String =
    if (constant == 0) null else text(u2At(constants(constant) + 1))

  /** Decodes text as Latin-1: all names that Sash asks for are ASCII. */
  private def text(constant: Int): String = {
    val begin = constants(constant)
    new String(bytes, begin + 3, u2At(begin + 1), ISO_8859_1)
  }

  private def u2(): Int = {
    val value = u2At(at)
    at += 2
    value
  }

  private def u2At(place: Int): Int =
    ((bytes(place) & 0xff) << 8) | (bytes(place + 1) & 0xff)
}
