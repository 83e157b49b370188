package io.sash.papers.algebra

import java.io.{
  ByteArrayInputStream,
  ByteArrayOutputStream,
  ObjectInputStream,
  ObjectOutputStream,
  ObjectStreamClass
}
import java.math.{BigDecimal => JBigDecimal, BigInteger}
import java.nio.ByteBuffer

import io.sash.core.slots.Bytes

/**
 * Partials that are objects, as bytes: a byte for the class, then the content. Numbers, strings,
 * options and pairs are some bytes. Any other class has to be serializable; its partials take
 * some hundred bytes and microseconds each.
 */
private object ObjectCodec {
  def write(partial: Any, out: Bytes): Unit = partial match {
    case n: Int =>
      out.putByte('I')
      out.putInt(n)
    case n: Long =>
      out.putByte('L')
      out.putLong(n)
    case x: Double =>
      out.putByte('D')
      out.putDouble(x)
    case text: String =>
      val chars = ByteBuffer.allocate(text.length * 2) // UTF-8 has no half of a surrogate pair
      chars.asCharBuffer.put(text)
      out.putByte('S')
      out.putBytes(chars.array)
    case decimal: JBigDecimal =>
      out.putByte('B')
      out.putInt(decimal.scale)
      out.putBytes(decimal.unscaledValue.toByteArray)
    case None => out.putByte('N')
    case Some(value) =>
      out.putByte('O')
      write(value, out)
    case (first, second) =>
      out.putByte('P')
      write(first, out)
      write(second, out)
    case other =>
      val bytes = new ByteArrayOutputStream
      val objects = new ObjectOutputStream(bytes)
      objects.writeObject(other)
      objects.close()
      out.putByte('J')
      out.putBytes(bytes.toByteArray)
  }

  def read(in: ByteBuffer): AnyRef = in.get().toChar match {
    case 'I' => Int.box(in.getInt())
    case 'L' => Long.box(in.getLong())
    case 'D' => Double.box(in.getDouble())
    case 'S' => ByteBuffer.wrap(Bytes.bytes(in)).asCharBuffer.toString
    case 'B' =>
      val scale = in.getInt()
      new JBigDecimal(new BigInteger(Bytes.bytes(in)), scale)
    case 'N' => None
    case 'O' => Some(read(in))
    case 'P' => (read(in), read(in))
    case 'J' => new Objects(Bytes.bytes(in)).readObject()
    case c   => throw new IllegalArgumentException(s"byte ${c.toInt} begins no partial")
  }

  /** Finds classes that the program has loaded beside the library, too. */
  private final class Objects(bytes: Array[Byte])
      extends ObjectInputStream(new ByteArrayInputStream(bytes)) {
    override protected def resolveClass(description: ObjectStreamClass): Class[_] =
      try super.resolveClass(description)
      catch {
        case _: ClassNotFoundException =>
          Class.forName(description.getName, false, Thread.currentThread.getContextClassLoader)
      }
  }
}
