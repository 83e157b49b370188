package io.sash.spark.streams.read

import java.nio.ByteBuffer
import java.util.Arrays

import org.apache.spark.SparkEnv

/**
 * A value as its bytes, which tell it apart. A task that has kept all that it has made of an
 * equal value need not read it.
 */
private[read] final class Sealed[A <: AnyRef] private (private val bytes: Array[Byte])
    extends Serializable {

  def open(): A = SparkEnv.get.closureSerializer
    .newInstance()
    .deserialize[AnyRef](ByteBuffer.wrap(bytes), Thread.currentThread.getContextClassLoader)
    .asInstanceOf[A]

  override def equals(other: Any): Boolean = other match {
    case s: Sealed[_] => Arrays.equals(bytes, s.bytes)
    case _            => false
  }

  override def hashCode: Int = Arrays.hashCode(bytes)
}

private[read] object Sealed {
  def apply[A <: AnyRef](value: A): Sealed[A] = {
    val buffer = SparkEnv.get.closureSerializer.newInstance().serialize[AnyRef](value)
    val bytes = new Array[Byte](buffer.remaining)
    buffer.get(bytes)
    new Sealed[A](bytes)
  }
}
