package io.sash.spark.features.status

import java.io.{ByteArrayInputStream, File, InputStream}
import java.nio.file.Files

import org.objectweb.asm.{ClassReader, ClassVisitor, ClassWriter, MethodVisitor, Opcodes}

/** A change to one class of Spark, as a fork or a later version may make it. */
sealed abstract class OtherSpark(val name: String) {

  /** The class as it is there, none if it is not. */
  def bytes: Option[Array[Byte]]

  protected def internal: String = name.replace('.', '/')

  protected def changed(visitor: ClassVisitor => ClassVisitor): Some[Array[Byte]] = {
    val reader = new ClassReader(OtherSpark.original(internal))
    val writer = new ClassWriter(0)
    reader.accept(visitor(writer), 0)
    Some(writer.toByteArray)
  }

  /** A folder of a class path that has nothing but the changed class. */
  def directory(parent: File): File = {
    val file = new File(parent, s"$internal.class")
    file.getParentFile.mkdirs()
    Files.write(file.toPath, bytes.get)
    parent
  }
}

/** The class is not there. */
final case class Absent(of: String) extends OtherSpark(of) {
  override def bytes: Option[Array[Byte]] = None
}

/** A method, or `<init>`, takes one more argument. */
final case class Longer(of: String, method: String) extends OtherSpark(of) {
  override def bytes: Option[Array[Byte]] = changed { writer =>
    new ClassVisitor(Opcodes.ASM9, writer) {
      override def visitMethod(
          access: Int,
          name: String,
          descriptor: String,
          signature: String,
          exceptions: Array[String]
      ): MethodVisitor = {
        val isIt = name == method
        // no code reads the argument, but it has a place
        val other = if (isIt) descriptor.replace(")", "Z)") else descriptor
        val next = super.visitMethod(access, name, other, null, exceptions)
        if (isIt) new MethodVisitor(Opcodes.ASM9, next) {
          override def visitMaxs(stack: Int, locals: Int): Unit =
            super.visitMaxs(stack, locals + 1)
        }
        else next
      }
    }
  }
}

/** A trait or an abstract class asks for one more method. */
final case class Asks(of: String, method: String) extends OtherSpark(of) {
  override def bytes: Option[Array[Byte]] = changed { writer =>
    new ClassVisitor(Opcodes.ASM9, writer) {
      override def visitEnd(): Unit = {
        visitMethod(Opcodes.ACC_PUBLIC | Opcodes.ACC_ABSTRACT, method, "()I", null, null)
        super.visitEnd()
      }
    }
  }
}

object OtherSpark {
  private def original(internal: String): Array[Byte] = {
    val in = getClass.getClassLoader.getResourceAsStream(internal + ".class")
    try in.readAllBytes()
    finally in.close()
  }

  /** Serves the Spark of the tests, but for one class. */
  def loader(change: OtherSpark): ClassLoader =
    new ClassLoader(getClass.getClassLoader) {
      private val file = change.name.replace('.', '/') + ".class"

      override def getResourceAsStream(name: String): InputStream =
        if (name != file) super.getResourceAsStream(name)
        else change.bytes.map(new ByteArrayInputStream(_)).orNull

      override def loadClass(name: String, resolve: Boolean): Class[_] =
        if (name == change.name && change.bytes.isEmpty) throw new ClassNotFoundException(name)
        else super.loadClass(name, resolve)
    }
}
