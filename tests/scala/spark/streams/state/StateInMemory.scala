package io.sash.spark.streams.state

import java.lang.reflect.{InvocationHandler, Method, Proxy}
import java.nio.ByteBuffer
import java.util.UUID

import scala.collection.mutable

import org.apache.spark.sql.streaming.{MapState, QueryInfo, StatefulProcessorHandle}

/** The variables of a bucket's state in maps, which count their calls and bytes. */
final class StateInMemory {
  private val variables = mutable.LinkedHashMap.empty[String, InMemory]

  /** The calls so far, and the bytes that were read and written. */
  var calls = 0L
  var bytes = 0L

  private def proxy[T](of: Class[T])(answer: (String, Array[AnyRef]) => AnyRef): T = {
    val handler = new InvocationHandler {
      override def invoke(self: AnyRef, method: Method, args: Array[AnyRef]): AnyRef =
        answer(method.getName, args)
    }
    Proxy.newProxyInstance(of.getClassLoader, Array(of), handler).asInstanceOf[T]
  }

  val handle: StatefulProcessorHandle = proxy(classOf[StatefulProcessorHandle]) {
    case ("getMapState", args) =>
      variables.getOrElseUpdate(args(0).asInstanceOf[String], new InMemory)
    case ("getQueryInfo", _) => proxy(classOf[QueryInfo])((_, _) => new UUID(0L, 0L))
    case (other, _)          => throw new UnsupportedOperationException(other)
  }

  /** All that the state has, by variable and key. */
  def entries: Map[(String, ByteBuffer), ByteBuffer] = {
    val all = variables.toSeq.flatMap { case (name, of) =>
      of.held.map { case (key, value) => (name, key) -> ByteBuffer.wrap(value) }
    }
    all.toMap
  }

  /** The kinds of entries of the variable `rest`. */
  def kinds: Set[Char] =
    entries.keySet.collect { case ("rest", key) => key.get(0).toChar }

  private final class InMemory extends MapState[Array[Byte], Array[Byte]] {
    val held = mutable.HashMap.empty[ByteBuffer, Array[Byte]]

    private def count(key: Array[Byte], value: Array[Byte]): Array[Byte] = {
      calls += 1
      bytes += key.length + (if (value == null) 0 else value.length)
      value
    }

    override def exists(): Boolean = held.nonEmpty

    override def getValue(key: Array[Byte]): Array[Byte] =
      count(key, held.getOrElse(ByteBuffer.wrap(key), null))

    override def containsKey(key: Array[Byte]): Boolean = held.contains(ByteBuffer.wrap(key))

    override def updateValue(key: Array[Byte], value: Array[Byte]): Unit =
      held(ByteBuffer.wrap(key)) = count(key, value)

    override def iterator(): Iterator[(Array[Byte], Array[Byte])] =
      held.iterator.map { case (key, value) => key.array -> count(key.array, value) }

    override def keys(): Iterator[Array[Byte]] = iterator().map(_._1)

    override def values(): Iterator[Array[Byte]] = iterator().map(_._2)

    override def removeKey(key: Array[Byte]): Unit = {
      count(key, null)
      held.remove(ByteBuffer.wrap(key))
    }

    override def clear(): Unit = held.clear()
  }
}
