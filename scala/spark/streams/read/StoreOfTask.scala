package io.sash.spark.streams.read

import java.lang.reflect.{InvocationHandler, InvocationTargetException, Method, Proxy}

import org.apache.spark.TaskContext
import org.apache.spark.sql.execution.streaming.state.StateStore

import io.sash.spark.base.StreamVersions

/**
 * The store that the present task reads. Spark gives each task a store of its own, and variables
 * of the state keep theirs. With this one they outlive the task. It is made by reflection, since
 * each version of Spark has other methods of a store.
 */
private[read] final class StoreOfTask extends InvocationHandler {
  private[this] var current: StateStore = _

  val store: StateStore = Proxy
    .newProxyInstance(classOf[StateStore].getClassLoader, Array(classOf[StateStore]), this)
    .asInstanceOf[StateStore]

  /** Reads from a store until the task ends. */
  def begin(of: StateStore): Unit = {
    current = of
    TaskContext.get().addTaskCompletionListener[Unit](_ => StreamVersions.release(of))
  }

  override def invoke(proxy: Any, method: Method, arguments: Array[AnyRef]): AnyRef =
    try {
      if (arguments == null) method.invoke(current) else method.invoke(current, arguments: _*)
    } catch { case e: InvocationTargetException => throw e.getCause }
}
